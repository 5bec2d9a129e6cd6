/* cmd_hold.c - pollux hold: keep jobs from running; running ones are stopped and keep their place. */
#include "command.h"
#include "job_change.h"

static int hold_in_transaction(struct session *s, int64_t id, struct run_list *runs,
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
	if (job_has_ended(state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)id,
			       job_state_name(state));
	if (profile)
		return err_set(err, EX_FAILED, "job %lld is a profile, which cannot be held", (long long)id);
	if (state == JOB_HELD)
		return 0;
	if (stop_runs_of_job(s, id, STOP_HOLD, runs, err) ||
	    store_event_add(&s->store, id, 0, "hold", "asked to hold", err))
		return -1;
	return runs->count ? 0
		: store_job_set_state(&s->store, id, JOB_HELD,
				      "held; 'pollux release' lets it go", err);
}

static int hold(struct session *s, int64_t id, struct err *err)
{
	static const struct job_change change = {
		.act = hold_in_transaction, .done = "held",
		.stopping = "asked to stop, to be held",
	};

	return change_job(s, id, &change, err);
}

static int run(int argc, char **argv, struct err *err)
{
	int first;

	if (options_parse(&cmd_hold, argc, argv, NULL, &first, err))
		return -1;
	return for_each_job(&cmd_hold, argc, argv, first, hold, err);
}

const struct command cmd_hold = {
	.name = "hold",
	.synopsis = "ID...",
	.summary = "keep jobs from running until they are released",
	.example = "pollux hold 3",
	.run = run,
};
