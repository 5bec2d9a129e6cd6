/* cmd_release.c - pollux release: let held jobs go. */
#include "job_change.h"

static int release(struct session *s, const struct job *job, struct run_list *runs, struct err *err)
{
	(void)runs;
	if (job->state != JOB_HELD)
		return err_set(err, EX_FAILED, "job %lld is not held: %s", (long long)job->id,
			       job_state_name(job->state));
	if (store_event_add(&s->store, job->id, 0, "release", "released", err))
		return -1;
	return store_job_set_state(&s->store, job->id, JOB_QUEUED, "released", err);
}

static int main_release(int argc, char **argv, struct err *err)
{
	static const struct job_change change = { .act = release, .done = "released" };

	return change_jobs(&cmd_release, &change, argc, argv, err);
}

const struct command cmd_release = {
	.name = "release", .synopsis = "ID...", .summary = "let held jobs go",
	.example = "pollux release 3", .run = main_release,
};
