/* cmd_first.c - pollux first: the next in line, under every policy. */
#include "commands.h"
#include "job_change.h"
#include "pollux/clock.h"
#include "pollux/report.h"
#include "pollux/store_events.h"
#include "pollux/store_jobs.h"

/* If several jobs are named, the first one named comes first. */
static int put_first(struct session *s, const struct job *job, const struct asked_change *o,
		     struct run_list *runs, struct err *err)
{
	static int rank;	/* of the next job */

	(void)runs;
	if (job->profile)
		return err_set(err, EX_FAILED, "job %lld is a profile, which waits for nobody",
			       (long long)job->id);
	if (job->interactive)
		return err_set(err, EX_FAILED, "job %lld is of 'pollux run', "
			       "which comes first without that", (long long)job->id);
	if (job->state == JOB_RUNNING)
		return err_set(err, EX_FAILED, "job %lld is not in line: it has started already",
			       (long long)job->id);
	if (job_has_ended(job->state))
		return err_set(err, EX_FAILED, "job %lld has ended already: %s", (long long)job->id,
			       job_state_name(job->state));
	if (job_is_paused(job))
		return refuse_paused(job, err);
	if (store_event_add(&s->store, job->id, 0, "first", "put first in line", err))
		return -1;
	if (store_job_put_first(&s->store, job->id, o->n_jobs, &rank, err))
		return -1;
	if (job->declared.begin_s > clock_wall_s() && !o->dry_run)
		output_messagef("job %lld waits for its --begin, %s, all the same; 'pollux edit "
				"%lld --begin now' lets it start", (long long)job->id,
				format_time(job->declared.begin_s, clock_wall_s()).s,
				(long long)job->id);
	return 0;
}

static int main_first(int argc, char **argv, struct err *err)
{
	static const struct job_change change = {
		.act = put_first, .done = "first in line", .then_pass = true,
	};

	return change_jobs(&cmd_first, &change, argc, argv, err);
}

const struct command cmd_first = {
	.name = "first", .synopsis = "[--dry-run] [--yes] [SELECTION] [JOB...]",
	.summary = "give waiting jobs devices before any other waiting job",
	.example = "pollux first 7", .options = change_options, .takes_jobs = true,
	.job_use = USE_FIRST, .run = main_first,
};
