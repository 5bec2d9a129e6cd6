/* pass.h - one scheduling pass: read, decide, apply.
 *
 *	struct pass_result result;
 *	if (pass_run(&paths, &config, PASS_ACT, &result, err)) ...
 *	for (i...) puts(result.actions.items[i]);
 *	pass_result_release(&result);
 *
 * Only one pass acts at a time. A second process that wants a pass meanwhile leaves at once
 * (result.busy). The process at work then does another pass (at most a hundred in a row), because
 * the reason for the second one may have come after the first one had read the store. If a process
 * has been at work for more than a minute, pass_run fails and names it. A pass that dies at any
 * instruction leaves nothing half done: its decision is one transaction, and the next pass does
 * what remained to be done after it (start a run, wake a supervisor). */
#ifndef POLLUX_PASS_H
#define POLLUX_PASS_H

#include <stdbool.h>

#include "pollux/config.h"
#include "pollux/err.h"
#include "pollux/lock.h"
#include "pollux/paths.h"
#include "pollux/text.h"

enum pass_mode { PASS_ACT, PASS_DRY_RUN };

struct pass_result {
	bool busy;			/* another pass was at work; nothing was done */
	int n_waiting, n_running;	/* jobs after the decision */
	/* Wall clock: when the first wait for a time ends, such as a --begin or the pause after a
	 * failure; NaN: no job waits so, or the pass is busy. */
	double next_s;
	struct strings actions;		/* done, or to be done: "start job 3 on cpu:0: ..." */
};

int pass_run(const struct paths *paths, const struct config *config, enum pass_mode mode,
	     struct pass_result *result, struct err *err);
void pass_result_release(struct pass_result *result);

/* Passes that come by themselves: from cron, another timer, or a 'schedule --watch'. One that a
 * submission, the end of a job, or a person starts does not count. */
/* Notes that such a pass comes now. Does nothing where there is no directory of pollux yet. */
void regular_pass_note(const struct paths *paths);
/* True if the last such pass is at most three intervals of cron old. */
bool regular_passes_come(const struct paths *paths, double now_wall_s);

/* Finds the process of a pass that lets no other one begin: at work for a minute, and
 * twice found doing nothing, a third of a second apart. False: there is none, or nobody knows who
 * is at work. */
bool pass_find_hung(const struct paths *paths, struct lock_holder *holder);
/* Adds who is in the way, for how long, and what ends that. */
void pass_describe_hung(const struct lock_holder *holder, struct text *t);

#endif
