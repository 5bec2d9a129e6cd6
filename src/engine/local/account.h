/* account.h - what a run that was cut short has lost; private to src/engine/local. */
#ifndef POLLUX_RUN_ACCOUNT_H
#define POLLUX_RUN_ACCOUNT_H

#include "pollux/job.h"

/* Fill lost_samples, lost_s and checkpoint_samples of an ended run. Only a job that has ever reported a
 * checkpoint is known to lose work: for others nothing is claimed. end_boot_s: when it ended. */
void account_for_loss(const struct job *job, struct run *run, double end_boot_s);

#endif
