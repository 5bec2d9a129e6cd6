/* pass.h - one scheduling pass: read, decide, plan, apply.
 *
 *	struct pass_result result;
 *	if (pass_run(&paths, &config, PASS_ACT, &result, err)) ...
 *	for (i...) puts(result.actions.items[i]);
 *	pass_result_release(&result);
 *
 * Only one pass acts at a time. A second one that comes meanwhile leaves at once (result.busy),
 * and the one at work is followed by one more (a hundred at most), since what the second one came
 * for may have happened after the first had read. If the one at work has been so for more than a
 * minute, pass_run fails and names it. A pass that dies at any instruction leaves
 * nothing half done: its decision is one transaction, and whatever it did not get to do after that
 * (start a run, wake a supervisor) the next pass does. */
#ifndef POLLUX_PASS_H
#define POLLUX_PASS_H

#include <stdbool.h>

#include "pollux/config.h"
#include "pollux/err.h"
#include "pollux/lock_holder.h"
#include "pollux/paths.h"
#include "pollux/text.h"

enum pass_mode { PASS_ACT, PASS_DRY_RUN };

struct pass_result {
	bool busy;			/* another pass was at work; nothing was done */
	int n_waiting, n_running;	/* jobs after the decision */
	struct strings actions;		/* done, or to be done: "start job 3 on cpu:0: ..." */
};

int pass_run(const struct paths *paths, const struct config *config, enum pass_mode mode,
	     struct pass_result *result, struct err *err);
void pass_result_release(struct pass_result *result);

/* pass_hung.c: finds the process of a pass that has been at work for more than a minute. */
bool pass_find_hung(const struct paths *paths, struct lock_holder *holder);
/* Adds the pass that has been at work for more than a minute, and what to do about it.
 * False: there is none, or nobody knows who is at work. */
bool pass_describe_hung(const struct paths *paths, struct text *t);
/* The same as an error, EX_TEMPFAIL. */
int pass_refuse_hung(const struct paths *paths, struct err *err);

#endif
