/* told_ends.c - tells when jobs will end, at fixed parts of their work, to be compared with when
 * they did. */
#include <math.h>
#include <stdlib.h>

#include "pollux/ends.h"
#include "pollux/mem.h"
#include "simulation.h"

static double part_at(int k)
{
	return k ? (k - 0.5) / (SIM_ENDS - 1) : 0;
}

/* True if the job has done the part of its work at which its end is to be told next. */
static bool is_due(struct sim_job *job)
{
	int before = job->n_ends;

	if (!job->ends) {
		job->ends = xcalloc(SIM_ENDS, sizeof(*job->ends));
		for (int k = 0; k < SIM_ENDS; k++)
			job->ends[k].time_s = (double)NAN;
	}
	while (job->n_ends < SIM_ENDS && job->progress >= part_at(job->n_ends) * job_end(job))
		job->n_ends++;
	return job->n_ends > before;
}

static void set_end(const struct simulation *s, struct sim_job *job, const struct job_ends *told)
{
	job->ends[job->n_ends - 1] = (struct sim_end){
		.part = job->progress / job_end(job), .time_s = s->now_s,
		.from_s = s->now_s + told->from_s, .middle_s = s->now_s + told->middle_s,
		.to_s = s->now_s + told->to_s,
	};
}

static struct ends_stream stream_of(const struct simulation *s)
{
	double newest[ENDS_NEWEST];
	int n = 0;

	for (int i = s->n_submitted - 1; i >= 0 && n < ENDS_NEWEST; i--)
		newest[n++] = s->workload->jobs[i].submit_s;
	return ends_stream_of(newest, n, s->now_s);
}

int tell_ends(struct simulation *s, struct err *err)
{
	size_t n = (size_t)s->n_active;
	bool *due = xcalloc(n, sizeof(*due)), any = false;
	struct sched_job *told = xcalloc(n, sizeof(*told));
	struct job_ends *ends = xcalloc(n, sizeof(*ends));
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		any |= due[i] = is_due(s->active[i]);
	for (size_t i = 0; any && rc == 0 && i < n; i++)
		rc = job_tell(s, s->active[i], &told[i], err);
	if (any && rc == 0) {
		struct sched_input in = sched_input_of(s, told);
		struct ends_stream stream = stream_of(s);

		ends_of(&in, &stream, due, ends);
		for (size_t i = 0; i < n; i++)
			if (due[i])
				set_end(s, s->active[i], &ends[i]);
	}
	free(due);
	free(told);
	free(ends);
	return rc;
}
