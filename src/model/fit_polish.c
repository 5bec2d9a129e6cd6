/* fit_polish.c - damped Gauss-Newton steps within bounds.
 *
 * A general optimizer is slow where this objective has an edge. A root mean square that can be made
 * 0 (two parameters explain two different passes exactly) has no gradient there, and the way down
 * follows the edge. With fit_curvature the edge is a steep valley, and steps stay on its floor.
 *
 * Steps solve (C + lambda diag C) d = -slope over the free parameters. A parameter is not free if
 * it is at a bound and the slope pushes it against the bound. Sources: K. Levenberg, Quart. Appl.
 * Math. 2 (1944); D. W. Marquardt, SIAM J. Appl. Math. 11 (1963); D. P. Bertsekas, SIAM J. Control
 * Optim. 20 (1982), for the bounds. */
#include "fit_polish.h"

#include <math.h>
#include <string.h>

#define N N_THROUGHPUT_PARAMS
#define LAMBDA_FIRST 1e-4
#define LAMBDA_LEAST 1e-12
#define LAMBDA_MOST 1e8		/* steps are then too short to matter */
#define GAIN 1e-13		/* relative; smaller gains are rounding */
#define PATIENCE 3		/* steps without such a gain */

/* The equations of a step, over the free parameters. */
struct equations {
	int n, index[N];
	double a[N][N], b[N];
};

static bool is_free(const struct fit_box *box, int i, double p, double slope)
{
	return box->low[i] < box->high[i] && !(p <= box->low[i] && slope >= 0) &&
	       !(p >= box->high[i] && slope <= 0);
}

static void equations_make(struct equations *e, const struct fit_box *box, const double *p,
			   const double *slope, const struct fit_curvature *c)
{
	e->n = 0;
	for (int i = 0; i < N; i++)
		if (is_free(box, i, p[i], slope[i]) && c->a[i][i] > 0)
			e->index[e->n++] = i;
	for (int i = 0; i < e->n; i++) {
		e->b[i] = -slope[e->index[i]];
		for (int j = 0; j < e->n; j++)
			e->a[i][j] = c->a[e->index[i]][e->index[j]];
	}
}

/* Cholesky decomposition of the matrix with the diagonal enlarged by the factor 1 + lambda. Returns
 * false if rounding has made the matrix not positive definite. */
static bool decompose(const struct equations *e, double lambda, double l[N][N])
{
	for (int j = 0; j < e->n; j++) {
		double pivot = e->a[j][j] * (1 + lambda);

		for (int k = 0; k < j; k++)
			pivot -= l[j][k] * l[j][k];
		if (!(pivot > 1e-15 * e->a[j][j]))
			return false;
		l[j][j] = sqrt(pivot);
		for (int i = j + 1; i < e->n; i++) {
			double sum = e->a[i][j];

			for (int k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			l[i][j] = sum / l[j][j];
		}
	}
	return true;
}

static bool solve_equations(const struct equations *e, double lambda, double *step)
{
	double l[N][N], y[N];

	if (!decompose(e, lambda, l))
		return false;
	for (int i = 0; i < e->n; i++) {
		y[i] = e->b[i];
		for (int k = 0; k < i; k++)
			y[i] -= l[i][k] * y[k];
		y[i] /= l[i][i];
	}
	for (int i = e->n - 1; i >= 0; i--) {
		step[i] = y[i];
		for (int k = i + 1; k < e->n; k++)
			step[i] -= l[k][i] * step[k];
		step[i] /= l[i][i];
	}
	return true;
}

/* The parameters after a step, cut off at the bounds. */
static struct throughput_params stepped(const struct fit_box *box, const double *p,
					const struct equations *e, const double *step)
{
	struct throughput_params params = { 0 };
	double to[N];

	memcpy(to, p, sizeof(to));
	for (int i = 0; i < e->n; i++) {
		int k = e->index[i];

		to[k] = fmin(fmax(p[k] + step[i], box->low[k]), box->high[k]);
	}
	memcpy(&params, to, sizeof(to));
	return params;
}

/* Tries steps with growing damping until one lowers the objective. Returns false if none does. */
static bool descend(const struct fit_objective *f, const struct fit_box *box,
		    struct fit_point *point, double *lambda, int *evaluations)
{
	struct fit_curvature curvature;
	struct equations e;
	double p[N], step[N];

	memcpy(p, &point->params, sizeof(p));
	fit_objective_value(f, &point->params, &point->value, &curvature);
	equations_make(&e, box, p, point->value.slope, &curvature);
	++*evaluations;
	while (e.n > 0 && *lambda < LAMBDA_MOST) {
		struct fit_point next = *point;

		if (solve_equations(&e, *lambda, step)) {
			next.params = stepped(box, p, &e, step);
			fit_objective_value(f, &next.params, &next.value, NULL);
			++*evaluations;
		}
		if (next.value.total < point->value.total) {
			*point = next;
			*lambda = fmax(*lambda / 16, LAMBDA_LEAST);
			return true;
		}
		*lambda *= 8;
	}
	return false;
}

bool fit_polish(const struct fit_objective *f, const struct fit_box *box, struct fit_point *point,
		int *evaluations, int max_evaluations)
{
	double lambda = LAMBDA_FIRST;
	int idle = 0;

	while (*evaluations < max_evaluations) {
		double before = point->value.total;

		if (!descend(f, box, point, &lambda, evaluations))
			return true;
		idle = point->value.total < before * (1 - GAIN) ? 0 : idle + 1;
		if (idle == PATIENCE)
			return true;
	}
	return false;
}
