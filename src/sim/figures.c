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
	autofree double *times = xcalloc((size_t)n, sizeof(*times));
	double sum = 0;
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
	return f;
}

/* --- of several simulations --- */

enum { N_FIGURES = sizeof(struct sim_figures) / sizeof(double) };
_Static_assert(sizeof(struct sim_figures) == N_FIGURES * sizeof(double),
	       "struct sim_figures is of doubles only");

typedef double reduction(const double *values, int n);

/* Reduces the n values of each figure to one. */
static struct sim_figures reduce(const struct sim_figures *figures, int n, reduction *to_one)
{
	double *values = xcalloc((size_t)n, sizeof(*values)), reduced[N_FIGURES] = { 0 };
	struct sim_figures result;

	for (size_t k = 0; k < N_FIGURES; k++) {
		for (int i = 0; i < n; i++)
			memcpy(&values[i], (const char *)&figures[i] + k * sizeof(double),
			       sizeof(double));
		reduced[k] = to_one(values, n);
	}
	memcpy(&result, reduced, sizeof(result));
	free(values);
	return result;
}

static double mean(const double *values, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += values[i] / n;
	return sum;
}

struct sim_figures sim_figures_mean(const struct sim_figures *figures, int n)
{
	return reduce(figures, n, mean);
}

/* The probability that a value of Student's t with this many degrees of freedom is between -t and
 * t (M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4). */
static double student_between(double t, int degrees)
{
	double angle = atan(t / sqrt(degrees)), cosine = cos(angle);
	bool odd = degrees % 2;
	double term = odd ? cosine : 1, sum = degrees > 1 ? term : 0;

	for (int k = odd ? 3 : 2; k < degrees; k += 2) {
		term *= cosine * cosine * (k - 1) / k;
		sum += term;
	}
	return odd ? (angle + sin(angle) * sum) * 2 / acos(-1) : sin(angle) * sum;
}

/* The t that 95 % of the values are within. With 1 degree of freedom, as two draws have it, the
 * expansion of student_quantile() (step_stats.h) is 11 % too small. */
static double student_95(int degrees)
{
	double low = 0, high = 16;	/* 12.7 with one degree of freedom */

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (student_between(middle, degrees) < 0.95)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double half_width(const double *values, int n)
{
	double centre = mean(values, n), squares = 0;

	if (n < 2)
		return (double)NAN;
	for (int i = 0; i < n; i++)
		squares += (values[i] - centre) * (values[i] - centre);
	return student_95(n - 1) * sqrt(squares / (n - 1) / n);
}

struct sim_figures sim_figures_half_width(const struct sim_figures *figures, int n)
{
	return reduce(figures, n, half_width);
}

/* --- the history --- */

double replay_median_error(const struct sim_job_result *a, const struct sim_job_result *b, int n)
{
	autofree double *errors = xcalloc((size_t)n, sizeof(*errors));
	int known = 0;

	for (int i = 0; i < n; i++)
		if (jct_s(&b[i]) > 0)
			errors[known++] = fabs(jct_s(&a[i]) - jct_s(&b[i])) / jct_s(&b[i]);
	return quantile(errors, known, 0.5);
}
