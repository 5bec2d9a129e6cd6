/* figures.c - means and quantiles, of simulations and of the real history. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/replay.h"
#include "world.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile(double *values, int n, double q)
{
	double rank = q * (n - 1);
	int low = (int)rank;

	if (n < 1)
		return (double)NAN;
	qsort(values, (size_t)n, sizeof(*values), by_value);
	if (low >= n - 1)
		return values[n - 1];
	return values[low] + (rank - low) * (values[low + 1] - values[low]);
}

static double jct_s(const struct sim_job_result *job)
{
	return job->finish_s - job->submit_s;
}

void figures_of_jobs(struct sim_result *result)
{
	struct sim_figures *f = &result->figures;
	int n = result->workload->n_jobs, unfair = 0;
	double *times = xcalloc((size_t)n, sizeof(*times)), sum = 0;

	for (int i = 0; i < n; i++) {
		const struct sim_job_result *job = &result->jobs[i];

		times[i] = jct_s(job);
		sum += times[i];
		f->makespan_s = fmax(f->makespan_s, job->finish_s);
		f->restarts += job->restarts;
		f->gpu_hours += job->gpu_hours;
		f->communication_s += job->communication_s / n;
		f->worst_fairness = fmax(f->worst_fairness, job->fairness);
		unfair += job->fairness > 1;
	}
	f->avg_jct_s = n ? sum / n : (double)NAN;
	f->median_jct_s = quantile(times, n, 0.5);
	f->p99_jct_s = quantile(times, n, 0.99);
	f->unfair_fraction = n ? (double)unfair / n : (double)NAN;
	f->rounds = result->n_rounds;
	free(times);
}

struct sim_figures sim_figures_mean(const struct sim_result *results, int n)
{
	enum { N = sizeof(struct sim_figures) / sizeof(double) };
	struct sim_figures mean;
	double sums[N] = { 0 }, one[N];

	_Static_assert(sizeof(mean) == sizeof(sums), "struct sim_figures is of doubles only");
	for (int i = 0; i < n; i++) {
		memcpy(one, &results[i].figures, sizeof(one));
		for (int k = 0; k < N; k++)
			sums[k] += one[k] / n;
	}
	memcpy(&mean, sums, sizeof(mean));
	return mean;
}

/* --- of a replay, or of the real history --- */

void replay_figures(const struct sim_job_result *results, int n, struct replay_figures *f)
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
		f->device_hours += results[i].gpu_hours;
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
