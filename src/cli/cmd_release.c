/* cmd_release.c - pollux release: let held jobs go. */
#include "command.h"
#include "job_change.h"

static int release_in_transaction(struct session *s, int64_t id, struct run_list *runs,
				  struct err *err)
{
	struct job job;
	enum job_state state;

	(void)runs;
	if (store_job_get(&s->store, id, &job, err))
		return -1;
	state = job.state;
	job_release(&job);
	if (state != JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is not held: %s", (long long)id,
			       job_state_name(state));
	if (store_event_add(&s->store, id, 0, "release", "released", err))
		return -1;
	return store_job_set_state(&s->store, id, JOB_QUEUED, "released", err);
}

static int release(struct session *s, int64_t id, struct err *err)
{
	static const struct job_change change = {
		.act = release_in_transaction, .done = "released",
	};

	return change_job(s, id, &change, err);
}

static int run(int argc, char **argv, struct err *err)
{
	int first;

	if (options_parse(&cmd_release, argc, argv, NULL, &first, err))
		return -1;
	return for_each_job(&cmd_release, argc, argv, first, release, err);
}

const struct command cmd_release = {
	.name = "release",
	.synopsis = "ID...",
	.summary = "let held jobs go",
	.example = "pollux release 3",
	.run = run,
};
