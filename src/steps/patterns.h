/* patterns.h - the lines in which programs print their steps; private to src/steps.
 *
 * The formats are those of the frameworks' sources and documentation: nanoGPT, nanochat,
 * modded-nanogpt, llm.c, Megatron-LM, DeepSpeed, torchtitan, timm, torchvision (DETR, MAE),
 * mmengine, detectron2, Composer, Keras, tqdm, Hugging Face's Trainer, and the ImageNet and MNIST
 * examples of PyTorch. Those of Lightning, fastai, Stable-Baselines3, XGBoost, LightGBM,
 * Ultralytics, Hydra and the tutorials of PyTorch come from their output (tests/reference/logs). */
#ifndef POLLUX_STEPS_PATTERNS_H
#define POLLUX_STEPS_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "line_regex.h"
#include "needles.h"
#include "pollux/steps.h"

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
	KIND_EPOCHS,		/* epochs: the last resort of all, and the epoch of other lines */
	KIND_LOSSES,		/* no counter; the log has its steps elsewhere */
	KIND_FINAL,		/* no counter; the mean step time, at the end */
	KIND_TRIAL,		/* no counter; another training begins, as in a sweep */
	KIND_LIGHTNING,		/* no counter; Lightning begins, whose epochs count from 0 */
};

/* What counters.h finds in a line, for the patterns that have no regular expression. */
enum pattern_scan {
	SCAN_NONE,
	SCAN_TOTAL,		/* a step with its total; or steps of other work */
	SCAN_STEP,		/* a step without its total */
	SCAN_EPOCH,		/* an epoch and no step */
};

/* The meaning of the time in a line. */
enum pattern_time {
	TIME_NONE,
	TIME_STEP,		/* the last step alone */
	TIME_MEAN,		/* the mean of some steps */
	TIME_SUM,		/* the sum of all steps so far */
	TIME_RATE_MEAN,		/* steps a second */
};

#define PATTERN_NEEDLES 7
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
	bool epoch_in_line;	/* the epoch is found by counters.h, before the step */
	bool bare_epochs;	/* sighting: epochs_are_bare */
	bool last_epoch;	/* the printed total of epochs is the number of the last one */
	bool counts_from_0;	/* step 0 is the first that is done */
	int8_t hits;		/* hits before the pattern is locked; 0: LOCK_HITS */
	bool may_be_step;	/* KIND_IGNORE: other patterns are tried on the line as well */
	const char *time_unit;	/* "ms", "s", for lines without a group unit */
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

#endif
