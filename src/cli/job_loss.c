/* job_loss.c - the work that a running job would lose if it were stopped now. */
#include <math.h>

#include "job_loss.h"
#include "pollux/clock.h"
#include "pollux/store_runs.h"

static double running_s(const struct run *run)
{
	if (isfinite(run->launch_boot_s) && run_is_of_this_boot(run))
		return fmax(run_clock_s(run, clock_boot_s()) - run->launch_boot_s, 0);
	return run->duration_s;
}

static bool saved_in_this_run(const struct run *run)
{
	return isfinite(run->checkpoint_boot_s) && run->checkpoint_boot_s > run->launch_boot_s &&
	       run_is_of_this_boot(run);
}

/* A program whose GPU memory is in the host's may not get its GPU back before it is stopped. */
static struct job_loss loss_of_frozen(const struct run *run)
{
	double saved_s = saved_in_this_run(run) ? run->checkpoint_boot_s : run->launch_boot_s;

	return (struct job_loss){ fmax(run_clock_s(run, clock_boot_s()) - saved_s, 0),
		"is suspended without its GPU memory, and may not be able to save" };
}

static struct job_loss loss_of_run(const struct job *job, const struct run *run)
{
	if (job_may_be_preempted(job, run) && run->freeze_state == FREEZE_FROZEN)
		return loss_of_frozen(run);
	if (job_may_be_preempted(job, run))
		return (struct job_loss){ .work_s = NAN };
	if (!saved_in_this_run(run))
		return (struct job_loss){ running_s(run),
			isfinite(job->progress.checkpoint_samples)
				? "has saved nothing since its last launch" : "has saved nothing" };
	if (job->declared.preemption == PREEMPT_SAVED)
		return (struct job_loss){ running_s(run), "was never seen to resume" };
	return (struct job_loss){
		fmax(run_clock_s(run, clock_boot_s()) - run->checkpoint_boot_s, 0),
		"has saved nothing since its last checkpoint" };
}

int job_loss_of(struct session *s, const struct job *job, struct job_loss *loss, struct err *err)
{
	struct run_list runs;

	*loss = (struct job_loss){ .work_s = NAN };
	if (job->profile || job->state != JOB_RUNNING)
		return 0;
	if (store_runs_active_of(&s->store, job->id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++) {
		const struct run *run = &runs.items[i];

		if (run->state == RUN_RUNNING && run->stop_reason == STOP_NONE)
			*loss = loss_of_run(job, run);
	}
	run_list_release(&runs);
	return 0;
}
