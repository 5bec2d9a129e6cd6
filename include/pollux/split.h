/* split.h - which parameter of a sweep changes the model: its values separate step times that are
 * measured in the same configuration, such as those of a width or a depth.
 *
 * Two runs disagree if their step times differ by more than those that are pooled (pool_agree()). A
 * parameter explains the disagreement if all runs with one value of it agree, and some with
 * different values do not. Nothing is split while no parameter does, or while several do: a run
 * with another learning rate and another width shows of neither that it is the cause.
 *
 * A value that one job alone has may owe its time to a disturbance, so such a job must differ by a
 * factor of SPLIT_ALONE. The number of a run in --array has no value twice, and explains nothing.
 *
 * Pure functions. */
#ifndef POLLUX_SPLIT_H
#define POLLUX_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/observation.h"
#include "pollux/text.h"

#define SPLIT_ALONE 1.5
#define SPLIT_WINDOWS 2		/* an entry with fewer windows is passed over */

struct split_entry {
	struct observation measured;	/* with its job_id */
	struct strings parameters;	/* "NAME=VALUE" */
};

struct split {
	char *parameter;		/* owned: its name */
	/* "split by width: 12.1 ms at 64, 45.3 ms at 512", at the configuration of the first
	 * disagreement */
	struct text text;
};

/* Returns true if the sweep is to be split. Otherwise *split is empty. */
bool split_find(const struct split_entry *entries, int n, struct split *split);
void split_release(struct split *split);

/* The workload that a job has in a sweep that was split with this text: "net [width=64]". The
 * caller frees it. */
char *split_workload(const char *text, const char *workload, const struct strings *parameters);

#endif
