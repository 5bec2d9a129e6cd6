/* fit.c - minimises the objective from several starts.
 *
 * From each start NLopt's bounded L-BFGS (S. G. Johnson, "The NLopt nonlinear-optimization
 * package"; J. Nocedal, "Updating quasi-Newton matrices with limited storage", Math. Comput. 35
 * (1980); the code by L. Luksan) goes down on the logarithms of the parameters, which span eight
 * decades. polish() takes over near the minimum. The objective has several local minima. In all
 * tests the better of the two starts ends at or below the result of the published optimizer; this
 * is no proof that it always does. */
#include "pollux/fit.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "fit_objective.h"
#include "pollux/mem.h"

const struct fit_options FIT_OPTIONS_DEFAULT = {
	.overlap_penalty = 1e-3, .growth_penalty = 1e-2, .max_evaluations = FIT_MAX_EVALUATIONS,
	.prior_weight = FIT_PRIOR_WEIGHT,
};

#define ROUGH 1e-5	/* relative change of the objective at which NLopt's search ends */

/* A point, and the objective at this point. */
struct fit_point {
	struct throughput_params params;
	struct fit_value value;
};

/* --- the last steps to a minimum: damped Gauss-Newton steps within bounds ---
 *
 * A general optimizer is slow where this objective has an edge. A root mean square that can be made
 * 0 (two parameters explain two different passes exactly) has no gradient there, and the way down
 * follows the edge. With fit_curvature the edge is a steep valley, and steps stay on its floor.
 *
 * Steps solve (C + lambda diag C) d = -slope over the free parameters. A parameter is not free if
 * it is at a bound and the slope pushes it against the bound. Sources: K. Levenberg, Quart. Appl.
 * Math. 2 (1944); D. W. Marquardt, SIAM J. Appl. Math. 11 (1963); D. P. Bertsekas, SIAM J. Control
 * Optim. 20 (1982), for the bounds. */

#define N N_THROUGHPUT_PARAMS
#define PIVOT_LEAST 1e-15
#define LAMBDA_FIRST 1e-4
#define LAMBDA_LEAST 1e-12
#define LAMBDA_MOST 1e8		/* steps are then too short to matter */
#define GAIN 1e-13		/* relative; smaller gains are rounding */
#define PATIENCE 3		/* steps without such a gain */


static struct throughput_params params_within(const struct fit_box *box, const double *values)
{
	struct throughput_params params = { 0 };
	double p[N];

	for (int i = 0; i < N; i++)
		p[i] = fmin(fmax(values[i], box->low[i]), box->high[i]);
	memcpy(&params, p, sizeof(p));
	return params;
}

/* Tries steps with growing damping until one lowers the objective. Returns false if none does. */
static bool descend_once(const struct fit_objective *f, const struct fit_box *box,
			 struct fit_point *point, double *lambda, int *evaluations)
{
	const double *slope = point->value.slope;
	double p[N], a[N * N], step[N], to[N];
	struct fit_curvature c;
	int n = 0, free_ones[N] = { 0 };

	memcpy(p, &point->params, sizeof(p));
	fit_objective_value(f, &point->params, &point->value, &c);
	for (int i = 0; i < N; i++)
		if (box->low[i] < box->high[i] && !(p[i] <= box->low[i] && slope[i] >= 0) &&
		    !(p[i] >= box->high[i] && slope[i] <= 0) && c.a[i][i] > 0)
			free_ones[n++] = i;
	++*evaluations;
	while (n > 0 && *lambda < LAMBDA_MOST) {
		struct fit_point next = *point;

		for (int i = 0; i < n; i++) {
			step[i] = -slope[free_ones[i]];
			for (int j = 0; j < n; j++)
				a[i * n + j] = c.a[free_ones[i]][free_ones[j]];
			a[i * n + i] *= 1 + *lambda;
		}
		if (fit_solve(a, (size_t)n, step, PIVOT_LEAST)) {
			memcpy(to, p, sizeof(to));
			for (int i = 0; i < n; i++)
				to[free_ones[i]] += step[i];
			next.params = params_within(box, to);
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

/* Descends from a point within the box until nothing more is gained, or until *evaluations reaches
 * its maximum. Returns true if it converged. */
static bool polish(const struct fit_objective *f, const struct fit_box *box,
		   struct fit_point *point, int *evaluations, int max_evaluations)
{
	double lambda = LAMBDA_FIRST;
	int idle = 0;

	while (*evaluations < max_evaluations) {
		double before = point->value.total;

		if (!descend_once(f, box, point, &lambda, evaluations))
			return true;
		idle = point->value.total < before * (1 - GAIN) ? 0 : idle + 1;
		if (idle == PATIENCE)
			return true;
	}
	return false;
}

/* --- the search --- */

struct search {
	struct fit_objective objective;
	struct fit_box box;
	int evaluations, max_evaluations;
	bool any, converged;
	struct fit_point here;		/* the best point from this start */
	struct fit_point best;		/* the best point of all starts */
};

double fit_weight(double step_time_s, double step_time_sd_s, int64_t n)
{
	double expected_s = FIT_DEVIATION * step_time_s;
	double deviation_s = isnan(step_time_sd_s) ? expected_s : step_time_sd_s;

	if (n < 1 || !(step_time_s > 0 && deviation_s >= 0))
		return 0;

	double windows = (double)n;
	double variance = ((windows - 1) * deviation_s * deviation_s +
			   FIT_DEVIATION_WINDOWS * expected_s * expected_s) /
			  (windows - 1 + FIT_DEVIATION_WINDOWS);
	double error = step_time_s * FIT_MODEL_ERROR;

	return 1 / (1 + variance / (error * error) / windows);
}

/* The objective for NLopt: the variables are logarithms of the parameters. Parameters are cut off
 * at their bounds, whatever NLopt tries. */
static double evaluate_params(unsigned n, const double *x, double *gradient, void *data)
{
	struct search *s = data;
	struct fit_point point;
	double p[N];

	for (int i = 0; i < N; i++)
		p[i] = exp(x[i]);
	point.params = params_within(&s->box, p);
	memcpy(p, &point.params, sizeof(p));
	fit_objective_value(&s->objective, &point.params, &point.value, NULL);
	s->evaluations++;
	if (point.value.total < s->here.value.total)
		s->here = point;
	for (unsigned i = 0; gradient && i < n; i++)
		gradient[i] = point.value.slope[i] * p[i];
	return point.value.total;
}

/* The result of nlopt_optimize() does not matter, as evaluate_params() keeps the best point seen.
 * Near a minimum the line search often fails, by rounding. */
static void descend(struct search *s)
{
	nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, N_THROUGHPUT_PARAMS);
	double x[N_THROUGHPUT_PARAMS], low[N_THROUGHPUT_PARAMS], high[N_THROUGHPUT_PARAMS], value;

	memcpy(x, &s->here.params, sizeof(x));
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++) {
		x[i] = log(x[i]);
		low[i] = log(s->box.low[i]);
		high[i] = log(s->box.high[i]);
	}
	nlopt_set_min_objective(opt, evaluate_params, s);
	nlopt_set_lower_bounds(opt, low);
	nlopt_set_upper_bounds(opt, high);
	nlopt_set_ftol_rel(opt, ROUGH);
	nlopt_set_maxeval(opt, s->max_evaluations - s->evaluations);
	nlopt_optimize(opt, x, &value);
	nlopt_destroy(opt);
}

static void search_params(struct search *s, struct throughput_params start)
{
	double p[N_THROUGHPUT_PARAMS];
	bool converged;

	if (s->evaluations >= s->max_evaluations)
		return;
	memcpy(p, &start, sizeof(p));
	s->here.params = params_within(&s->box, p);
	fit_objective_value(&s->objective, &s->here.params, &s->here.value, NULL);
	if (++s->evaluations < s->max_evaluations)
		descend(s);
	converged = polish(&s->objective, &s->box, &s->here, &s->evaluations,
			   s->max_evaluations);
	if (!s->any || s->here.value.total < s->best.value.total) {
		s->best = s->here;
		s->converged = converged;
	}
	s->any = true;
}


static void search_from_starts(struct search *s)
{
	const struct fit_objective *f = &s->objective;
	struct throughput_params start = fit_start_data(f->rows, f->n);

	fit_box_make(&s->box, f->rows, f->n, &f->prior);
	fit_start_expected(&start, &s->box, &f->prior);
	if (fit_expects(&f->prior.grad_ratio) || fit_expects(&f->prior.sync_time) ||
	    fit_expects(&f->prior.sync_growth))
		search_params(s, fit_start_prior(f->rows, f->n, &f->prior));
	search_params(s, start);
	search_params(s, fit_start_published());
}

/* With a prior there is a start at its expectations: where the data leave a parameter open and the
 * prior is weak, other starts would reach it slowly. The links between nodes are never taken to be
 * faster than those within a node. */
struct fit_result fit_throughput(const struct observation *seen, int n,
				 const struct fit_options *options)
{
	const struct fit_prior nothing = { { (double)NAN, 1 }, { (double)NAN, 1 },
					   { (double)NAN, 1 } };
	autofree struct fit_row *rows = xmalloc((size_t)(n > 0 ? n : 1) * sizeof(*rows));
	double least = THROUGHPUT_TIME_MIN_S;
	struct search s = {
		.objective = { .rows = rows, .overlap_penalty = options->overlap_penalty,
			       .growth_penalty = options->growth_penalty,
			       .prior_weight = options->prior_weight,
			       .prior = options->prior ? *options->prior : nothing },
		.max_evaluations = options->max_evaluations > 0 ? options->max_evaluations : 1,
	};
	struct fit_objective *f = &s.objective;
	struct fit_result r = {
		.params = { least, least, least, least, least, least, THROUGHPUT_GAMMA_MIN, { 0 } },
		.stop = FIT_NOTHING,
	};

	for (int i = 0; i < N; i++)
		r.basis[i] = FIT_TIED;
	for (int t = 0; t < CONFIGURATION_TIERS; t++)
		r.tier_basis[t] = FIT_TIED;
	for (int i = 0; i < n; i++) {
		if (!fit_row_make(&rows[f->n], &seen[i]))
			continue;
		f->step_weight += rows[f->n].weight;
		f->grad_weight += isnan(rows[f->n].ln_grad) ? 0 : rows[f->n].weight;
		f->n++;
	}
	r.n_observations = f->n;
	r.n_ignored = (n > 0 ? n : 0) - f->n;
	if (f->n > 0) {
		search_from_starts(&s);
		r.params = s.best.params;
		r.stop = s.converged ? FIT_CONVERGED : FIT_MAX_REACHED;
		r.objective = s.best.value.total;
		r.rmse_grad = s.best.value.rmse_grad;
		r.rmse_step = s.best.value.rmse_step;
		r.evaluations = s.evaluations;
		fit_basis_find(r.basis, rows, f->n, &s.box, &r.params);
		if (s.box.tied[ALPHA_SYNC_NODE]) {
			r.params.alpha_sync_node = fmax(r.params.alpha_sync_node,
							1.1 * r.params.alpha_sync_local);
			r.params.beta_sync_node = fmax(r.params.beta_sync_node,
						       1.1 * r.params.beta_sync_local);
		}
	}
	return r;
}

const char *throughput_param_name(enum throughput_param i)
{
	static const char *const names[N_THROUGHPUT_PARAMS] = {
		"alpha_grad", "beta_grad", "alpha_sync_local", "beta_sync_local", "alpha_sync_node",
		"beta_sync_node", "gamma",
	};

	return names[i];
}

const char *fit_basis_name(enum fit_basis basis)
{
	static const char *const names[] = { "data", "penalty", "tied", "prior" };

	return names[basis];
}

static const char *const stop_names[] = {
	"no observations", "converged", "evaluations exhausted",
};

const struct field_names fit_stop_names = {
	stop_names, sizeof(stop_names) / sizeof(stop_names[0]), FIT_NOTHING
};
