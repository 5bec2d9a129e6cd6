/* cmd_requeue.c - pollux requeue: run ended jobs again, or relaunch running ones, from their
 * checkpoints. */
#include "job_change.h"

static int requeue(struct session *s, const struct job *job, struct run_list *runs, struct err *err)
{
	if (job->profile)
		return err_set(err, EX_FAILED,
			       "job %lld is a profile: 'pollux profile' makes another",
			       (long long)job->id);
	if (job->state == JOB_QUEUED || job->state == JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is %s: nothing to requeue",
			       (long long)job->id, job_state_name(job->state));
	if (store_event_add(&s->store, job->id, 0, "requeue", "asked to requeue", err) ||
	    store_job_forgive(&s->store, job->id, err))
		return -1;
	if (job->state == JOB_RUNNING)
		return stop_runs_of_job(s, job->id, STOP_REQUEUE, runs, err);
	return store_job_requeue(&s->store, job->id, err);
}

static int main_requeue(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = requeue, .done = "queued again",
		.stopping = "asked to stop, to be queued again",
	};

	return change_jobs(&cmd_requeue, &change, argc, argv, err);
}

const struct command cmd_requeue = {
	.name = "requeue", .synopsis = "ID...",
	.summary = "run ended jobs again, or relaunch running ones", .example = "pollux requeue 3",
	.run = main_requeue,
};
