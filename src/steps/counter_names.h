/* counter_names.h - the words by which programs name counters; private to src/steps. */
#ifndef POLLUX_STEPS_COUNTER_NAMES_H
#define POLLUX_STEPS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Where a line has several counters of steps, the counter of the highest rank is taken. BY_PAIR: a
 * counter without a name. */
enum counter_rank { NO_STEP, BY_PAIR, BY_BATCH, BY_ITERATION, BY_STEP, BY_UPDATE, BY_GLOBAL };

struct counter_name {
	const char *text;
	bool of_epoch;		/* the counter of epochs itself */
	bool many;		/* "epochs 10" is a setting; "epochs 3/10" is a counter */
	enum counter_rank rank;
};

/* The name of n letters in either case; NULL: the word names no counter. */
const struct counter_name *counter_name_find(const char *word, size_t n);

#endif
