/* steps_state.h - what the reader of a log remembers of it. */
#ifndef POLLUX_STEPS_STEPS_STATE_H
#define POLLUX_STEPS_STEPS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patterns.h"
#include "pollux/steps.h"

/* --- cuts pieces of a log into clean lines --- */

/* A line ends at \n or \r; empty lines are dropped. Backspaces, ESC [ ... and ESC ] ... sequences
 * and other two-byte escapes are removed. At most STEPS_LINE_MAX bytes of a line are kept. */

enum escape { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_CSI, ESCAPE_OSC };

struct log_lines {
	char line[STEPS_LINE_MAX];	/* the beginning of a line that has not ended */
	size_t length;
	bool clipped;
	enum escape escape;
	double arrival_s;		/* of the last byte that counts; bars end at the next bar */
	int64_t n_lines, n_clipped;
};

/* One line, not terminated; may hold anything but \n, \r, \b and ESC. */
typedef void log_line_sink(const char *line, size_t n, double arrival_s, void *arg);

void log_lines_init(struct log_lines *l);
void log_lines_feed(struct log_lines *l, const char *bytes, size_t n, double arrival_s,
		    log_line_sink *sink, void *arg);
void log_lines_end(struct log_lines *l, log_line_sink *sink, void *arg);

/* --- the name of a rank that a launcher puts before a line --- */

/* The length of the prefix of a line and the blanks after it: "[rank0]: ", "[trainer0]:"
 * (torchrun), "[1,0]<stdout>:" (mpirun). 0: no prefix. *id: its length up to the closing
 * bracket. */
size_t rank_prefix(const char *line, size_t n, size_t *id);

/* --- words that tell work which is no training --- */

enum other_work {
	OTHER_NONE,
	OTHER_ASIDE,		/* loading, a download: beside or before the training */
	OTHER_PAUSE,		/* an evaluation, a checkpoint: the training waits for it */
};

/* text: n letters, of the description of a progress bar, or of a word before a counter in a line.
 * For the latter fewer words count: "mAP" is no map. */
enum other_work other_work_of(const char *text, size_t n, bool in_line);

/* --- the names of counters --- */

/* Where a line has several counters of steps, the counter of the highest rank is taken. BY_PAIR: a
 * counter without a name. */
enum counter_rank { NO_STEP, BY_PAIR, BY_BATCH, BY_ITERATION, BY_STEP, BY_UPDATE, BY_GLOBAL };

struct counter_name {
	const char *words;	/* with a blank on both sides of each */
	bool of_epoch;		/* the counter of epochs itself */
	bool many;		/* "epochs 10" is a setting; "epochs 3/10" is a counter */
	bool whole;		/* the total of another counter, if the line has one */
	enum counter_rank rank;
};

/* The name of n letters in either case; NULL: the word names no counter. */
const struct counter_name *counter_name_find(const char *word, size_t n);
/* The name in "max_steps" and "totalSteps"; NULL: the word is no such name. *is_sure: it names a
 * total, and cannot name a position. */
const struct counter_name *whole_name_find(const char *word, size_t n, bool *is_sure);
/* True if the word before a name says that its number is a total: "max", "total". */
bool whole_word_find(const char *word, size_t n, bool *is_sure);

/* --- from the sightings of one counter to positions and times --- */

/* Lines come in bundles with one time of arrival, which is that of the last line. An interval lies
 * between the last lines of two bundles. It has at least this length, so that the grain of arrivals
 * matters little. */
#define TRACK_INTERVAL_S 0.2

struct track_point {
	double position, time_s;	/* time: of arrival, or a printed sum; NaN: none */
};

/* A line of a counter of unknown meaning (KIND_UNKNOWN) may be of an evaluation between two steps.
 * Lines below the count reached, or with another total, are passed over until the counter continues
 * from there. Three things show that such a fall belongs to the training: two falls in a row from
 * the same count (a counter within epochs); a line with the same words that begins at the first
 * count again (a second training; taken back if the counter then goes on from where it fell); more
 * than this many lines passed over in a row, and more than were taken before. */
#define TRACK_ASIDE_MAX 1000
/* The largest leap of such a counter for which the steps between are timed. */
#define TRACK_LEAP 8

struct track_unknown {
	double seen;			/* the last count, taken or not; NaN: none yet */
	double fell_from;		/* the count before its last fall; NaN: it has not fallen */
	double leap;			/* of the last line taken */
	double first;			/* the first count; NaN: none yet */
	double left_at, left_base;	/* before a fall that may be taken back; NaN: none */
	uint64_t label;			/* of the first line taken */
	int64_t n_taken, n_aside;	/* lines taken, and lines passed over in a row */
};

/* True if the counter begins again in each epoch. */
enum track_within { WITHIN_UNKNOWN, WITHIN_EPOCHS, NOT_WITHIN };

struct track {
	double trials;			/* units of the trainings before this one in the same run */
	double base;			/* units of trials and epochs before this one */
	double step, total;		/* of the last line taken; step NaN: none yet */
	double epoch, first_epoch;	/* NaN: no line has an epoch */
	double epochs;			/* number of epochs; NaN: not printed */
	double expected_epochs;		/* known from elsewhere; NaN */
	double length;			/* units of an epoch, where lines have no total; NaN */
	double former_total, former_position;	/* in the job's run before; NaN */
	int64_t header;			/* the line of the epoch, if it has one of its own */
	double leap;			/* units from line to line, before the last; NaN */
	bool from_step_0;		/* the first unit is 0 */
	enum track_within within;
	struct track_unknown unknown;
	bool repeats;			/* the counter fell back: its total is that of an epoch */
	bool trial_ended;		/* the next line begins another training */
	bool from_0;			/* epochs count from 0, if nothing else is known */
	bool bars_are_of_updates;	/* known from elsewhere */
	bool parts_are_left;		/* known from elsewhere: other trainings follow */
	bool part_began;		/* a fall of the counter begins another training */
	bool broken;			/* something else went on since the last step */
	struct track_point anchor, latest, sum;
};

/* epochs: whole epochs before the first line, of total units each. */
void track_init(struct track *t, double epochs, double total);
/* Takes over what was learned of the same counter in the job's run before: how epochs are numbered,
 * and whether the counter begins again in each of them. */
void track_continue(struct track *t, const struct track *before);
/* The program did something else, so that the next step takes longer. */
void track_break(struct track *t);
/* The bar repeats within the units of an outer bar, of which `step` out of `total` are done. */
void track_see_outer(struct track *t, const struct sighting *s, double step, double total);
/* The bar is at its end, and the program goes on: the total may be that of an epoch. e: the last
 * event, which is changed accordingly. */
void track_doubt_total(struct track *t, struct step_event *e);
/* Takes a sighting with a step, and fills in event, except begins. False: the sighting is of
 * something else, and event is unused. */
bool track_add(struct track *t, const struct sighting *s, struct step_event *event);

/* --- what is known of the steps in a log --- */

#define RANK_MAX 32

/* The hits of a pattern before it is locked. */
struct record {
	int hits;			/* hits in a row that count */
	int64_t n;			/* all hits */
	double step, epoch, first_arrival_s;
	double leap;			/* from a step to a higher one; NaN */
	bool from_0;			/* an epoch 0 was seen */
	bool step_0;			/* a step 0 was seen */
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
	bool parts_are_left;		/* a line says that other trainings follow */
	double part;			/* the number in that line; NaN */
	/* the last number that is a total or a position, the step beside it, and which it is */
	double whole, whole_step;
	bool whole_counts;
	struct step_event last;		/* of the locked pattern */
	bool has_begun;			/* an event of the locked pattern was passed on */
	char rank[RANK_MAX];		/* the only rank that counts */
	size_t rank_length;		/* 0: no rank has printed a step yet */
	double bytes_left, cpu_left_s, refilled_s;	/* budgets of regular expressions */
	double (*cpu_s)(void);		/* NULL: expressions are not timed */
	int64_t n_skipped;
	steps_sink *sink;		/* of the present call */
	void *arg;
};

/* steps_follow.c */
/* Takes a line that pattern i matches. */
void steps_see(struct steps *s, int i, struct sighting *seen);
/* NULL: no pattern is locked. */
const struct pattern *steps_locked_pattern(const struct steps *s);

#endif
