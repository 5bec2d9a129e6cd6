/* checkpoints.h - what a job has saved, and which checkpoint is the newest; private to
 * src/engine/local.
 *
 * Whoever decides about checkpoints asks here: for the template {newest}, for what a run is to
 * resume from, and for what a stopped run has saved. The candidates are the files and directories
 * below the directory of checkpoints that changed since the job's first launch, and what its
 * program reported; pollux-program(7) states the rule for people.
 *
 * Of two whose names differ in their numbers only, the one with the larger number is newer
 * (checkpoint_order.h), else the one that was written later; a reported one that was written
 * last is newest whatever its number. What is not whole (checkpoint_whole.h) is passed over. */
#ifndef POLLUX_RUN_CHECKPOINTS_H
#define POLLUX_RUN_CHECKPOINTS_H

#include <stdbool.h>

#include "pollux/text.h"

/* A time by the wall clock. */
struct time_span {
	double from_s, to_s;
};

struct checkpoint_query {
	const char *directory;
	/* Only what matches counts: the path below the directory, or a name. NULL: no pattern.
	 * Names with a mark of unfinished files match only a pattern that has such a mark, too. */
	const char *glob;
	double since_s;			/* wall clock; what did not change since does not count */
	/* Files without the name of a checkpoint that were last written in one of these, when a run
	 * of the job started, do not count. */
	const struct time_span *starts;
	int n_starts;
	const char *reported;		/* absolute path, the last that was told; NULL */
	const struct strings *refused;	/* from these a run could not resume; NULL: none */
	bool ranks_vary;		/* runs of the job had different numbers of devices */
};

struct checkpoints {
	/* owned; the newest checkpoint that is whole, NULL: none */
	char *newest;
	/* owned; one that is newer, and why it is left out; NULL: none */
	char *left_out, *why;
	/* wall clock: when something was last saved, with or without the name of a checkpoint;
	 * NaN: nothing was. What was written into an older one of several with numbers does not
	 * count. */
	double saved_s;
	bool cut_short;			/* there was no time to look at all files */
};

/* The caller releases found. */
void checkpoints_find(const struct checkpoint_query *query, struct checkpoints *found);
void checkpoints_release(struct checkpoints *found);

#endif
