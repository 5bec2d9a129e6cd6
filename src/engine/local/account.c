/* account.c - work since the last checkpoint has to be done again. */
#include <math.h>

#include "account.h"

/* The job falls back to the position where the run began: that of the first report or of the job's
 * checkpoint, whichever is less. Where it is in doubt whether the job stands at its checkpoint, the
 * first report tells. */
static void fall_back_to_begin(const struct job *job, struct run *run)
{
	double known = job->progress.checkpoint_samples;

	run->checkpoint_samples = job->progress.position_doubt == POSITION_KNOWN ||
				  isnan(run->first_samples)
		? fmin(known, run->first_samples) : run->first_samples;
}

static void lose_samples(struct run *run, double to_samples, double since_s, double end_boot_s)
{
	if (!(run->last_samples > to_samples))
		return;
	run->lost_samples += run->last_samples - to_samples;
	run->lost_s += fmax(end_boot_s - since_s, 0);
}

void account_for_loss(const struct job *job, struct run *run, const struct fallback *unreported,
		      double end_boot_s)
{
	if (run->outcome == OUTCOME_COMPLETED || run->outcome == OUTCOME_NOT_STARTED)
		return;
	if (isfinite(run->checkpoint_samples)) {
		lose_samples(run, run->checkpoint_samples, run->checkpoint_boot_s, end_boot_s);
	} else if (isfinite(job->progress.checkpoint_samples)) {
		fall_back_to_begin(job, run);
		lose_samples(run, run->checkpoint_samples, run->launch_boot_s, end_boot_s);
	} else if (isfinite(unreported->samples)) {
		run->stands_at_samples = unreported->samples;
		lose_samples(run, unreported->samples, unreported->boot_s, end_boot_s);
	}
}
