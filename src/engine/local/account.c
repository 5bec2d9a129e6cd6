/* account.c - work since the last checkpoint has to be done again. */
#include <math.h>

#include "account.h"

void account_for_loss(const struct job *job, struct run *run, double end_boot_s)
{
	double since_s = run->checkpoint_boot_s;

	if (run->outcome == OUTCOME_COMPLETED || run->outcome == OUTCOME_NOT_STARTED)
		return;
	if (isnan(run->checkpoint_samples)) {
		if (isnan(job->progress.checkpoint_samples))
			return;
		/* No checkpoint in this run: the job falls back to where the run began. That is the
		 * position of the first report or of the job's checkpoint, whichever is less. */
		run->checkpoint_samples = fmin(job->progress.checkpoint_samples,
					       run->first_samples);
		since_s = run->launch_boot_s;
	}
	if (run->last_samples > run->checkpoint_samples) {
		run->lost_samples += run->last_samples - run->checkpoint_samples;
		run->lost_s += fmax(end_boot_s - since_s, 0);
	}
}
