/* figures.c - means and quantiles, of simulations and of the real history. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/replay.h"
#include "pollux/text.h"
#include "world.h"

double quantile(double *values, int n, double q)
{
	double rank = q * (n - 1);
	int low = (int)rank;

	if (n < 1)
		return (double)NAN;
	qsort(values, (size_t)n, sizeof(*values), number_compare);
	if (low >= n - 1)
		return values[n - 1];
	return values[low] + (rank - low) * (values[low + 1] - values[low]);
}

static double jct_s(const struct sim_job_result *job)
{
	return job->finish_s - job->submit_s;
}

struct sim_figures sim_figures_of(const struct sim_job_result *jobs, int n, double from_s)
{
	struct sim_figures f = { .makespan_s = n ? 0 : (double)NAN };
	double *times = xcalloc((size_t)n, sizeof(*times)), sum = 0;
	int unfair = 0;

	for (int i = 0; i < n; i++) {
		times[i] = jct_s(&jobs[i]);
		sum += times[i];
		f.makespan_s = fmax(f.makespan_s, jobs[i].finish_s - from_s);
		f.restarts += jobs[i].restarts;
		f.gpu_hours += jobs[i].gpu_hours;
		f.communication_s += jobs[i].communication_s / n;
		f.worst_fairness = fmax(f.worst_fairness, jobs[i].fairness);
		unfair += jobs[i].fairness > 1;
	}
	f.avg_jct_s = n ? sum / n : (double)NAN;
	f.median_jct_s = quantile(times, n, 0.5);
	f.p99_jct_s = quantile(times, n, 0.99);
	f.unfair_fraction = n ? (double)unfair / n : (double)NAN;
	free(times);
	return f;
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
