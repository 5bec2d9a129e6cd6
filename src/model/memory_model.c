/* memory_model.c - see pollux/memory_model.h. */
#include "pollux/memory_model.h"

#include <math.h>
#include <string.h>

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

/* Divides each equation by its peak: errors are relative. */
static struct normal_equations equations_of(const struct memory_peak *peaks, int n, bool shared)
{
	struct normal_equations e = { .square = n };

	for (int k = 0; k < n; k++) {
		double x[N];

		factors(shared, peaks[k].workers, (double)peaks[k].local_batch_size, x);
		for (int i = 0; i < N; i++) {
			e.b[i] += x[i] / peaks[k].bytes;
			for (int j = 0; j < N; j++)
				e.a[i][j] += x[i] * x[j] / (peaks[k].bytes * peaks[k].bytes);
		}
	}
	return e;
}

/* --- non-negative least squares: the best of all sets of variables that are not 0 --- */

/* Eliminates variable i from the others of the set. False if the set is not independent. */
static bool eliminate(struct normal_equations *e, unsigned set, int i, double diagonal)
{
	if (!(e->a[i][i] > SINGULAR * diagonal))
		return false;
	for (int k = 0; k < N; k++) {
		double part = e->a[k][i] / e->a[i][i];

		if (k == i || !(set & 1U << k))
			continue;
		for (int j = 0; j < N; j++)
			e->a[k][j] -= part * e->a[i][j];
		e->b[k] -= part * e->b[i];
	}
	return true;
}

/* Solves for the variables of the set. False: there is no unique solution of values above 0. */
static bool solve_set(const struct normal_equations *equations, unsigned set, double *x)
{
	struct normal_equations e = *equations;

	memset(x, 0, N * sizeof(*x));
	for (int i = 0; i < N; i++)
		if ((set & 1U << i) && !eliminate(&e, set, i, equations->a[i][i]))
			return false;
	for (int i = 0; i < N; i++) {
		if (!(set & 1U << i))
			continue;
		x[i] = e.b[i] / e.a[i][i];
		if (!(x[i] > 0))
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

struct memory_model memory_model_fit(const struct memory_peak *peaks, int n, bool shared)
{
	struct memory_model m = { .shared = shared };
	struct normal_equations e = equations_of(peaks, n, shared);
	bool divides = varies(peaks, n, true);
	double least = HUGE_VAL, x[N];

	if (n < MEMORY_MODEL_PEAKS || !varies(peaks, n, false))
		return m;
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

/* True if the peak is the most of its number of replicas, the first of several. */
static bool is_most(const struct memory_peak *peaks, int n, int i)
{
	for (int k = 0; k < n; k++)
		if (peaks[k].workers == peaks[i].workers &&
		    (peaks[k].bytes > peaks[i].bytes ||
		     (k < i && peaks[k].bytes >= peaks[i].bytes)))
			return false;
	return true;
}

/* Sums over the most for each number, divided by their squares. */
struct host_sums {
	int n;
	double one, workers, square;	/* of 1, R, R^2 over y^2 */
	double y, workers_y;		/* of y, R y over y^2 */
};

static double host_line(const struct host_sums *s, double workers)
{
	double determinant = s->one * s->square - s->workers * s->workers;
	double fixed = (s->square * s->y - s->workers * s->workers_y) / determinant;
	double each = (s->one * s->workers_y - s->workers * s->y) / determinant;

	if (!(fixed > 0))
		return workers * s->workers_y / s->square;
	if (!(each > 0))
		return s->y / s->one;
	return fixed + each * workers;
}

double memory_host_need(const struct memory_peak *peaks, int n, int workers)
{
	struct host_sums sums = { 0 };
	double most = 0;

	for (int i = 0; i < n; i++) {
		double r = peaks[i].workers, weight = 1 / (peaks[i].bytes * peaks[i].bytes);

		if (!(peaks[i].bytes > 0) || r < 1 || !is_most(peaks, n, i))
			continue;
		if (peaks[i].workers == workers)
			return peaks[i].bytes;
		sums.n++;
		sums.one += weight;
		sums.workers += weight * r;
		sums.square += weight * r * r;
		sums.y += weight * peaks[i].bytes;
		sums.workers_y += weight * peaks[i].bytes * r;
		most = peaks[i].bytes * fmax(1, workers / r);
	}
	return sums.n > 1 ? host_line(&sums, workers) : most;
}
