/* steps.h - training steps, recognised in what a program prints.
 *
 *	struct steps *s = steps_new(step_regex, err);		// NULL: the built-in patterns
 *	steps_feed(s, bytes, n, arrival_s, sink, arg);		// as they come, in pieces of any size
 *	steps_end(s, sink, arg);				// a last line without its newline
 *	steps_free(s);
 *
 * The patterns are those of the common frameworks (patterns.c), tried in a fixed order; the first that
 * matches a line has it. Three hits of one lock it, and the others are tried no more. The last resorts
 * ("step 7", a progress bar of no framework) give way to three hits of a framework's own.
 *
 * Lines end at newline and carriage return. Backspaces and terminal sequences are dropped, as is the
 * prefix of a rank ("[rank0]:", "[1,0]<stdout>:"); of several ranks the first that prints a step is
 * listened to. A line counts up to STEPS_LINE_MAX bytes. NUL bytes and what is no UTF-8 do no harm.
 *
 * A step's time comes from what the line says of that one step, else from the counter and the times of
 * arrival, else (no arrivals: a file) from an average that the line says. Not measured is the step
 * after an evaluation or a checkpoint that is announced by a line, and what lies between two epochs.
 * Warm-up and stalls are left to step_stats.h. Where only a last resort is there ("step 7"), lines below what
 * the counter has reached are taken for an evaluation's, unless it falls from the same count twice in a row.
 *
 * Progress bars count once they have been alive for STEPS_BAR_LIFE_S, or at once where their total is the
 * one that is expected; never with descriptions such as "Map" or "Validating".
 *
 * No clock, no I/O. Constant memory. The same bytes with the same arrivals give the same events, in
 * whatever pieces they come. Where arrivals are given, the work on regular expressions is limited to
 * STEPS_REGEX_BYTES_PER_S bytes of line (a burst of a second's is free): of more candidates than that some
 * are passed over, and counted. So they are where the caller lends a clock, and expressions take more than
 * STEPS_REGEX_CPU_SHARE of the time between arrivals (a burst of STEPS_REGEX_CPU_BURST_S is free): an
 * expression of a user's may take a thousand times as long for a byte as another. */
#ifndef POLLUX_STEPS_H
#define POLLUX_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"

#define STEPS_LINE_MAX 2048
#define STEPS_BAR_LIFE_S 20.0
#define STEPS_REGEX_BYTES_PER_S 5e5
#define STEPS_REGEX_CPU_SHARE 0.005
#define STEPS_REGEX_CPU_BURST_S 0.1

enum step_unit {
	STEP_UPDATES,		/* optimizer updates, or what cannot be told from them */
	STEP_BATCHES,		/* of an epoch: an update where nothing is accumulated */
	STEP_SAMPLES,
};

enum step_basis {
	STEP_UNTIMED,		/* a position only */
	STEP_PRINTED,		/* of single steps, as printed */
	STEP_BY_ARRIVAL,	/* the counter and the times of arrival */
	STEP_PRINTED_MEAN,	/* an average, as printed */
};

/* Where the program is, and perhaps how long some steps took. */
struct step_event {
	enum step_unit unit;
	enum step_basis basis;
	bool begins;		/* the pattern was just recognised: earlier events are of another, and void */
	double arrival_s;	/* as passed in; NaN */
	double position;	/* units done, as printed; whole epochs counted in */
	double total;		/* units to the end of the training; NaN: not printed */
	double n, unit_s;	/* n units took unit_s each; NaN where untimed */
};

typedef void steps_sink(const struct step_event *event, void *arg);

struct steps;

/* step_regex: a regular expression (pcre2pattern(3)) whose group 1 is the step, and group 2, if
 * there is one and it takes part, the milliseconds of that step; the expression is then the only
 * pattern. NULL with EX_USAGE where the text is no expression, or has no group. */
struct steps *steps_new(const char *step_regex, struct err *err);
void steps_free(struct steps *s);
void steps_clear(struct steps *s);	/* as new, but for its patterns: they are dear to compile */

/* The total of the training, where it is known from elsewhere: see bars above. */
void steps_expect_total(struct steps *s, double total);

/* How long a bar has to live instead of STEPS_BAR_LIFE_S; until steps_clear. */
void steps_set_bar_life(struct steps *s, double seconds);

/* Processor seconds of the calling thread, from any beginning; NULL: expressions are not timed. */
void steps_set_cpu_clock(struct steps *s, double (*cpu_s)(void));

/* arrival_s: of the last of these bytes, on a clock that does not go back; NaN: not known. */
void steps_feed(struct steps *s, const char *bytes, size_t n, double arrival_s, steps_sink *sink,
		void *arg);
void steps_end(struct steps *s, steps_sink *sink, void *arg);

struct steps_summary {
	const char *pattern;	/* the name of the one that is locked; NULL: none yet */
	const char *form;	/* what it looks like, for people; NULL likewise */
	double first_arrival_s;	/* of the first hit of that, or the first line of the bar; NaN */
	int64_t n_lines;	/* all that were not empty */
	int64_t n_matched;	/* of the pattern that is locked, since its first hit */
	int64_t n_clipped;	/* longer than STEPS_LINE_MAX */
	int64_t n_skipped;	/* not tried, see above, or given up at a limit of line_regex.h */
	const char *almost;	/* where none is locked: the first that had a hit; NULL: none had one */
	double final_unit_s;	/* mean of all steps, said at the end of the training (hf_final); NaN */
};

void steps_summary(const struct steps *s, struct steps_summary *summary);

/* All patterns, in their order: NULL after the last. form may be NULL. */
const char *steps_pattern_name(int i, const char **form);

#endif
