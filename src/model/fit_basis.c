/* fit_basis.c - which parameters the observations determine. */
#include "fit_basis.h"

#include <math.h>
#include <string.h>

#define N N_THROUGHPUT_PARAMS
#define RANK_TOLERANCE 1e-12	/* the largest 0 that rounding leaves */

/* Computes J' W J, where J has the derivatives of ln T_grad and ln T_step by the parameters. */
static void information(double a[N][N], const struct fit_row *rows, int n,
			const struct throughput_params *p)
{
	memset(a, 0, sizeof(double[N][N]));
	for (int i = 0; i < n; i++) {
		struct throughput_slope slope;
		double by_grad[N] = { [ALPHA_GRAD] = 1, [BETA_GRAD] = rows[i].m };
		double time = throughput_step_slope(p, rows[i].place, rows[i].m, rows[i].s, &slope);

		fit_add_outer(a, slope.by_param, rows[i].weight / (time * time));
		if (isnan(rows[i].ln_grad))
			continue;
		time = throughput_grad_time(p, rows[i].m);
		fit_add_outer(a, by_grad, rows[i].weight / (time * time));
	}
}

/* Scales the diagonal to 1. A parameter that is tied, expected or without effect gets an empty row
 * and column. */
static void normalise(double a[N][N], const struct fit_box *box)
{
	double scale[N];

	for (int i = 0; i < N; i++) {
		bool skip = box->tied[i] || box->expected[i] || !(a[i][i] > 0);

		scale[i] = skip ? 0 : 1 / sqrt(a[i][i]);
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] *= scale[i] * scale[j];
}

static int largest_but(double a[N][N], const bool *used)
{
	int best = -1;

	for (int i = 0; i < N; i++)
		if (!used[i] && a[i][i] > RANK_TOLERANCE && (best < 0 || a[i][i] > a[best][best]))
			best = i;
	return best;
}

static void eliminate(double a[N][N], int k, const bool *used)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N && i != k && !used[i]; j++)
			if (j != k && !used[j])
				a[i][j] -= a[i][k] * a[k][j] / a[k][k];
}

/* The part of parameter k's effect, of 1, that changes of the other parameters cannot cancel: the
 * Schur complement of all others, eliminated by diagonal pivoting. */
static double own_effect(const double normal[N][N], int k)
{
	double a[N][N];
	bool used[N] = { false };

	memcpy(a, normal, sizeof(a));
	used[k] = true;
	for (int j = largest_but(a, used); j >= 0; j = largest_but(a, used)) {
		used[k] = false;
		eliminate(a, j, used);
		used[k] = used[j] = true;
	}
	return a[k][k];
}

void fit_basis_find(enum fit_basis basis[N], const struct fit_row *rows, int n,
		    const struct fit_box *box, const struct throughput_params *p)
{
	double a[N][N];

	information(a, rows, n, p);
	normalise(a, box);
	for (int i = 0; i < N; i++) {
		if (box->tied[i])
			basis[i] = FIT_TIED;
		else if (!box->expected[i] &&
			 own_effect((const double(*)[N])a, i) > FIT_BASIS_TOLERANCE)
			basis[i] = FIT_FROM_DATA;
		else
			basis[i] = box->in_prior[i] ? FIT_FROM_PRIOR : FIT_FROM_PENALTY;
	}
}
