/* patterns.h - the lines in which programs tell their steps; private to src/steps.
 *
 * The formats are those of the frameworks' sources and documentation: nanoGPT, nanochat, modded-nanogpt,
 * llm.c, Megatron-LM, DeepSpeed, torchtitan, timm, torchvision (DETR, MAE), mmengine, detectron2,
 * Composer, Keras, tqdm, Hugging Face's Trainer, and the ImageNet and MNIST examples of PyTorch. */
#ifndef POLLUX_STEPS_PATTERNS_H
#define POLLUX_STEPS_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "line_regex.h"
#include "needles.h"
#include "pollux/steps.h"

/* What the counter of a line counts. */
enum pattern_kind {
	KIND_IGNORE,		/* none: the next step takes longer */
	KIND_UPDATES,		/* updates, from the beginning */
	KIND_BATCHES,		/* batches, from the beginning of the epoch */
	KIND_BAR,		/* whatever the progress bar is about */
	KIND_EPOCH,		/* a line for a whole epoch, of so many batches */
	KIND_SAMPLES,		/* samples, from the beginning of the epoch */
	KIND_UNKNOWN,		/* last resort */
	KIND_LOSSES,		/* nothing: a line of a log that has its steps elsewhere */
	KIND_FINAL,		/* nothing: the mean step time, at the end */
};

/* What the time of a line is. */
enum pattern_time {
	TIME_NONE,
	TIME_STEP,		/* of the last step alone */
	TIME_MEAN,		/* of some steps */
	TIME_SUM,		/* of all steps so far */
	TIME_RATE_MEAN,		/* steps in a second */
};

#define PATTERN_NEEDLES 3
#define PATTERNS_MAX 32		/* bits of a mask */

/* Groups of the expression: 0 where there is none. */
struct pattern {
	const char *name, *form;
	const char *regex;
	const char *needles[PATTERN_NEEDLES];	/* one of them is in every line that matches */
	enum pattern_kind kind;
	enum pattern_time time_kind;
	int8_t step, total, time, unit, epoch, description, elapsed;
	int8_t first_epoch;	/* as it counts them */
	bool any_case;
	bool may_be_step;	/* of KIND_IGNORE: by another pattern as well */
	const char *time_unit;	/* "ms", "s"; of what group unit does not say */
};

/* What a line said. NaN: it did not. */
struct sighting {
	const struct pattern *pattern;
	enum pattern_kind kind;		/* the pattern's, or what the line makes of it */
	double step, total, epoch, elapsed_s;
	double time_s;			/* of a step, or of all */
	bool time_is_coarse;		/* less than ten units of the last digit printed */
	const char *description;	/* in the line; not terminated */
	size_t description_length;
	double arrival_s;
};

struct patterns {
	struct pattern own;		/* of --step-regex */
	char own_needle[24];
	const struct pattern *items[PATTERNS_MAX];
	int n;
	struct line_regex *regex[PATTERNS_MAX];
	struct line_matcher *matcher;
	struct needles needles;
	uint32_t always;		/* bits of those without a needle */
};

/* -1 with EX_USAGE for a step_regex that is none. The address must stay: an item may be within. */
int patterns_init(struct patterns *p, const char *step_regex, struct err *err);
void patterns_release(struct patterns *p);

/* The patterns that a line may match, as bits. */
uint32_t patterns_candidates(const struct patterns *p, const char *line, size_t n);
/* out points into the line. */
bool patterns_match(const struct patterns *p, int i, const char *line, size_t n,
		    struct sighting *out);

#endif
