/* fit_objective.h - what the fit minimises; private to the model. */
#ifndef MODEL_FIT_OBJECTIVE_H
#define MODEL_FIT_OBJECTIVE_H

#include <stdbool.h>

#include "pollux/fit.h"

/* An observation that can be used, and what the objective wants of it. */
struct fit_row {
	struct throughput_place place;
	double m, s;			/* s: passes in the time of ln_step, so 1 for an updating pass */
	double ln_grad;			/* NaN: only the whole step is known */
	double ln_step;
	double weight;
};

struct fit_objective {
	const struct fit_row *rows;
	int n;
	double grad_weight, step_weight;	/* sums */
	double overlap_penalty, growth_penalty;
	double prior_weight;
	struct fit_prior prior;			/* all NaN: none */
};

/* The value, its parts and its gradient. */
struct fit_value {
	double total, rmse_grad, rmse_step;
	double slope[N_THROUGHPUT_PARAMS];
};

/* A matrix that stands for the second derivatives. A mean of squares enters by the derivatives of its
 * errors only (Gauss and Newton). Of its root r that gives
 *
 *	(J' W J / sum(W) - g g') / r	g = gradient of r
 *
 * which is positive semidefinite. Below FIT_ROOT_LEAST the root is a cone's tip, where g has no
 * meaning: g g' is left out, and r taken to be no less than FIT_ROOT_FLOOR, so that steps keep to where
 * those errors stay nil. */
#define FIT_ROOT_LEAST 1e-6
#define FIT_ROOT_FLOOR 1e-12
struct fit_curvature {
	double a[N_THROUGHPUT_PARAMS][N_THROUGHPUT_PARAMS];
};

bool fit_expects(const struct fit_expectation *e);

/* Parameters within their bounds give finite numbers. Where a mean of squares is 0 its root has no
 * gradient, and 0 is given, as at a minimum. The curvature may be NULL. */
void fit_objective_value(const struct fit_objective *f, const struct throughput_params *p,
			 struct fit_value *value, struct fit_curvature *curvature);

#endif
