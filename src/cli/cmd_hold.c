/* cmd_hold.c - pollux hold: keep jobs from running; running ones are stopped first. */
#include "commands.h"
#include "job_change.h"
#include "pollux/store_events.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"

static int hold(struct session *s, const struct job *job, const struct asked_change *o,
		struct run_list *runs, struct err *err)
{
	enum stop_reason pending;

	(void)o;
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			       job_state_name(job->state));
	if (job->profile)
		return err_set(err, EX_FAILED, "job %lld is a profile, which cannot be held",
			       (long long)job->id);
	if (job->interactive)
		return err_set(err, EX_FAILED, "job %lld is of 'pollux run', which cannot "
			       "be held: its terminal waits for it", (long long)job->id);
	if (job->state == JOB_HELD)
		return 0;
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (pending == STOP_CANCEL || pending == STOP_TIME_LIMIT || pending == STOP_DIVERGED)
		return err_set(err, EX_FAILED, "job %lld is being stopped for good, which wins: %s",
			       (long long)job->id, stop_reason_words(pending));
	if (stop_runs_of_job(s, job->id, STOP_HOLD, runs, err) ||
	    store_event_add(&s->store, job->id, 0, "hold", "asked to hold", err))
		return -1;
	return runs->count ? 0
		: store_job_hold(&s->store, job->id, "held", err);
}

static int main_hold(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = hold, .done = "held", .stopping = "asked to stop, to be held",
		.loss = LOSS_REFUSED, .unrecorded = STOP_HOLD,
	};

	return change_jobs(&cmd_hold, &change, argc, argv, err);
}

const struct command cmd_hold = {
	.name = "hold", .synopsis = "[--force] [--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "keep jobs from running until they are released", .example = "pollux hold 3",
	.options = stop_options, .takes_jobs = true, .job_use = USE_HOLD,
	.run = main_hold,
};
