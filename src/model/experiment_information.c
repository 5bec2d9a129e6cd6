/* experiment_information.c - information matrices of the logarithms of the parameters. */
#include "experiment_information.h"

#include <math.h>
#include <string.h>

#define N N_THROUGHPUT_PARAMS
#define PRIOR_DEVIATION 1.0
#define PRIOR_DEVIATION_GAMMA 0.5
#define SYNC_GUESS 0.2			/* of the time of a pass */
#define GROWTH_GUESS 0.1		/* of that synchronisation, for each further replica */
/* The least that a parameter is taken to be, as a part of the term it is added to: a parameter
 * fitted as 0 may be larger. */
#define LEAST_PART 0.01

/* --- parameters --- */

struct throughput_params experiment_params(const struct fit_result *fit,
					   const struct configuration *own)
{
	struct throughput_params p = fit->params;
	double pass, m = own->local_batch_size > 0 ? (double)own->local_batch_size : 1;

	if (fit->stop == FIT_NOTHING)
		p = (struct throughput_params){
			.alpha_grad = 0.005, .beta_grad = 0.005 / m, .gamma = 2,
		};
	pass = throughput_grad_time(&p, m);
	p.alpha_grad = fmax(p.alpha_grad, LEAST_PART * pass);
	p.beta_grad = fmax(p.beta_grad, LEAST_PART * pass / m);
	if (fit->stop == FIT_NOTHING || fit->basis[ALPHA_SYNC_LOCAL] == FIT_TIED)
		p.alpha_sync_local = SYNC_GUESS * pass;
	p.alpha_sync_local = fmax(p.alpha_sync_local, LEAST_PART * pass);
	if (fit->stop == FIT_NOTHING || fit->basis[BETA_SYNC_LOCAL] == FIT_TIED)
		p.beta_sync_local = GROWTH_GUESS * p.alpha_sync_local;
	p.beta_sync_local = fmax(p.beta_sync_local, LEAST_PART * p.alpha_sync_local);
	p.gamma = fmin(fmax(p.gamma, THROUGHPUT_GAMMA_MIN), THROUGHPUT_GAMMA_MAX);
	return p;
}

/* --- derivatives --- */

static void step_row(const struct throughput_params *p, const struct configuration *c, double j[N])
{
	struct throughput_place place = configuration_place(c);
	struct throughput_slope slope;
	double values[N];
	double time = throughput_step_slope(p, place, (double)c->local_batch_size,
					    c->accumulation_steps, &slope);

	memcpy(values, p, sizeof(values));
	for (int i = 0; i < N; i++)
		j[i] = slope.by_param[i] * values[i] / time;
}

static void grad_row(const struct throughput_params *p, const struct configuration *c, double j[N])
{
	double m = (double)c->local_batch_size, time = throughput_grad_time(p, m);

	memset(j, 0, N * sizeof(*j));
	j[ALPHA_GRAD] = p->alpha_grad / time;
	j[BETA_GRAD] = p->beta_grad * m / time;
}

/* --- adding --- */

void information_init(struct information *info)
{
	memset(info, 0, sizeof(*info));
	for (int i = 0; i < N; i++)
		info->a[i][i] = 1 / (PRIOR_DEVIATION * PRIOR_DEVIATION);
	info->a[GAMMA][GAMMA] = 1 / (PRIOR_DEVIATION_GAMMA * PRIOR_DEVIATION_GAMMA);
}

static void add_row(struct information *info, const double j[N], double weight)
{
	double factor = weight / (FIT_MODEL_ERROR * FIT_MODEL_ERROR);

	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			info->a[i][k] += factor * j[i] * j[k];
}

void information_add(struct information *info, const struct throughput_params *p,
		     const struct observation *point)
{
	double j[N];

	step_row(p, &point->configuration, j);
	add_row(info, j, point->weight);
	if (!isfinite(point->sync_time_s))
		return;
	grad_row(p, &point->configuration, j);
	add_row(info, j, point->weight);
}

/* Gauss-Jordan elimination in place. The prior keeps the matrix positive definite, so no pivoting
 * is needed. */
void information_invert(struct information *info)
{
	double (*a)[N] = info->a;

	for (int k = 0; k < N; k++) {
		double pivot = 1 / a[k][k];

		a[k][k] = 1;
		for (int j = 0; j < N; j++)
			a[k][j] *= pivot;
		for (int i = 0; i < N; i++) {
			double factor = a[i][k];

			if (i == k)
				continue;
			a[i][k] = 0;
			for (int j = 0; j < N; j++)
				a[i][j] -= factor * a[k][j];
		}
	}
}

/* --- variances --- */

/* Adds a row to A, and returns by how much that lowers the mean variance over the grid. A row j
 * with an error of variance s subtracts A^-1 j j' A^-1 / (s + j' A^-1 j) from the inverse: J.
 * Sherman and W. J. Morrison, Ann. Math. Statist. 21 (1950), 124-127. */
static double add_to_inverse(struct information *info, const double j[N], double weight,
			     const struct throughput_params *p, const struct experiment_grid *grid)
{
	double aj[N] = { 0 }, row[N], below = FIT_MODEL_ERROR * FIT_MODEL_ERROR / weight, sum = 0;
	double product = 0;

	for (int i = 0; i < N; i++) {
		for (int k = 0; k < N; k++)
			aj[i] += info->a[i][k] * j[k];
		product += j[i] * aj[i];
	}
	below += product;
	for (int i = 0; i < grid->count; i++) {
		double along = 0;

		step_row(p, &grid->items[i], row);
		for (int k = 0; k < N; k++)
			along += row[k] * aj[k];
		sum += along * along / below;
	}
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			info->a[i][k] -= aj[i] * aj[k] / below;
	return grid->count > 0 ? sum / grid->count : 0;
}

double information_gain(const struct information *info, const struct throughput_params *p,
			const struct observation *point, const struct experiment_grid *grid)
{
	struct information after = *info;
	double j[N], gain;

	step_row(p, &point->configuration, j);
	gain = add_to_inverse(&after, j, point->weight, p, grid);
	if (isfinite(point->sync_time_s)) {
		grad_row(p, &point->configuration, j);
		gain += add_to_inverse(&after, j, point->weight, p, grid);
	}
	return gain;
}
