/* figures.c - means and quantiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "pollux/mem.h"

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

void figures_of_jobs(struct sim_result *result)
{
	struct sim_figures *f = &result->figures;
	int n = result->workload->n_jobs, unfair = 0;
	double *jct_s = xcalloc((size_t)n, sizeof(*jct_s)), sum = 0;

	for (int i = 0; i < n; i++) {
		const struct sim_job_result *job = &result->jobs[i];

		jct_s[i] = job->finish_s - job->submit_s;
		sum += jct_s[i];
		f->makespan_s = fmax(f->makespan_s, job->finish_s);
		f->restarts += job->restarts;
		f->gpu_hours += job->gpu_hours;
		f->communication_s += job->communication_s / n;
		f->worst_fairness = fmax(f->worst_fairness, job->fairness);
		unfair += job->fairness > 1;
	}
	f->avg_jct_s = sum / n;
	f->median_jct_s = quantile(jct_s, n, 0.5);
	f->p99_jct_s = quantile(jct_s, n, 0.99);
	f->unfair_fraction = (double)unfair / n;
	f->rounds = result->n_rounds;
	free(jct_s);
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
