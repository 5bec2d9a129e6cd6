/* memory_model.c - see pollux/tried_sizes.h. */
#include "pollux/tried_sizes.h"

#include <math.h>

#define N 3			/* F, S, A */
#define SINGULAR 1e-9		/* a pivot below this part of its diagonal counts as 0 */

/* --- the equations --- */

struct normal_equations {
	double a[N][N], b[N];
	double square;			/* of the right-hand sides */
};

static void factors(bool shared, double workers, double m, double *x)
{
	x[0] = shared ? workers : 1;
	x[1] = shared ? 1 : 1 / workers;
	x[2] = shared ? workers * m : m;
}

/* --- non-negative least squares: the best of all sets of variables that are not 0 --- */

/* Solves for the variables of the set. False: the set is not independent, or there is no solution
 * of values above 0. */
static bool solve_set(const struct normal_equations *equations, unsigned set, double *x)
{
	struct normal_equations e = *equations;

	for (int i = 0; i < N; i++) {
		if (!(set & 1U << i))
			continue;
		if (!(e.a[i][i] > SINGULAR * equations->a[i][i]))
			return false;
		for (int k = 0; k < N; k++) {
			double part = e.a[k][i] / e.a[i][i];

			if (k == i || !(set & 1U << k))
				continue;
			for (int j = 0; j < N; j++)
				e.a[k][j] -= part * e.a[i][j];
			e.b[k] -= part * e.b[i];
		}
	}
	for (int i = 0; i < N; i++) {
		x[i] = (set & 1U << i) ? e.b[i] / e.a[i][i] : 0;
		if ((set & 1U << i) && !(x[i] > 0))
			return false;
	}
	return true;
}

static double error_of(const struct normal_equations *e, const double *x)
{
	double error = e->square;

	for (int i = 0; i < N; i++) {
		error -= 2 * x[i] * e->b[i];
		for (int j = 0; j < N; j++)
			error += x[i] * e->a[i][j] * x[j];
	}
	return error;
}

static bool varies(const struct memory_peak *peaks, int n, bool by_workers)
{
	for (int i = 1; i < n; i++)
		if (by_workers ? peaks[i].workers != peaks[0].workers
			       : peaks[i].local_batch_size != peaks[0].local_batch_size)
			return true;
	return false;
}

/* Each equation is divided by its peak: errors are relative. */
struct memory_model memory_model_fit(const struct memory_peak *peaks, int n, bool shared)
{
	struct memory_model m = { .shared = shared };
	struct normal_equations e = { .square = n };
	bool divides = varies(peaks, n, true);
	double least = HUGE_VAL, x[N];

	if (n < MEMORY_MODEL_PEAKS || !varies(peaks, n, false))
		return m;
	for (int k = 0; k < n; k++) {
		factors(shared, peaks[k].workers, (double)peaks[k].local_batch_size, x);
		for (int i = 0; i < N; i++) {
			e.b[i] += x[i] / peaks[k].bytes;
			for (int j = 0; j < N; j++)
				e.a[i][j] += x[i] * x[j] / (peaks[k].bytes * peaks[k].bytes);
		}
	}
	for (unsigned set = 1; set < 1U << N; set++) {
		if ((!divides && (set & 2)) || !solve_set(&e, set, x) || !(error_of(&e, x) < least))
			continue;
		least = error_of(&e, x);
		m.fixed_bytes = x[0];
		m.divided_bytes = x[1];
		m.sample_bytes = x[2];
		m.known = true;
	}
	return m;
}

/* --- what it tells --- */

double memory_model_bytes(const struct memory_model *m, int workers, double local_batch_size)
{
	double x[N];

	factors(m->shared, workers, local_batch_size, x);
	return x[0] * m->fixed_bytes + x[1] * m->divided_bytes + x[2] * m->sample_bytes;
}

int64_t memory_model_most(const struct memory_model *m, int workers)
{
	double none, x[N], most;

	/* Where nobody works, nothing needs memory. */
	if (!m->known || !(m->limit_bytes > 0) || !(m->sample_bytes > 0) || workers < 1)
		return INT64_MAX;
	factors(m->shared, workers, 1, x);
	none = memory_model_bytes(m, workers, 0);
	most = floor((m->limit_bytes - none) / (x[2] * m->sample_bytes));
	return most < 1 ? 0 : most < 1e18 ? (int64_t)most : INT64_MAX;
}

/* --- the host's memory --- */


/* A line over the numbers of replicas, through the most of each number. */
double memory_host_need(const struct memory_peak *peaks, int n, int workers)
{
	/* sums of 1, R and R^2, of y and R y, all over y^2 */
	double one = 0, by_r = 0, by_rr = 0, y = 0, by_ry = 0, most = 0;
	double determinant, fixed, each;
	int n_sums = 0;

	for (int i = 0; i < n; i++) {
		double r = peaks[i].workers, bytes = peaks[i].bytes, weight;
		bool is_most = bytes > 0 && r >= 1;

		for (int k = 0; k < n; k++)
			is_most &= peaks[k].workers != peaks[i].workers ||
				   !(peaks[k].bytes > bytes || (k < i && peaks[k].bytes >= bytes));
		if (!is_most)
			continue;
		if (peaks[i].workers == workers)
			return bytes;
		weight = 1 / (bytes * bytes);
		n_sums++;
		one += weight;
		by_r += weight * r;
		by_rr += weight * r * r;
		y += weight * bytes;
		by_ry += weight * bytes * r;
		most = bytes * fmax(1, workers / r);
	}
	if (n_sums < 2)
		return most;
	determinant = one * by_rr - by_r * by_r;
	fixed = (by_rr * y - by_r * by_ry) / determinant;
	each = (one * by_ry - by_r * y) / determinant;
	if (!(fixed > 0))
		return workers * by_ry / by_rr;
	return each > 0 ? fixed + each * workers : y / one;
}
