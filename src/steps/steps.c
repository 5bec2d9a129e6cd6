/* steps.c - lines are matched, a pattern is locked, its counter is followed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "log_lines.h"
#include "patterns.h"
#include "pollux/mem.h"
#include "ranks.h"
#include "track.h"

#define LOCK_HITS 3
#define RANK_MAX 32
#define TRY_MIN_BYTES 64	/* the least cost of a try, in bytes */

/* The hits of a pattern before it is locked. */
struct record {
	int hits;			/* hits in a row that count */
	int64_t n;			/* all hits */
	double step, first_arrival_s;
	bool from_0;			/* an epoch 0 was seen */
};

/* The last line that told an epoch and no step. */
struct header {
	double epoch, epochs;		/* NaN: no such line yet */
	int first_epoch;
	bool are_bare;			/* sighting: epochs_are_bare */
	int64_t n;			/* the number of such lines */
};

struct steps {
	struct patterns patterns;
	struct log_lines lines;
	struct bars bars;
	struct track track;
	struct record records[PATTERNS_MAX];
	int locked, almost;		/* indices; -1: none */
	uint64_t active;		/* bits of the patterns that are tried */
	/* the job's run before this one: its locked pattern (-1: none), and its counter */
	int former;
	struct track former_track;
	struct header header;
	double final_unit_s;
	/* Hugging Face's trainer, whose bars count updates however often they begin */
	bool is_trainer;
	bool is_lightning;
	bool has_begun;			/* an event of the locked pattern was passed on */
	char rank[RANK_MAX];		/* the only rank that counts */
	size_t rank_length;		/* 0: no rank has printed a step yet */
	double bytes_left, cpu_left_s, refilled_s;	/* budgets of regular expressions */
	double (*cpu_s)(void);		/* NULL: expressions are not timed */
	int64_t n_skipped;
	steps_sink *sink;		/* of the present call */
	void *arg;
};

struct steps *steps_new(const char *step_regex, struct err *err)
{
	struct steps *s = xcalloc(1, sizeof(*s));

	if (patterns_init(&s->patterns, step_regex, err)) {
		free(s);
		return NULL;
	}
	steps_clear(s);
	return s;
}

/* What a run begins with, whatever is known of the job. */
static void begin_run(struct steps *s)
{
	log_lines_init(&s->lines);
	track_init(&s->track, 0, 0);
	memset(s->records, 0, sizeof(s->records));
	s->locked = s->almost = -1;
	s->active = ~(uint64_t)0;
	s->header = (struct header){ .epoch = (double)NAN, .epochs = (double)NAN };
	s->final_unit_s = s->refilled_s = (double)NAN;
	s->bytes_left = STEPS_REGEX_BYTES_PER_S;
	s->cpu_left_s = STEPS_REGEX_CPU_BURST_S;
	s->rank_length = 0;
	s->n_skipped = 0;
}

void steps_clear(struct steps *s)
{
	s->track = (struct track){ .expected_epochs = (double)NAN };
	bars_init(&s->bars);
	begin_run(s);
	s->former = -1;
	s->is_trainer = s->is_lightning = false;
}

void steps_begin_run(struct steps *s)
{
	s->former = s->locked;
	s->former_track = s->track;
	bars_begin_run(&s->bars);
	begin_run(s);
}

void steps_free(struct steps *s)
{
	if (s)
		patterns_release(&s->patterns);
	free(s);
}

void steps_expect_total(struct steps *s, double total)
{
	s->bars.expected_total = total;
}

void steps_expect_epochs(struct steps *s, double epochs)
{
	s->track.expected_epochs = epochs;
}

void steps_set_cpu_clock(struct steps *s, double (*cpu_s)(void))
{
	s->cpu_s = cpu_s;
}

void steps_set_bar_life(struct steps *s, double seconds)
{
	s->bars.enough_s = seconds;
}

/* --- locking --- */

/* A pattern gives way to those of a higher rank. */
static int rank_of(const struct pattern *p)
{
	switch (p ? (int)p->kind : -1) {
	case -1:
		return 0;
	case KIND_EPOCHS:
		return 1;
	case KIND_UNKNOWN:
		return 2;
	case KIND_BAR:
		return 3;
	default:
		return 4;
	}
}

static const struct pattern *locked_pattern(const struct steps *s)
{
	return s->locked < 0 ? NULL : s->patterns.items[s->locked];
}

/* True if the pattern may be locked instead of the locked one. */
static bool may_count(const struct steps *s, int i)
{
	const struct pattern *p = s->patterns.items[i], *locked = locked_pattern(s);

	return !locked || i == s->locked || rank_of(p) > rank_of(locked) ||
	       (p->kind == KIND_BAR && locked->kind == KIND_BAR);
}

static bool has_counter(const struct pattern *p)
{
	return p->kind != KIND_IGNORE && p->kind != KIND_FINAL && p->kind != KIND_TRIAL &&
	       p->kind != KIND_LOSSES && p->kind != KIND_LIGHTNING;
}

/* True if the pattern is tried after another was locked: those that may count, those of pauses and
 * trials, and those that tell the epoch or an evaluation. */
static bool is_tried(const struct steps *s, int i)
{
	const struct pattern *p = s->patterns.items[i];

	return may_count(s, i) || !has_counter(p) || p->scan;
}

static void lock(struct steps *s, int i)
{
	s->locked = i;
	s->active = 0;
	for (int k = 0; k < s->patterns.n; k++)
		if (is_tried(s, k))
			s->active |= (uint64_t)1 << k;
}

/* A hit counts if the counter moved; the counter of a last resort must go up. That of KIND_EPOCH
 * stands still, and every hit counts. */
static void count_hit(struct record *r, const struct sighting *seen)
{
	bool up = r->n == 0 || seen->step > r->step || seen->kind == KIND_EPOCH;
	bool moved = up || seen->step < r->step;

	if (r->n++ == 0)
		r->first_arrival_s = seen->arrival_s;
	if (up || (moved && seen->kind != KIND_UNKNOWN))
		r->hits++;
	else if (moved)
		r->hits = 1;
	r->step = seen->step;
}

static int hits_needed(const struct steps *s, int i)
{
	const struct pattern *p = s->patterns.items[i];

	if (p == &s->patterns.own || p->kind == KIND_BAR || i == s->former)
		return 1;
	return p->hits ? p->hits : LOCK_HITS;
}

/* --- what was seen --- */

static void follow(struct steps *s, const struct sighting *seen, bool begins)
{
	const struct bar *outer = seen->kind == KIND_BAR ? bars_outer(&s->bars) : NULL;
	struct step_event event;

	s->track.bars_are_of_updates = s->is_trainer;
	if (outer && !s->is_trainer)
		track_see_outer(&s->track, seen, outer->step, outer->total);
	if (!track_add(&s->track, seen, &event))
		return;
	event.begins = begins || !s->has_begun;
	s->has_begun = true;
	s->sink(&event, s->arg);
}

/* epochs: whole epochs before this line that were not followed. */
static void begin_track(struct steps *s, int i, const struct sighting *seen, double epochs)
{
	s->track.from_0 = s->is_lightning;
	track_init(&s->track, epochs, seen->total);
	if (i == s->former)
		track_continue(&s->track, &s->former_track);
	s->has_begun = false;
}

/* epochs: see begin_track. restarts: the track begins anew. */
static void see_counter(struct steps *s, int i, const struct sighting *seen, double epochs,
			bool restarts)
{
	struct record *r = &s->records[i];
	bool begins = restarts;

	if (!may_count(s, i))
		return;
	count_hit(r, seen);
	if (seen->kind == KIND_BAR)
		r->first_arrival_s = bars_taken_since(&s->bars);
	if (i != s->locked) {
		if (r->hits < hits_needed(s, i))
			return;
		lock(s, i);
		begins = true;
	}
	if (seen->kind == KIND_UNKNOWN)
		bars_see_other(&s->bars);
	if (begins)
		begin_track(s, i, seen, epochs);
	follow(s, seen, begins);
}

static void see_bar(struct steps *s, int i, const struct sighting *seen)
{
	bool pauses, changed;
	int repeated;

	if (bars_is_other(seen, &pauses)) {
		if (pauses)
			track_break(&s->track);
	} else if (bars_take(&s->bars, seen, &changed, &repeated)) {
		see_counter(s, i, seen, repeated, changed);
	} else {
		track_break(&s->track);		/* another bar, perhaps of an evaluation */
	}
}

/* Keeps the epoch of a line of its own, for the steps in the lines behind it. */
static void see_header(struct steps *s, const struct sighting *seen)
{
	s->header = (struct header){
		.epoch = seen->epoch + seen->epoch_is_over, .epochs = seen->epochs,
		.first_epoch = seen->first_epoch, .are_bare = seen->epochs_are_bare,
		.n = s->header.n + 1,
	};
}

static void add_header(const struct steps *s, struct sighting *seen)
{
	if (!isnan(seen->epoch) || isnan(s->header.epoch) || seen->is_global)
		return;
	seen->epoch = s->header.epoch;
	seen->epochs = s->header.epochs;
	seen->first_epoch = s->header.first_epoch;
	seen->epochs_are_bare = s->header.are_bare;
	seen->header = s->header.n;
	seen->from_header = true;
}

/* Takes a line without a counter. */
static void see_other(struct steps *s, const struct sighting *seen)
{
	s->is_trainer |= seen->kind == KIND_FINAL || seen->kind == KIND_LOSSES;
	if (seen->kind == KIND_LOSSES)
		bars_trust_last(&s->bars);
	s->is_lightning |= seen->kind == KIND_LIGHTNING;
	s->track.trial_ended |= seen->kind == KIND_TRIAL && !isnan(s->track.step);
	if (seen->kind == KIND_IGNORE)
		track_break(&s->track);
	if (seen->kind == KIND_FINAL)
		s->final_unit_s = seen->time_s;
}

static void see(struct steps *s, int i, struct sighting *seen)
{
	bool has_step = has_counter(seen->pattern) && seen->kind != KIND_IGNORE;

	if (s->almost < 0 && (has_step || seen->kind == KIND_FINAL || seen->kind == KIND_LOSSES))
		s->almost = i;
	if (!has_step) {
		see_other(s, seen);
		return;
	}
	s->records[i].from_0 |= seen->epoch <= 0;
	if (s->records[i].from_0 && seen->first_epoch == ONE_OR_ZERO)
		seen->first_epoch = 0;
	if (seen->kind == KIND_EPOCHS)
		see_header(s, seen);
	else
		add_header(s, seen);
	if (isnan(seen->step))
		return;
	if (seen->kind == KIND_BAR)
		see_bar(s, i, seen);
	else
		see_counter(s, i, seen, seen->kind == KIND_EPOCH ? s->records[i].hits : 0, false);
}

/* --- lines --- */

static void refill(struct steps *s, double arrival_s)
{
	double passed_s = arrival_s - s->refilled_s;

	if (passed_s > 0) {
		s->bytes_left = fmin(s->bytes_left + passed_s * STEPS_REGEX_BYTES_PER_S,
				     STEPS_REGEX_BYTES_PER_S);
		s->cpu_left_s = fmin(s->cpu_left_s + passed_s * STEPS_REGEX_CPU_SHARE,
				     STEPS_REGEX_CPU_BURST_S);
	}
	s->refilled_s = arrival_s;
}

/* The budgets may be overdrawn by a line. Otherwise a line that takes several tries would never get
 * to its last pattern. */
static bool may_try(struct steps *s, double arrival_s)
{
	if (isnan(arrival_s) || (s->bytes_left > 0 && s->cpu_left_s > 0))
		return true;
	s->n_skipped++;
	return false;
}

/* Lines of other ranks are dropped, or each step would count several times. */
static bool is_of_other_rank(const struct steps *s, const char *line, size_t id)
{
	return id && s->rank_length && (id != s->rank_length || memcmp(line, s->rank, id) != 0);
}

static void listen_to(struct steps *s, const char *line, size_t id)
{
	if (!id || s->rank_length || id > RANK_MAX)
		return;
	memcpy(s->rank, line, id);
	s->rank_length = id;
}

/* A line, whole and without the prefix that names a rank. */
struct log_line {
	const char *whole, *text;
	size_t n, id;		/* bytes of text; of the rank's name at the beginning of whole */
	double arrival_s;
};

static void try_patterns(struct steps *s, uint64_t todo, const struct log_line *line)
{
	struct sighting seen;

	for (int i = 0; todo; i++, todo >>= 1) {
		if (!(todo & 1))
			continue;
		s->bytes_left -= (double)(line->n > TRY_MIN_BYTES ? line->n : TRY_MIN_BYTES);
		if (!patterns_match(&s->patterns, i, line->text, line->n, &seen))
			continue;
		seen.arrival_s = line->arrival_s;
		if (!isnan(seen.step))
			listen_to(s, line->whole, line->id);
		see(s, i, &seen);
		if (!s->patterns.items[i]->may_be_step)
			return;
	}
}

static void try_line(struct steps *s, const struct log_line *line)
{
	uint64_t todo = patterns_candidates(&s->patterns, line->text, line->n) & s->active;
	int64_t given_up = line_matcher_given_up(s->patterns.matcher);
	double begin_s;

	if (!todo || !may_try(s, line->arrival_s))
		return;
	begin_s = s->cpu_s ? s->cpu_s() : 0;
	try_patterns(s, todo, line);
	s->n_skipped += line_matcher_given_up(s->patterns.matcher) > given_up;
	if (s->cpu_s)
		s->cpu_left_s -= fmax(s->cpu_s() - begin_s, 0);
}

static void take_line(const char *line, size_t n, double arrival_s, void *arg)
{
	struct steps *s = arg;
	size_t id, prefix = rank_prefix(line, n, &id);

	if (prefix && is_of_other_rank(s, line, id))
		return;
	refill(s, arrival_s);
	try_line(s, &(struct log_line){
		.whole = line, .text = line + prefix, .n = n - prefix, .id = prefix ? id : 0,
		.arrival_s = arrival_s,
	});
}

void steps_feed(struct steps *s, const char *bytes, size_t n, double arrival_s, steps_sink *sink,
		void *arg)
{
	s->sink = sink;
	s->arg = arg;
	log_lines_feed(&s->lines, bytes, n, arrival_s, take_line, s);
}

void steps_end(struct steps *s, steps_sink *sink, void *arg)
{
	s->sink = sink;
	s->arg = arg;
	log_lines_end(&s->lines, take_line, s);
}

void steps_summary(const struct steps *s, struct steps_summary *summary)
{
	const struct pattern *locked = locked_pattern(s);
	const struct record *r = s->locked < 0 ? NULL : &s->records[s->locked];

	*summary = (struct steps_summary){
		.pattern = locked ? locked->name : NULL, .form = locked ? locked->form : NULL,
		.first_arrival_s = r ? r->first_arrival_s : (double)NAN,
		.n_lines = s->lines.n_lines, .n_matched = r ? r->n : 0,
		.n_clipped = s->lines.n_clipped, .n_skipped = s->n_skipped,
		.almost = !locked && s->almost >= 0 ? s->patterns.items[s->almost]->name : NULL,
		.final_unit_s = s->final_unit_s, .is_lightning = s->is_lightning,
	};
}
