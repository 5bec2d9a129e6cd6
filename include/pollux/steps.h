/* steps.h - training steps, recognised in what a program prints.
 *
 *	struct steps *s = steps_new(step_regex, err);		// NULL: the built-in patterns
 *	steps_feed(s, bytes, n, arrival_s, sink, arg);		// as they come, in pieces of any
 *	size steps_end(s, sink, arg);				// a last line without its newline
 *	steps_free(s);
 *
 * The patterns are those of the common frameworks (pattern_table.c), tried in a fixed order; a line
 * belongs to the first that matches. Hits of one pattern, mostly three, lock it, and the others
 * count no more. The last resorts ("Epoch 3", "step 7", a progress bar of no framework) give way to
 * hits of a better pattern.
 *
 * Lines end at newline and carriage return. Backspaces and terminal sequences are dropped, and so
 * is the prefix of a rank ("[rank0]:", "[1,0]<stdout>:"). Only the first rank that prints a step
 * counts. A line counts up to STEPS_LINE_MAX bytes. NUL bytes and invalid UTF-8 do no harm.
 *
 * A step's time comes from the line, if the line times that one step; else from the counter and the
 * times of arrival; else (a file has no arrivals) from an average in the line. No time is given to
 * the step after an evaluation or a checkpoint that a line announces, nor to the time between two
 * epochs. Warm-up and stalls are left to step_stats.h. Where only the last resort "step 7" is
 * found, lines below the largest count so far are taken for an evaluation's, unless the counter
 * falls from the same count twice in a row.
 *
 * A progress bar counts after STEPS_BAR_LIFE_S, or at once if its total is the expected one or its
 * description has an epoch. A bar with a description such as "Map" or "Validating" never counts.
 *
 * Counters that begin again in each epoch are placed by the epoch, where lines tell it.
 *
 * No clock, no I/O, constant memory. The same bytes with the same arrivals give the same events, in
 * whatever pieces they come. Where arrivals are given, regular expressions get at most
 * STEPS_REGEX_BYTES_PER_S bytes of line, after a free burst of one second's worth. Where the caller
 * lends a clock, they get at most STEPS_REGEX_CPU_SHARE of the time between arrivals, after a free
 * burst of STEPS_REGEX_CPU_BURST_S: a user's expression may take a thousand times as long for a
 * byte as another. Lines beyond these limits are skipped and counted. */
#ifndef POLLUX_STEPS_H
#define POLLUX_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/text.h"

#define STEPS_LINE_MAX 2048
#define STEPS_BAR_LIFE_S 20.0
#define STEPS_REGEX_BYTES_PER_S 5e5
#define STEPS_REGEX_CPU_SHARE 0.005
#define STEPS_REGEX_CPU_BURST_S 0.1

enum step_unit {
	STEP_UPDATES,		/* optimizer updates, or an unknown unit */
	STEP_BATCHES,		/* of an epoch; each is an update where nothing is accumulated */
	STEP_SAMPLES,
	STEP_EPOCHS,		/* of a program that prints nothing else */
	STEP_TIMESTEPS,		/* of an environment: reinforcement learning */
	STEP_ITERATIONS,	/* of a program's own: trees, passes of a solver */
	STEP_PERCENT,		/* of a bar that tells nothing else */
	N_STEP_UNITS
};

enum step_basis {
	STEP_UNTIMED,		/* a position only */
	STEP_PRINTED,		/* the printed time of single steps */
	STEP_BY_ARRIVAL,	/* the counter and the times of arrival */
	STEP_PRINTED_MEAN,	/* a printed average */
};

/* The position of the program, and the time that some steps took, if known. */
struct step_event {
	enum step_unit unit;
	enum step_basis basis;
	bool begins;		/* the pattern was recognised just now; earlier events are void */
	double arrival_s;	/* as passed in; NaN */
	double position;	/* units done, as printed, plus whole epochs */
	double total;		/* units to the end of the training; NaN: not printed */
	bool is_by_epochs;	/* the position has all units of the epochs before */
	bool total_may_be_of_epoch;	/* it is not known to be the training's */
	/* the position is the number of the last unit, and that of the first was 0 */
	bool counts_from_0;
	/* units that may be done beyond the position, as not every one has a line; 0: none */
	double unseen;
	/* The part of the printed total, be it an epoch's or the training's, that may be done; NaN:
	 * the line has none. */
	double part;
	double n, unit_s;	/* n units took unit_s each; NaN where untimed */
};

/* The units that are done, at least. The line of a unit 0 tells that one is. */
double step_event_done(const struct step_event *e);

typedef void steps_sink(const struct step_event *event, void *arg);

struct steps;

/* step_regex: a regular expression (pcre2pattern(3)) whose group 1 is the step, and group 2, if
 * there is one and it takes part, the milliseconds of that step; the expression is then the only
 * pattern. NULL with EX_USAGE where the text is no expression, or has no group. */
struct steps *steps_new(const char *step_regex, struct err *err);
void steps_free(struct steps *s);
/* Forgets all input. Keeps the patterns, whose compilation is expensive. */
void steps_clear(struct steps *s);

/* Sets the total of the training, if it is known from elsewhere: see progress bars above. */
void steps_expect_total(struct steps *s, double total);

/* Sets the number of epochs, if it is known from elsewhere and not printed, until steps_clear. */
void steps_expect_epochs(struct steps *s, double epochs);

/* Begins a new run of the job in the same log: the program was launched again, and its counters may
 * begin again, with the same meaning. */
void steps_begin_run(struct steps *s);

/* Sets the time that a bar must live, instead of STEPS_BAR_LIFE_S, until steps_clear. */
void steps_set_bar_life(struct steps *s, double seconds);

/* cpu_s: processor seconds of the calling thread, from any beginning; NULL: expressions are not
 * timed. */
void steps_set_cpu_clock(struct steps *s, double (*cpu_s)(void));

/* arrival_s: when the last of these bytes came, on a clock that does not go back; NaN: not
 * known. */
void steps_feed(struct steps *s, const char *bytes, size_t n, double arrival_s, steps_sink *sink,
		void *arg);
void steps_end(struct steps *s, steps_sink *sink, void *arg);

struct steps_summary {
	const char *pattern;	/* name of the locked pattern; NULL: none is locked yet */
	const char *form;	/* form of its lines, for people; NULL: none is locked yet */
	double first_arrival_s;	/* of its first hit, or of the first line of the bar; NaN */
	int64_t n_lines;	/* lines that were not empty */
	int64_t n_matched;	/* hits of the locked pattern, since its first */
	int64_t n_clipped;	/* lines longer than STEPS_LINE_MAX */
	int64_t n_skipped;	/* lines not tried, or given up at a limit of patterns.h */
	const char *almost;	/* the first pattern with a hit, if none is locked; NULL: no hit */
	/* mean of all steps, printed at the end of a training (hf_final); NaN */
	double final_unit_s;
	bool is_lightning;	/* Lightning began; its Rich bars are printed to terminals only */
};

/* Fills *summary with what was found since the last steps_clear(). */
void steps_summary(const struct steps *s, struct steps_summary *summary);

/* True if the line counts one training of several: "fold 1/5", "Stage 1 of 3", or "trial 7", which
 * tells of no last one. Then *part is its number, and *left is true if it is not the last. */
bool steps_part(const char *line, size_t n, double *part, bool *left);

/* The name of pattern i, in their order; NULL after the last. form may be NULL. */
const char *steps_pattern_name(int i, const char **form);
/* What the counter of its lines counts, as the program calls that: "rounds", "steps". */
const char *steps_pattern_counts(const char *name);

/* ---- numbers by the user's own expressions ---- */

/* Numbers in what a program prints, by expressions of the user's.
 *
 *	struct metric_lines *m = metric_lines_new(&list, err);	// "NAME=REGEX", ...
 *	metric_lines_feed(m, bytes, n, arrival_s, sink, arg);	// pieces of any size
 *	metric_lines_free(m);
 *
 * Group 1 of an expression is the value (text.h), in its first match of a line. Lines are cut as
 * above, and have the same limits of length and processor time; lines beyond those are
 * skipped. */

#define METRIC_NAME_SIZE 64
#define METRIC_LINES_MAX 16	/* expressions */

/* Names that are worth a column in a table: letters, digits and ._-/:@%+, at most 63 of them. */
bool metric_is_name(const char *name, size_t length);

typedef void metric_sink(const char *name, double value, void *arg);

struct metric_lines;

/* NULL with EX_USAGE for an entry that is not NAME=REGEX with a group. */
struct metric_lines *metric_lines_new(const struct strings *list, struct err *err);
void metric_lines_free(struct metric_lines *m);		/* NULL is harmless */
/* cpu_s: processor seconds of the calling thread; NULL: expressions are not timed. */
void metric_lines_set_cpu_clock(struct metric_lines *m, double (*cpu_s)(void));
void metric_lines_feed(struct metric_lines *m, const char *bytes, size_t n, double arrival_s,
		       metric_sink *sink, void *arg);
void metric_lines_end(struct metric_lines *m, metric_sink *sink, void *arg);
/* True if lines were skipped for want of processor time. Lines that are fed from here on are not
 * timed, so the caller feeds only a few. */
bool metric_lines_look_again(struct metric_lines *m);

/* ---- numbers of a program that prints them beside its step or epoch ---- */

/* Metrics in what a program prints, by the words that are usual for them: "loss: 0.5",
 * "val_acc=0.9" in a line that names a step or an epoch.
 *
 *	struct found_metrics *m = found_metrics_new();
 *	found_metrics_feed(m, bytes, n, arrival_s, sink, arg);	// pieces of any size
 *	found_metrics_free(m);
 *
 * Names are given in small letters. A number behind a word such as "val" is of that: "train loss: 1
 * val loss: 2" has train_loss and val_loss. What is doubtful is passed over: a name that a line has
 * twice, a fraction, settings, times, best values, what stands behind "best", a name that was seen
 * in one line only or whose value and counter never change, lines of a second rank. Lines with such
 * a name are read at FOUND_BYTES_PER_S, after a free burst: what comes faster is skipped. */

#define FOUND_METRICS_MAX 8	/* names, in all of the input */
#define FOUND_BYTES_PER_S 5e4
#define FOUND_BURST_BYTES 2e5
#define FOUND_UNCOMMON_MAX 4	/* of them, those with other words: "box_loss" */

struct found_metrics;

struct found_metrics *found_metrics_new(void);
void found_metrics_free(struct found_metrics *m);	/* NULL is harmless */
void found_metrics_feed(struct found_metrics *m, const char *bytes, size_t n, double arrival_s,
			metric_sink *sink, void *arg);
void found_metrics_end(struct found_metrics *m, metric_sink *sink, void *arg);

/* ---- where a program's metrics are to be seen ---- */

/* The address of a run, in what its program prints: "wandb: View run at https://...", "TensorBoard
 * 2.15.0 at http://localhost:6006/ (Press CTRL+C to quit)". */

#define WEB_ADDRESS_SIZE 256

enum web_service { WEB_WANDB, WEB_TENSORBOARD };

/* address: printable ASCII. */
typedef void web_address_sink(enum web_service service, const char *address, void *arg);

struct web_addresses;

struct web_addresses *web_addresses_new(void);
void web_addresses_free(struct web_addresses *w);	/* NULL is harmless */
/* Lines count when they have ended. */
void web_addresses_feed(struct web_addresses *w, const char *bytes, size_t n,
			web_address_sink *sink, void *arg);

#endif
