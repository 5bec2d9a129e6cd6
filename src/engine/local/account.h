/* account.h - the work that was lost when a run was cut short; private to src/engine/local. */
#ifndef POLLUX_RUN_ACCOUNT_H
#define POLLUX_RUN_ACCOUNT_H

#include "pollux/job.h"

/* Where a job that never reported a checkpoint goes on after a run. */
struct fallback {
	double samples;		/* NaN: not known */
	double boot_s;		/* when the run stood there, by run_clock_s() */
};

/* Fill lost_samples, lost_s, checkpoint_samples and stands_at_samples of an ended run. end_boot_s:
 * when the run ended. If it is not known where the job goes on, nothing is said to be lost. */
void account_for_loss(const struct job *job, struct run *run, const struct fallback *unreported,
		      double end_boot_s);

#endif
