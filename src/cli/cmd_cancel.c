/* cmd_cancel.c - pollux cancel: end jobs for good. */
#include "command.h"
#include "job_change.h"

static int cancel_in_transaction(struct session *s, int64_t id, struct run_list *runs,
				 struct err *err)
{
	struct job job;
	enum job_state state;

	if (store_job_get(&s->store, id, &job, err))
		return -1;
	state = job.state;
	job_release(&job);
	if (job_has_ended(state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)id,
			       job_state_name(state));
	if (stop_runs_of_job(s, id, STOP_CANCEL, runs, err))
		return -1;
	if (store_event_add(&s->store, id, 0, "cancel", "asked to cancel", err))
		return -1;
	/* A running job is cancelled when its processes are gone. */
	return runs->count ? 0 : store_job_set_state(&s->store, id, JOB_CANCELLED, "cancelled", err);
}

static int cancel(struct session *s, int64_t id, struct err *err)
{
	static const struct job_change change = {
		.act = cancel_in_transaction, .done = "cancelled",
		.stopping = "asked to stop, to be cancelled",
	};

	return change_job(s, id, &change, err);
}

static int run(int argc, char **argv, struct err *err)
{
	int first;

	if (options_parse(&cmd_cancel, argc, argv, NULL, &first, err))
		return -1;
	return for_each_job(&cmd_cancel, argc, argv, first, cancel, err);
}

const struct command cmd_cancel = {
	.name = "cancel",
	.synopsis = "ID...",
	.summary = "end jobs for good; running ones may save first",
	.example = "pollux cancel 3 4",
	.run = run,
};
