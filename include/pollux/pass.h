/* pass.h - one scheduling pass: look, decide, act, leave.
 *
 *	struct pass_result result;
 *	if (pass_run(&paths, &config, PASS_ACT, &result, err)) ...
 *	for (i...) puts(result.actions.items[i]);
 *	pass_result_release(&result);
 *
 * Only one pass acts at a time; another one that comes meanwhile leaves at once (result.busy), and the one at
 * work is followed by one more (a hundred at most): what the other came for may have happened after it had
 * looked. A pass
 * that dies at any instruction leaves nothing half done: its decision is one transaction, and whatever it
 * did not get to do after that (start a supervisor, wake one) the next pass does. */
#ifndef POLLUX_PASS_H
#define POLLUX_PASS_H

#include <stdbool.h>

#include "pollux/config.h"
#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/text.h"

enum pass_mode { PASS_ACT, PASS_DRY_RUN };

struct pass_result {
	bool busy;			/* another pass was at work; nothing was done */
	int n_waiting, n_running;	/* jobs after the decision */
	struct strings actions;		/* what was done, or would be: "start job 3 on cpu:0: ..." */
};

int pass_run(const struct paths *paths, const struct config *config, enum pass_mode mode,
	     struct pass_result *result, struct err *err);
void pass_result_release(struct pass_result *result);

#endif
