/* cmd_requeue.c - pollux requeue: run ended jobs again, or relaunch running ones; from their checkpoints. */
#include "command.h"
#include "job_change.h"

static int requeue_in_transaction(struct session *s, int64_t id, struct run_list *runs,
				  struct err *err)
{
	struct job job;
	enum job_state state;
	bool profile;

	if (store_job_get(&s->store, id, &job, err))
		return -1;
	state = job.state;
	profile = job.profile;
	job_release(&job);
	if (profile)
		return err_set(err, EX_FAILED, "job %lld is a profile: 'pollux profile' makes another",
			       (long long)id);
	if (state == JOB_QUEUED || state == JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is %s: nothing to requeue", (long long)id,
			       job_state_name(state));
	if (store_event_add(&s->store, id, 0, "requeue", "asked to requeue", err) ||
	    store_job_forgive(&s->store, id, err))
		return -1;
	if (state == JOB_RUNNING)
		return stop_runs_of_job(s, id, STOP_REQUEUE, runs, err);
	return store_job_requeue(&s->store, id, err);
}

static int requeue(struct session *s, int64_t id, struct err *err)
{
	static const struct job_change change = {
		.act = requeue_in_transaction, .done = "queued again",
		.stopping = "asked to stop, to be queued again",
	};

	return change_job(s, id, &change, err);
}

static int run(int argc, char **argv, struct err *err)
{
	int first;

	if (options_parse(&cmd_requeue, argc, argv, NULL, &first, err))
		return -1;
	return for_each_job(&cmd_requeue, argc, argv, first, requeue, err);
}

const struct command cmd_requeue = {
	.name = "requeue",
	.synopsis = "ID...",
	.summary = "run ended jobs again, or relaunch running ones",
	.example = "pollux requeue 3",
	.run = run,
};
