/* cmd_requeue.c - pollux requeue: run ended jobs again, or relaunch running ones, from their
 * checkpoints. */
#include "job_change.h"

/* A stop for another reason is stronger than a requeue. */
static int refuse_if_stopping(struct session *s, int64_t job_id, struct err *err)
{
	enum stop_reason pending;

	if (pending_stop(s, job_id, &pending, err))
		return -1;
	if (pending == STOP_HOLD)
		return err_set(err, EX_FAILED,
			       "job %lld is being held, which wins; 'pollux release %lld' has it "
			       "queued again", (long long)job_id, (long long)job_id);
	if (pending == STOP_CANCEL || pending == STOP_TIME_LIMIT)
		return err_set(err, EX_FAILED,
			       "job %lld is being stopped for good, which wins: %s; requeue it "
			       "when it has stopped", (long long)job_id,
			       stop_reason_words(pending));
	return 0;
}

static int requeue(struct session *s, const struct job *job, struct run_list *runs, struct err *err)
{
	if (job->profile)
		return err_set(err, EX_FAILED,
			       "job %lld is a profile: 'pollux profile' makes another",
			       (long long)job->id);
	if (job->state == JOB_QUEUED || job->state == JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is %s: nothing to requeue",
			       (long long)job->id, job_state_name(job->state));
	if (refuse_if_stopping(s, job->id, err))
		return -1;
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
		.loss = LOSS_REFUSED,
	};

	return change_jobs(&cmd_requeue, &change, argc, argv, err);
}

const struct command cmd_requeue = {
	.name = "requeue", .synopsis = "[--force] [--dry-run] ID...",
	.summary = "run ended jobs again, or relaunch running ones", .example = "pollux requeue 3",
	.options = stop_options, .run = main_requeue,
};
