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
};

struct steps {
	struct patterns patterns;
	struct log_lines lines;
	struct bars bars;
	struct track track;
	struct record records[PATTERNS_MAX];
	int locked, almost;		/* indices; -1: none */
	uint32_t active;		/* bits of the patterns that are tried */
	double final_unit_s;
	/* Hugging Face's trainer, whose bars count updates however often they begin */
	bool is_trainer;
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

void steps_clear(struct steps *s)
{
	log_lines_init(&s->lines);
	bars_init(&s->bars);
	track_init(&s->track, 0, 0);
	memset(s->records, 0, sizeof(s->records));
	s->locked = s->almost = -1;
	s->active = ~(uint32_t)0;
	s->final_unit_s = s->refilled_s = (double)NAN;
	s->bytes_left = STEPS_REGEX_BYTES_PER_S;
	s->cpu_left_s = STEPS_REGEX_CPU_BURST_S;
	s->rank_length = 0;
	s->is_trainer = false;
	s->n_skipped = 0;
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

void steps_set_cpu_clock(struct steps *s, double (*cpu_s)(void))
{
	s->cpu_s = cpu_s;
}

void steps_set_bar_life(struct steps *s, double seconds)
{
	s->bars.enough_s = seconds;
}

/* --- locking --- */

static bool is_last_resort(const struct pattern *p)
{
	return p && (p->kind == KIND_UNKNOWN || p->kind == KIND_BAR);
}

static const struct pattern *locked_pattern(const struct steps *s)
{
	return s->locked < 0 ? NULL : s->patterns.items[s->locked];
}

/* True if the pattern is tried after another was locked. Always: the locked one, and patterns of
 * pauses. A locked last resort may be replaced by a framework's pattern, or by a bar. */
static bool is_tried(const struct steps *s, int i)
{
	const struct pattern *p = s->patterns.items[i], *locked = locked_pattern(s);

	if (i == s->locked || p->kind == KIND_IGNORE || p->kind == KIND_FINAL)
		return true;
	if (!is_last_resort(locked))
		return false;
	return p->kind == KIND_BAR || !is_last_resort(p);
}

static void lock(struct steps *s, int i)
{
	s->locked = i;
	s->active = 0;
	for (int k = 0; k < s->patterns.n; k++)
		if (is_tried(s, k))
			s->active |= (uint32_t)1 << k;
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

static int hits_needed(const struct steps *s, const struct pattern *p)
{
	return p == &s->patterns.own || p->kind == KIND_BAR ? 1 : LOCK_HITS;
}

/* --- what was seen --- */

static void follow(struct steps *s, const struct sighting *seen, bool begins)
{
	struct step_event event;

	s->track.bars_are_of_updates = s->is_trainer;
	if (!track_add(&s->track, seen, &event))
		return;
	event.begins = begins;
	s->sink(&event, s->arg);
}

/* epochs: whole epochs before this line that were not followed. restarts: the track begins anew. */
static void see_counter(struct steps *s, int i, const struct sighting *seen, double epochs,
			bool restarts)
{
	struct record *r = &s->records[i];
	bool begins = restarts;

	count_hit(r, seen);
	if (seen->kind == KIND_BAR)
		r->first_arrival_s = bars_taken_since(&s->bars);
	if (i != s->locked) {
		if (r->hits < hits_needed(s, seen->pattern))
			return;
		lock(s, i);
		begins = true;
	}
	if (seen->kind == KIND_UNKNOWN)
		bars_see_other(&s->bars);
	if (begins)
		track_init(&s->track, epochs, seen->total);
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

static void see(struct steps *s, int i, const struct sighting *seen)
{
	if (seen->kind == KIND_IGNORE) {
		track_break(&s->track);
		return;
	}
	if (seen->kind == KIND_FINAL)
		s->final_unit_s = seen->time_s;
	s->is_trainer |= seen->kind == KIND_FINAL || seen->kind == KIND_LOSSES;
	if (s->almost < 0)
		s->almost = i;
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

static void try_patterns(struct steps *s, uint32_t todo, const struct log_line *line)
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
	uint32_t todo = patterns_candidates(&s->patterns, line->text, line->n) & s->active;
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
		.final_unit_s = s->final_unit_s,
	};
}
