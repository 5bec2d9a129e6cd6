/* metric_names.h - which words of a log name a metric; private to src/steps. */
#ifndef POLLUX_STEPS_METRIC_NAMES_H
#define POLLUX_STEPS_METRIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/steps.h"

struct metric_name {
	bool is_common;		/* "loss", "val_acc": no other word is in it */
	bool has_section;	/* the name itself says of what it is: "val_loss" */
};

/* Reads a name: one of the usual words (loss, accuracy, f1, ...) alone or with others (box_loss),
 * or anything of an evaluation (val_score). section: of the place in the line, as metric_section()
 * has it, which is put before a name without its own. out: in small letters. False: it names no
 * metric, or one in doubt: a setting (loss_scale, eval_steps), a time, a best value. */
bool metric_name_read(const char *name, size_t n, const char *section, struct metric_name *of,
		      char out[METRIC_NAME_SIZE]);
/* "train", "val", "eval", "test" or "dev" for a word that says of what the numbers behind it are;
 * NULL: it says none. */
const char *metric_section(const char *word, size_t n);
/* True if what stands behind the word need not be of now: "best", "improved", "target". */
bool metric_word_stops(const char *word, size_t n);
/* True for "average" and the like, which change no name. */
bool metric_word_is_mean(const char *word, size_t n);

#endif
