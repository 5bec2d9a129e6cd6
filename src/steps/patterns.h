/* patterns.h - the patterns of log lines, and the parts by which lines are matched. */
#ifndef POLLUX_STEPS_PATTERNS_H
#define POLLUX_STEPS_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/steps.h"

/* --- a regular expression on a line of a log, by PCRE2 --- */

/* Expressions and lines come from anyone, so a match has limits, after which the line counts as not
 * matched: LINE_REGEX_TRIES attempts over all the places where a match may begin, and
 * LINE_REGEX_HEAP_KIB of memory. Bytes are compared, not characters of any encoding. */

#define LINE_REGEX_GROUPS 10		/* the whole match is group 0 */
#define LINE_REGEX_LENGTH_MAX 1000	/* bytes of an expression */
#define LINE_REGEX_TRIES 8000000
#define LINE_REGEX_DEPTH 20000
#define LINE_REGEX_HEAP_KIB 4096

struct line_regex;
/* Memory for matching, which any number of expressions may share. */
struct line_matcher;

struct span {
	const char *text;	/* NULL: the group took no part */
	size_t n;
};

/* NULL with EX_USAGE for text that is no expression. */
struct line_regex *line_regex_new(const char *text, bool any_case, struct err *err);
void line_regex_free(struct line_regex *regex);
/* The number of groups, without group 0. */
int line_regex_groups(const struct line_regex *regex);

struct line_matcher *line_matcher_new(void);
void line_matcher_free(struct line_matcher *matcher);
/* The number of lines that reached a limit. */
int64_t line_matcher_given_up(const struct line_matcher *matcher);

/* Groups point into the line. */
bool line_regex_match(const struct line_regex *regex, struct line_matcher *matcher,
		      const char *line, size_t n, struct span groups[LINE_REGEX_GROUPS]);

/* --- needles --- */

/* Finds which of several short strings occur in a line, in one pass.
 *
 * An automaton after A. V. Aho and M. J. Corasick, "Efficient string matching: an aid to
 * bibliographic search", Communications of the ACM 18 (1975), 333-340. Letters count without their
 * case. A line takes about a nanosecond a byte, where a regular expression takes about ten. */

#define NEEDLES_STATES 512	/* more than the bytes of all needles */
#define NEEDLES_CLASSES 64	/* more than the different bytes */

struct needles {
	uint8_t class_of[256];			/* of each byte; 0: the byte is in no needle */
	uint16_t next[NEEDLES_STATES][NEEDLES_CLASSES];
	uint64_t found[NEEDLES_STATES];		/* bits of the needles that end in a state */
	int n_states, n_classes;
};

void needles_init(struct needles *n);
/* needle: ASCII or UTF-8, which sets these bits where found. After the last, needles_link is
 * called. */
void needles_add(struct needles *n, const char *needle, uint64_t bits);
void needles_link(struct needles *n);
uint64_t needles_find(const struct needles *n, const char *line, size_t length);

/* --- a literal that every match of a user's expression contains --- */

/* "" where none is found; clipped to size. Letters count without their case. */
void own_needle(const char *regex, char *needle, size_t size);

/* --- the counters that a line names, whatever program printed it --- */

/* A counter is a name and a number: "Epoch 3/10", "Iter [ 20/500]", "'step': 25",
 * "| global step 7 |", "epoch 001:  100 / 1234". Names are words such as epoch, step, iteration,
 * batch, update. If a line names several counters of steps, the one that counts updates from the
 * beginning is preferred. A pair of numbers after the epoch needs no name: "Epoch: [0][  10/5005]".
 *
 * No counters: rates ("3 it/s"), decimal numbers, file names ("step=100.ckpt"), sizes per step,
 * batch sizes ("batch 128 = 2 x 64"), and everything after a word such as "validation" or "test"
 * (steps_state.h). */

struct counter {
	double n, total;		/* NaN: the line has no such counter; no total */
};

struct counters {
	struct counter epoch, step;
	bool epoch_in_brackets;		/* "[3/10]" */
	bool step_is_first;		/* it stands before the epoch */
	bool is_global;			/* the step is counted from the beginning: "global_step" */
	bool is_of_epoch;		/* the step is counted within the epoch: "batch" */
	bool epoch_is_over;		/* the line says what came of the epoch */
	bool is_other;			/* a counter is there, but of an evaluation */
	uint64_t label;			/* hash of the letters before the step's number */
	/* "max_steps=1000" beside the step; unless it is sure, "total_steps=1000", which some
	 * programs print as their position; NaN */
	double whole;
	bool whole_is_sure;
};

/* True if the line has a counter, of training or not. */
bool counters_find(const char *line, size_t n, struct counters *out);

/* True if a word of other work stands in the line. */
bool counters_has_other_work(const char *line, size_t n);

/* --- the columns of numbers below a line of names --- */

/* A line of names has a counter's name as a column: "epoch  train_loss  dur", "| step | loss |",
 * "epoch,loss". The lines below it have numbers only, in at most as many columns. */

struct table {
	bool is_open;			/* a line of names was read */
	int n_columns;
	int epoch, step;		/* columns; -1: none */
	bool is_global;			/* the step is counted from the beginning */
	bool is_iteration;		/* what a step is, is not known */
};

/* Reads a line of names. False: the line is something else, and the table is unchanged. */
bool table_read_names(struct table *t, const char *line, size_t n);

/* Reads a line of numbers. epoch, step: NaN where the table has no such column. */
bool table_read_numbers(const struct table *t, const char *line, size_t n, double *epoch,
			double *step);

/* --- the lines in which programs print their steps --- */

/* The formats are those of the frameworks' sources and documentation: nanoGPT, nanochat,
 * modded-nanogpt, llm.c, Megatron-LM, DeepSpeed, torchtitan, timm, torchvision (DETR, MAE),
 * mmengine, detectron2, Composer, Keras, tqdm, Hugging Face's Trainer, and the ImageNet and MNIST
 * examples of PyTorch; and CLU. Those of Lightning, fastai, Stable-Baselines3, XGBoost, LightGBM,
 * Ultralytics, Hydra, scikit-learn, Rich and the tutorials of PyTorch come from their output
 * (tests/reference/logs). */

/* The unit that the counter of a line counts. */
enum pattern_kind {
	KIND_IGNORE,		/* no counter; the line announces a pause before the next step */
	KIND_UPDATES,		/* updates, from the beginning */
	KIND_BATCHES,		/* batches, from the beginning of the epoch */
	KIND_BAR,		/* the unit of a progress bar */
	KIND_EPOCH,		/* batches of a whole epoch, in one line for the epoch */
	KIND_SAMPLES,		/* samples, from the beginning of the epoch */
	KIND_TIMESTEPS,		/* steps of an environment, from the beginning */
	KIND_UNKNOWN,		/* unknown: a last resort */
	KIND_ITERATIONS,	/* of a program's own: rounds, trees, no updates */
	KIND_PERCENT,		/* percent of a bar that tells nothing else */
	KIND_EPOCHS,		/* epochs: the last resort of all, and the epoch of other lines */
	KIND_LOSSES,		/* no counter; the log has its steps elsewhere */
	KIND_FINAL,		/* no counter; the mean step time, at the end */
	KIND_TRIAL,		/* no counter; another training begins, as in a sweep */
	KIND_PART,		/* no counter; one training of several: "Fold 2/5" */
	KIND_NAMES,		/* no counter; the names of a table's columns */
	KIND_LIGHTNING,		/* no counter; Lightning begins, whose epochs count from 0 */
};

/* What patterns.h finds in a line, for the patterns that have no regular expression. */
enum pattern_scan {
	SCAN_NONE,
	SCAN_TOTAL,		/* a step with its total; or steps of other work */
	SCAN_STEP,		/* a step without its total */
	SCAN_EPOCH,		/* an epoch and no step */
	SCAN_NAMES,		/* names of columns */
	SCAN_NUMBERS,		/* numbers in these columns */
	SCAN_PART,		/* the number of a part */
};

/* The meaning of the time in a line. */
enum pattern_time {
	TIME_NONE,
	TIME_STEP,		/* the last step alone */
	TIME_MEAN,		/* the mean of some steps */
	TIME_SUM,		/* the sum of all steps so far */
	TIME_RATE_MEAN,		/* steps a second */
};

#define PATTERN_NEEDLES 12
#define PATTERNS_MAX 64		/* bits of a mask */

/* The int8_t members are numbers of groups; 0: the expression has no such group. */
struct pattern {
	const char *name, *form;
	const char *regex;			/* NULL: scan is set */
	enum pattern_scan scan;
	const char *needles[PATTERN_NEEDLES];	/* every line that matches has one of these */
	enum pattern_kind kind;
	enum pattern_time time_kind;
	int8_t step, total, time, unit, epoch, epochs, description, elapsed;
	int8_t first_epoch;	/* number of the first epoch, 0 or 1; where ONE_OR_ZERO, as seen */
	bool any_case;
	bool epoch_in_line;	/* the epoch is found by patterns.h, before the step */
	bool bare_epochs;	/* sighting: epochs_are_bare */
	bool last_epoch;	/* the printed total of epochs is the number of the last one */
	bool counts_from_0;	/* step 0 is the first that is done */
	bool is_bar;		/* the counter is of units done, at any time */
	int8_t hits;		/* hits before the pattern is locked; 0: LOCK_HITS */
	bool may_be_step;	/* no counter: other patterns are tried on the line as well */
	const char *time_unit;	/* "ms", "s", for lines without a group unit */
	const char *counts;	/* the units as the program calls them; NULL: steps */
};

#define ONE_OR_ZERO (-1)

/* What a line says. NaN: the line does not say it. */
struct sighting {
	const struct pattern *pattern;
	enum pattern_kind kind;		/* the pattern's, or as the form of the line has it */
	double step, total, epoch, epochs, elapsed_s;
	int first_epoch;		/* ONE_OR_ZERO: not known */
	/* "Epoch 0/9" names the last epoch, "[0/10]" the number of epochs */
	bool epochs_are_bare;
	bool epoch_is_behind;		/* the step stands before the epoch: seldom one of its */
	bool is_global;			/* the counter says that it counts from the beginning */
	bool is_of_epoch;		/* it counts within the epoch, as the line has an epoch */
	bool epoch_is_over;		/* KIND_EPOCHS: the line says what came of the epoch */
	bool from_header;		/* the epoch is of an earlier line of its own */
	int64_t header;			/* the number of that line */
	uint64_t label;			/* hash of the words before the counter; 0: none */
	double whole;			/* see struct counters */
	bool whole_is_sure;
	bool total_is_named;		/* the total stands apart: it may be the training's */
	bool parts_are_left;		/* KIND_PART; step: the number of the part */
	double leap;			/* units since the line before; NaN: not known */
	bool from_step_0;		/* a step 0 was seen: the step is the number of the last */
	double time_s;			/* of a step, or of all steps */
	bool time_is_coarse;		/* fewer than ten units of its last digit */
	const char *description;	/* points into the line; not terminated */
	size_t description_length;
	double arrival_s;
};

struct patterns {
	struct pattern own;		/* from --step-regex */
	char own_needle[24];
	const struct pattern *items[PATTERNS_MAX];
	int n;
	struct line_regex *regex[PATTERNS_MAX];
	struct line_matcher *matcher;
	struct needles needles;
	uint64_t always;		/* bits of the patterns without a needle */
	/* of the line that patterns_candidates got, if it was read */
	struct counters counters;
	enum { UNREAD, READ, HAS_COUNTERS } counters_are;
	struct table table;
	uint64_t of_table;		/* bit of the pattern of its numbers */
};

/* -1 with EX_USAGE for a step_regex that is no expression. *p must not be moved: an item may be in
 * it. */
int patterns_init(struct patterns *p, const char *step_regex, struct err *err);
void patterns_release(struct patterns *p);

/* The patterns that a line may match, by their needles, as bits. */
uint64_t patterns_candidates(struct patterns *p, const char *line, size_t n);
/* The same line, after patterns_candidates. out points into the line. */
bool patterns_match(struct patterns *p, int i, const char *line, size_t n,
		    struct sighting *out);
/* Forgets the lines before: another run begins. */
void patterns_begin_run(struct patterns *p);

/* --- finds the progress bar of the training among a program's bars --- */

/* Bars are told apart by total and description. The description counts without digits ("Epoch 3:")
 * and without blanks, which are fewer before "10%" than before " 9%". A bar is taken if its printed
 * times of life add up to more than enough_s (STEPS_BAR_LIFE_S), or if its total is the expected
 * one, or if it was taken in the job's run before. It is given up for a bar that turns out to be
 * the inner of two nested bars. It is given up, too, for a bar that has lived as long since the
 * taken bar was last seen, unless the taken bar moves on beside it: then the other bar is that of
 * an evaluation. Of two bars that take turns the first is that of the training, unless the other
 * takes far longer, or says that it trains. */

#define BARS_MAX 8

struct bar {
	uint64_t id;			/* 0: unused */
	double life_s, life_unseen_s;	/* in all; since steps were last seen elsewhere */
	double counted;			/* units, over all repetitions */
	int repeated;			/* how often the bar began again */
	double total;			/* NaN: none */
	int64_t born;			/* order of their first lines */
	bool described;
	bool trains;			/* the description says so */
	bool of_epochs;			/* the description is "epoch", without a number */
	double elapsed_s, step;		/* at its last line */
	double first_arrival_s;		/* NaN: not known */
};

struct bars {
	struct bar items[BARS_MAX];
	uint64_t taken;			/* id; 0: none yet */
	uint64_t last;			/* id of the last line's bar */
	/* ids of the bar that was taken in the run before, and of its outer bar; 0: none */
	uint64_t known, known_outer;
	int64_t n_born;
	double expected_total;		/* NaN */
	double enough_s;
};

void bars_init(struct bars *b);

/* True if a description is not of a training: "Map", "Downloading", "Validating". *pauses: true if
 * the described work holds the training up. */
bool bars_is_other(const struct sighting *s, bool *pauses);

/* True if the description is of an epoch: the bar then counts batches from its first line on. */
bool bars_is_of_epoch(const struct sighting *s);

/* The time at which the taken bar was first seen. */
double bars_taken_since(const struct bars *b);

/* The bar within whose units the taken bar repeats itself, as batches do in epochs; NULL: none. */
const struct bar *bars_outer(const struct bars *b);

/* The job was launched again: forgets all bars, but knows the taken one again. */
void bars_begin_run(struct bars *b);

/* The last bar is that of the training, as another line says: it is taken at once. */
void bars_trust_last(struct bars *b);

/* Steps were seen elsewhere: the bars' lives up to now no longer count. */
void bars_see_other(struct bars *b);

/* True if the taken bar is at its end. */
bool bars_taken_ended(const struct bars *b);

/* Takes a line of a bar. True if the bar is that of the training. *changed: it is since this line.
 * *repeated: how often the bar has begun again. */
bool bars_take(struct bars *b, const struct sighting *s, bool *changed, int *repeated);

/* --- the built-in patterns --- */

extern const struct pattern pattern_table[];
extern const int n_pattern_table;

#endif
