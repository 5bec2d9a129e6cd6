/* fit_objective.c - the sum of two root mean squares and the penalties, with its derivatives. */
#include "fit_objective.h"

#include <math.h>
#include <string.h>

#define N N_THROUGHPUT_PARAMS

/* Weighted squares of errors: the sum, half its gradient, and half of its second derivatives as
 * approximated by Gauss and Newton. */
struct squares {
	double sum;
	double slope[N];
	double curvature[N][N];
};

void fit_add_outer(double a[N][N], const double *v, double factor)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] += factor * v[i] * v[j];
}

bool fit_solve(double *a, size_t n, double *b, double least)
{
	for (size_t i = 0; i < n; i++) {
		double *row = &a[i * n], diagonal = row[i];

		for (size_t j = 0; j <= i; j++) {
			double sum = row[j];

			for (size_t k = 0; k < j; k++)
				sum -= row[k] * a[j * n + k];
			if (i == j && !(sum > least * diagonal))
				return false;
			row[j] = i == j ? sqrt(sum) : sum / a[j * n + j];
		}
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i] -= a[i * n + k] * b[k];
		b[i] /= a[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= a[k * n + i] * b[k];
		b[i] /= a[i * n + i];
	}
	return true;
}

/* Adds an error, with the derivatives by[]. */
static void add_error(struct squares *q, const struct fit_row *row, double error, const double *by,
		      bool with_curvature)
{
	q->sum += row->weight * error * error;
	for (int k = 0; k < N; k++)
		q->slope[k] += row->weight * error * by[k];
	if (with_curvature)
		fit_add_outer(q->curvature, by, row->weight);
}

/* Adds the root mean square root = sqrt(sum / weight), with the gradient slope / (weight root).
 * Returns root. */
static double add_root(struct fit_value *value, struct fit_curvature *curvature,
		       const struct squares *q, double weight)
{
	double root = weight > 0 ? sqrt(q->sum / weight) : 0, slope[N] = { 0 };

	for (int k = 0; k < N && root > 0; k++) {
		slope[k] = q->slope[k] / (weight * root);
		value->slope[k] += slope[k];
	}
	for (int i = 0; i < N && curvature && weight > 0; i++)
		for (int j = 0; j < N; j++)
			curvature->a[i][j] += q->curvature[i][j] /
					      (weight * fmax(root, FIT_ROOT_FLOOR));
	if (curvature && weight > 0 && root >= FIT_ROOT_LEAST)
		fit_add_outer(curvature->a, slope, -1 / root);
	value->total += root;
	return root;
}

/* Adds c ratio^2, where by[] is the gradient of the ratio. */
static void add_penalty(struct fit_value *value, struct fit_curvature *curvature, double c,
			double ratio, const double *by)
{
	value->total += c * ratio * ratio;
	for (int i = 0; i < N; i++)
		value->slope[i] += 2 * c * ratio * by[i];
	if (curvature)
		fit_add_outer(curvature->a, by, 2 * c);
}

bool fit_expects(const struct fit_expectation *e)
{
	return e->value > 0 && e->spread > 0;
}

/* Adds the penalty on the distance of ln(x) from its expectation; by[] are the derivatives of
 * ln(x). */
static void add_expectation(struct fit_value *value, struct fit_curvature *curvature, double weight,
			    const struct fit_expectation *e, double x, double *by)
{
	if (!fit_expects(e))
		return;
	for (int i = 0; i < N; i++)
		by[i] /= e->spread;
	add_penalty(value, curvature, weight, log(x / e->value) / e->spread, by);
}

static void add_penalties(struct fit_value *value, struct fit_curvature *curvature,
			  const struct fit_objective *f, const struct throughput_params *p)
{
	double overlap[N] = { [GAMMA] = 1 }, local[N] = { 0 }, node[N] = { 0 };
	double local_ratio = p->beta_sync_local / p->alpha_sync_local;
	double node_ratio = p->beta_sync_node / p->alpha_sync_node;
	double ratio[N] = { [ALPHA_GRAD] = 1 / p->alpha_grad, [BETA_GRAD] = -1 / p->beta_grad };
	double sync[N] = { [ALPHA_SYNC_LOCAL] = 1 / p->alpha_sync_local };
	double growth[N] = { [ALPHA_SYNC_LOCAL] = -1 / p->alpha_sync_local,
			     [BETA_SYNC_LOCAL] = 1 / p->beta_sync_local };

	local[ALPHA_SYNC_LOCAL] = -local_ratio / p->alpha_sync_local;
	local[BETA_SYNC_LOCAL] = 1 / p->alpha_sync_local;
	node[ALPHA_SYNC_NODE] = -node_ratio / p->alpha_sync_node;
	node[BETA_SYNC_NODE] = 1 / p->alpha_sync_node;
	add_penalty(value, curvature, f->overlap_penalty, p->gamma - 1, overlap);
	if (!fit_expects(&f->prior.sync_growth))
		add_penalty(value, curvature, f->growth_penalty, local_ratio, local);
	add_penalty(value, curvature, f->growth_penalty, node_ratio, node);
	add_expectation(value, curvature, f->prior_weight, &f->prior.grad_ratio,
			p->alpha_grad / p->beta_grad, ratio);
	add_expectation(value, curvature, f->prior_weight, &f->prior.sync_time, p->alpha_sync_local,
			sync);
	add_expectation(value, curvature, f->prior_weight, &f->prior.sync_growth, local_ratio,
			growth);
}

void fit_objective_value(const struct fit_objective *f, const struct throughput_params *p,
			 struct fit_value *value, struct fit_curvature *curvature)
{
	struct squares grad = { 0 }, step = { 0 };

	for (int i = 0; i < f->n; i++) {
		const struct fit_row *row = &f->rows[i];
		double grad_s = throughput_grad_time(p, row->m), step_s;
		struct throughput_slope slope;

		if (!isnan(row->ln_grad)) {
			double by[N] = { [ALPHA_GRAD] = 1 / grad_s, [BETA_GRAD] = row->m / grad_s };

			add_error(&grad, row, log(grad_s) - row->ln_grad, by, curvature);
		}
		step_s = throughput_step_slope(p, row->place, row->m, row->s, &slope);
		for (int k = 0; k < N; k++)
			slope.by_param[k] /= step_s;
		add_error(&step, row, log(step_s) - row->ln_step, slope.by_param, curvature);
	}
	memset(value, 0, sizeof(*value));
	if (curvature)
		memset(curvature, 0, sizeof(*curvature));
	value->rmse_grad = add_root(value, curvature, &grad, f->grad_weight);
	value->rmse_step = add_root(value, curvature, &step, f->step_weight);
	add_penalties(value, curvature, f, p);
}
