/* replay_figures.c - figures of a replay, or of the real history. */
#include <math.h>
#include <stdlib.h>

#include "figures.h"
#include "pollux/mem.h"
#include "pollux/replay.h"

static double jct_s(const struct sim_job_result *job)
{
	return job->finish_s - job->submit_s;
}

void replay_figures(const struct sim_job_result *results, const double *device_s, int n,
		    struct replay_figures *f)
{
	double *times = xcalloc((size_t)n, sizeof(*times)), first_s = (double)NAN,
	       last_s = (double)NAN;
	double sum = 0;

	*f = (struct replay_figures){ .n_jobs = n };
	for (int i = 0; i < n; i++) {
		times[i] = jct_s(&results[i]);
		sum += times[i];
		first_s = fmin(first_s, results[i].submit_s);
		last_s = fmax(last_s, results[i].finish_s);
		f->restarts += results[i].restarts;
		f->device_hours += device_s[i] / 3600;
	}
	f->avg_jct_s = n ? sum / n : (double)NAN;
	f->median_jct_s = quantile(times, n, 0.5);
	f->p99_jct_s = quantile(times, n, 0.99);
	f->makespan_s = last_s - first_s;
	free(times);
}

double replay_median_error(const struct sim_job_result *a, const struct sim_job_result *b, int n)
{
	double *errors = xcalloc((size_t)n, sizeof(*errors)), median;
	int known = 0;

	for (int i = 0; i < n; i++)
		if (jct_s(&b[i]) > 0)
			errors[known++] = fabs(jct_s(&a[i]) - jct_s(&b[i])) / jct_s(&b[i]);
	median = quantile(errors, known, 0.5);
	free(errors);
	return median;
}
