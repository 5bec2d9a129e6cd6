/* account.h - the work that was lost when a run was cut short; private to src/engine/local. */
#ifndef POLLUX_RUN_ACCOUNT_H
#define POLLUX_RUN_ACCOUNT_H

#include "pollux/job.h"

/* Fill lost_samples, lost_s and checkpoint_samples of an ended run. A job that never reported a
 * checkpoint is not said to lose work. end_boot_s: when the run ended. */
void account_for_loss(const struct job *job, struct run *run, double end_boot_s);

#endif
