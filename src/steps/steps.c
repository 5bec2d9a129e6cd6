/* steps.c - matches the lines of a log with the patterns, within limits of time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "steps_state.h"

#define TRY_MIN_BYTES 64	/* the least cost of a try, in bytes */

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
	track_init(&s->track, 0, 0);
	patterns_begin_run(&s->patterns);
	for (int i = 0; i < PATTERNS_MAX; i++)
		s->records[i] = (struct record){
			.step = (double)NAN, .epoch = (double)NAN, .leap = (double)NAN,
		};
	s->whole = s->whole_step = s->part = (double)NAN;
	s->whole_counts = s->parts_are_left = s->has_begun = false;
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
	log_lines_init(&s->lines);
	begin_run(s);
	s->former = -1;
	s->is_trainer = s->is_lightning = false;
}

/* What was learnt stays, also of the run before one without steps, and the line that is being
 * read. */
static void begin_next_run(struct steps *s)
{
	if (s->locked >= 0) {
		s->former = s->locked;
		s->former_track = s->track;
	}
	bars_begin_run(&s->bars);
	begin_run(s);
}

void steps_begin_run(struct steps *s)
{
	log_lines_init(&s->lines);
	begin_next_run(s);
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

/* --- lines --- */

/* Tries the patterns on a line without the prefix that names a rank. True: one has found a step. */
static bool try_patterns(struct steps *s, uint64_t todo, const char *text, size_t n,
			 double arrival_s)
{
	struct sighting seen;
	bool found = false, is_scanned = false;

	for (int i = 0; todo; i++, todo >>= 1) {
		if (!(todo & 1))
			continue;
		/* All scans of a line together cost about as much as one expression. */
		if (s->patterns.regex[i] || !is_scanned)
			s->bytes_left -= (double)(n > TRY_MIN_BYTES ? n : TRY_MIN_BYTES);
		is_scanned |= !s->patterns.regex[i];
		if (!patterns_match(&s->patterns, i, text, n, &seen))
			continue;
		seen.arrival_s = arrival_s;
		found |= !isnan(seen.step);
		steps_see(s, i, &seen);
		if (!s->patterns.items[i]->may_be_step)
			break;
	}
	return found;
}

/* True for the line that a supervisor writes before the output of a run. */
static bool is_head_of_run(const char *line, size_t n)
{
	static const char words[] = "# pollux job ";

	return n > sizeof(words) - 1 && !memcmp(line, words, sizeof(words) - 1) &&
	       memmem(line, n, " run ", 5);
}

static void take_line(const char *line, size_t n, double arrival_s, void *arg)
{
	struct steps *s = arg;
	size_t id, prefix = rank_prefix(line, n, &id);
	double begin_s, passed_s = arrival_s - s->refilled_s;
	int64_t given_up = line_matcher_given_up(s->patterns.matcher);
	uint64_t todo;

	/* The next run may begin anew: its counter is not the one before that fell. */
	if (is_head_of_run(line, n))
		begin_next_run(s);
	id = prefix ? id : 0;
	/* Lines of other ranks are dropped, or each step would count several times. */
	if (id && s->rank_length && (id != s->rank_length || memcmp(line, s->rank, id) != 0))
		return;
	if (passed_s > 0) {
		s->bytes_left = fmin(s->bytes_left + passed_s * STEPS_REGEX_BYTES_PER_S,
				     STEPS_REGEX_BYTES_PER_S);
		s->cpu_left_s = fmin(s->cpu_left_s + passed_s * STEPS_REGEX_CPU_SHARE,
				     STEPS_REGEX_CPU_BURST_S);
	}
	s->refilled_s = arrival_s;
	todo = patterns_candidates(&s->patterns, line + prefix, n - prefix) & s->active;
	if (!todo)
		return;
	/* The budgets may be overdrawn by a line. Otherwise a line that takes several tries would
	 * never get to its last pattern. */
	if (!isnan(arrival_s) && !(s->bytes_left > 0 && s->cpu_left_s > 0)) {
		s->n_skipped++;
		return;
	}
	begin_s = s->cpu_s ? s->cpu_s() : 0;
	if (try_patterns(s, todo, line + prefix, n - prefix, arrival_s) && id && !s->rank_length &&
	    id <= RANK_MAX) {
		memcpy(s->rank, line, id);
		s->rank_length = id;
	}
	s->n_skipped += line_matcher_given_up(s->patterns.matcher) > given_up;
	if (s->cpu_s)
		s->cpu_left_s -= fmax(s->cpu_s() - begin_s, 0);
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

double step_event_done(const struct step_event *e)
{
	return e->position + (e->counts_from_0 && !(e->unseen > 0) && !(e->position >= e->total));
}

void steps_summary(const struct steps *s, struct steps_summary *summary)
{
	const struct pattern *locked = steps_locked_pattern(s);
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
