/* cmd_cancel.c - pollux cancel: end jobs for good. */
#include "commands.h"
#include "job_change.h"
#include "on_end.h"
#include "pollux/store_events.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"

int cancel_job(struct session *s, const struct job *job, struct run_list *runs, struct err *err)
{
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			       job_state_name(job->state));
	if (stop_runs_of_job(s, job->id, STOP_CANCEL, runs, err) ||
	    store_event_add(&s->store, job->id, 0, "cancel", "asked to cancel", err))
		return -1;
	/* A running job is cancelled when its processes are gone. */
	return runs->count ? 0
		: store_job_set_state(&s->store, job->id, JOB_CANCELLED, "cancelled", err);
}

static int cancel(struct session *s, const struct job *job, const struct asked_change *o,
		  struct run_list *runs, struct err *err)
{
	(void)o;
	return cancel_job(s, job, runs, err);
}

static int main_cancel(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = cancel, .done = "cancelled", .stopping = "asked to stop, to be cancelled",
		.loss = LOSS_ASKED, .unrecorded = STOP_CANCEL,
		.then_pass = true,	/* for jobs that come after this one */
	};
	int rc = change_jobs(&cmd_cancel, &change, argc, argv, err);

	if (rc == 0)
		on_end_look();
	return rc;
}

const struct command cmd_cancel = {
	.name = "cancel", .synopsis = "[--force] [--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "end jobs for good; running ones may save first",
	.example = "pollux cancel 3 4\n"
		   "pollux cancel 15-20\n"
		   "pollux cancel 'lr*' --state queued --dry-run",
	.options = stop_options, .takes_jobs = true, .job_use = USE_CANCEL,
	.run = main_cancel,
};
