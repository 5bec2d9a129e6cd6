/* fuzz_steps.c - what a program prints can be anything: the events of its steps are sound, and the
 * same in whatever pieces it comes; a line that a pattern has is never passed over for its needles.
 *
 * The first byte: in 1 of 4 the first line is a regular expression of the user's; how far arrivals
 * are apart. The second: the size of pieces. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/steps.h"
#include "steps/patterns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLOCK 97		/* bytes of one arrival */
#define EVENTS_MAX 4096
#define REGEX_MAX 40

struct seen {
	int n;
	struct step_event events[EVENTS_MAX];
};

static void check_event(const struct step_event *e)
{
	assert(e->position >= 0 && isfinite(e->position));
	assert(isnan(e->total) || (e->total > 0 && isfinite(e->total)));
	assert(e->unit < N_STEP_UNITS && e->basis <= STEP_PRINTED_MEAN);
	if (e->basis == STEP_UNTIMED)
		assert(isnan(e->n) && isnan(e->unit_s));
	else
		assert(e->n > 0 && isfinite(e->n) && e->unit_s > 0 && isfinite(e->unit_s));
}

static void take(const struct step_event *e, void *arg)
{
	struct seen *seen = arg;

	check_event(e);
	assert(e->begins || seen->n > 0);
	if (seen->n < EVENTS_MAX)
		seen->events[seen->n++] = *e;
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static void check_same(const struct seen *a, const struct seen *b)
{
	assert(a->n == b->n);
	for (int i = 0; i < a->n; i++) {
		const struct step_event *x = &a->events[i], *y = &b->events[i];

		assert(x->unit == y->unit && x->basis == y->basis && x->begins == y->begins);
		assert(same(x->arrival_s, y->arrival_s) && same(x->position, y->position));
		assert(same(x->total, y->total) && same(x->n, y->n) && same(x->unit_s, y->unit_s));
	}
}

struct log {
	const char *bytes;
	size_t size;
	char regex[REGEX_MAX];		/* "": none */
	double pause_s;			/* between arrivals; NaN: none are known */
};

/* Each block of one arrival in pieces of so many bytes. */
static void feed(struct steps *s, const struct log *log, size_t piece, struct seen *seen)
{
	struct steps_summary summary;

	seen->n = 0;
	steps_clear(s);
	for (size_t at = 0, end; at < log->size; at = end) {
		size_t block = at / BLOCK, block_end = (block + 1) * BLOCK;
		double arrival_s = log->pause_s * (double)block;

		end = at + piece < block_end ? at + piece : block_end;
		end = end < log->size ? end : log->size;
		steps_feed(s, log->bytes + at, end - at, arrival_s, take, seen);
	}
	steps_end(s, take, seen);
	steps_summary(s, &summary);
	assert(seen->n == 0 || summary.pattern);
	assert(summary.n_matched <= summary.n_lines);
}

static void check_pieces(struct steps *s, const struct log *log, size_t piece)
{
	static struct seen whole, pieces;

	feed(s, log, BLOCK, &whole);
	feed(s, log, piece, &pieces);
	check_same(&whole, &pieces);
}

static void check_line(struct patterns *p, const char *line, size_t n)
{
	uint64_t candidates = patterns_candidates(p, line, n);
	struct sighting seen;

	for (int i = 0; i < p->n; i++) {
		if (!patterns_match(p, i, line, n, &seen))
			continue;
		assert(candidates & (uint64_t)1 << i);
		assert(isnan(seen.step) || (seen.step >= 0 && isfinite(seen.step)));
	}
}

static void check_needles(struct patterns *p, const struct log *log)
{
	const char *line = log->bytes, *end = line + log->size;

	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((newline ? newline : end) - line);

		check_line(p, line, n < STEPS_LINE_MAX ? n : STEPS_LINE_MAX);
		line += n + 1;
	}
}

static void check_own(const struct log *log, size_t piece)
{
	struct patterns p;
	struct err err;
	struct steps *s = steps_new(log->regex, &err);

	if (!s || patterns_init(&p, log->regex, &err))
		return;
	check_pieces(s, log, piece);
	check_needles(&p, log);
	patterns_release(&p);
	steps_free(s);
}

static void check_built_in(const struct log *log, size_t piece)
{
	static struct patterns p;
	static struct steps *s;
	struct err err;

	if (!s) {
		s = steps_new(NULL, &err);
		assert(s && patterns_init(&p, NULL, &err) == 0);
	}
	check_pieces(s, log, piece);
	check_needles(&p, log);
}

static void take_regex(struct log *log)
{
	const char *newline = memchr(log->bytes, '\n', log->size);
	size_t n = newline ? (size_t)(newline - log->bytes) : log->size;

	if (n >= REGEX_MAX)
		return;
	memcpy(log->regex, log->bytes, n);
	log->regex[n] = '\0';
	log->bytes += newline ? n + 1 : n;
	log->size -= newline ? n + 1 : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const double pauses_s[] = { 0.3, (double)NAN, 2, 0 };
	size_t piece;
	char *copy;
	struct log log = { .size = size > 2 ? size - 2 : 0 };

	if (size < 2)
		return 0;
	piece = 1 + (size_t)data[1] % BLOCK;
	copy = malloc(log.size ? log.size : 1);		/* so that a byte too far is seen */
	if (!copy)
		return 0;
	memcpy(copy, data + 2, log.size);
	log.bytes = copy;
	log.pause_s = pauses_s[data[0] / 4 % 4];
	if (data[0] % 4 == 0)
		take_regex(&log);
	if (*log.regex)
		check_own(&log, piece);
	else
		check_built_in(&log, piece);
	free(copy);
	return 0;
}
