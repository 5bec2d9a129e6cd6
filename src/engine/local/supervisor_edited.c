/* supervisor_edited.c - what a person asks of a job while the job runs. */
#include <math.h>

#include "pollux/clock.h"
#include "pollux/store_jobs.h"
#include "supervisor.h"

double supervisor_limit_left_s(const struct supervisor *s, double boot_s)
{
	const struct run *run = &s->run;
	double worked_s = run_clock_s(run, boot_s) - run->launch_boot_s;

	if (isnan(s->job.declared.time_limit_s))
		return INFINITY;
	return s->job.declared.time_limit_s - s->job.progress.run_time_s - worked_s;
}

/* Takes a changed time limit. While the run is suspended its time stands still, so the rest of the
 * limit is kept for its return. */
static void take_time_limit(struct supervisor *s, double time_limit_s)
{
	double now = clock_boot_s();

	s->job.declared.time_limit_s = time_limit_s;
	if (s->state == ST_RUNNING) {
		s->limit_left_s = supervisor_limit_left_s(s, now);
		s->limit_boot_s = now + s->limit_left_s;
	} else if (s->state >= ST_SUSPENDING && s->state <= ST_THAWING) {
		s->limit_left_s = supervisor_limit_left_s(s, s->run.suspended_boot_s);
	}
}

static bool is_same(double a, double b)
{
	return (isnan(a) && isnan(b)) || !(a < b || a > b || isnan(a) || isnan(b));
}

void supervisor_read_declared(struct supervisor *s)
{
	struct job job;
	struct err err;

	if (store_job_get(&s->store, s->job.id, &job, &err)) {
		supervisor_log(s, "%s", err.text);
		return;
	}
	if (!is_same(job.declared.time_limit_s, s->job.declared.time_limit_s))
		take_time_limit(s, job.declared.time_limit_s);
	if (!is_same(job.declared.log_limit_bytes, s->job.declared.log_limit_bytes))
		s->log_limit_bytes = 0;		/* found out again at the next look */
	s->job.declared.log_limit_bytes = job.declared.log_limit_bytes;
	s->job.declared.grace_s = job.declared.grace_s;
	s->job.declared.stop_nan = job.declared.stop_nan;
	recorder_watch_values(&s->recorder, job.declared.stop_nan, &s->command.metric_regexes);
	job_release(&job);
}
