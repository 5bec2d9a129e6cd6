/* cmd_release.c - pollux release: let held jobs go, and jobs that are paused at a rung; a hold that
 * is still at work is taken back. */
#include "commands.h"
#include "job_change.h"
#include "pollux/store_events.h"
#include "pollux/store_groups.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"

static int take_back(struct session *s, const struct job *job, struct run_list *runs,
		     struct err *err)
{
	if (store_runs_take_back_hold(&s->store, job->id, err) ||
	    store_event_add(&s->store, job->id, 0, "release",
			    "released while it stops: to be queued again", err))
		return -1;
	/* A weaker reason changes nothing: this collects the runs, whose supervisors are woken. */
	return stop_runs_of_job(s, job->id, STOP_PREEMPT, runs, err);
}

static int pass_rungs(struct session *s, const struct job *job, struct err *err)
{
	return store_job_pass_all_rungs(&s->store, job->id, err) ||
	       store_event_add(&s->store, job->id, 0, "release", "released from its rung", err) ||
	       store_job_set_state(&s->store, job->id, JOB_QUEUED, "released from its rung",
				   err) ? -1 : 0;
}

static int release_job(struct session *s, const struct job *job, const struct asked_change *o,
		       struct run_list *runs, struct err *err)
{
	enum stop_reason pending;

	(void)o;
	if (pending_stop(s, job->id, &pending, err))
		return -1;
	if (job->state == JOB_RUNNING && pending == STOP_HOLD)
		return take_back(s, job, runs, err);
	if (job_is_paused(job))
		return pass_rungs(s, job, err);
	if (job->state != JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is not held: %s", (long long)job->id,
			       job_state_name(job->state));
	if (store_event_add(&s->store, job->id, 0, "release", "released", err))
		return -1;
	return store_job_set_state(&s->store, job->id, JOB_QUEUED, "released", err);
}

static int main_release(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = release_job, .done = "released", .then_pass = true,
		.stopping = "released: queued again when it has stopped",
	};

	return change_jobs(&cmd_release, &change, argc, argv, err);
}

const struct command cmd_release = {
	.name = "release", .synopsis = "[--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "let held jobs go, and those paused at a rung",
	.example = "pollux release 3\n"
		   "pollux release --state held --yes",
	.options = change_options, .takes_jobs = true, .job_use = USE_RELEASE,
	.run = main_release,
};
