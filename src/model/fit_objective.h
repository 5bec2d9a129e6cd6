/* fit_objective.h - the parts of a fit: the objective that it minimises, the rows and the box
 * (fit_start.c); private to the model. */
#ifndef MODEL_FIT_OBJECTIVE_H
#define MODEL_FIT_OBJECTIVE_H

#include <stdbool.h>

#include "pollux/fit.h"

/* A usable observation, in the form that the objective needs. */
struct fit_row {
	struct throughput_place place;
	double m, s;			/* s: passes that ln_step covers; 1 if ln_grad is known */
	double ln_grad;			/* NaN: only the time of the whole step is known */
	double ln_step;
	double weight;
};

struct fit_objective {
	const struct fit_row *rows;
	int n;
	double grad_weight, step_weight;	/* sums of weights */
	double overlap_penalty, growth_penalty;
	double prior_weight;
	struct fit_prior prior;			/* all NaN: none */
};

/* The value, its parts and its gradient. */
struct fit_value {
	double total, rmse_grad, rmse_step;
	double slope[N_THROUGHPUT_PARAMS];
};

/* An approximation of the second derivatives. For a mean of squares it uses only the first
 * derivatives of the errors (Gauss and Newton). For the root r of that mean this gives
 *
 *	(J' W J / sum(W) - g g') / r	g = gradient of r
 *
 * which is positive semidefinite. Below FIT_ROOT_LEAST the root is close to the tip of a cone,
 * where g has no
 * meaning: g g' is left out, and r is taken to be at least FIT_ROOT_FLOOR, so that steps stay where
 * these errors remain 0. */
#define FIT_ROOT_LEAST 1e-6
#define FIT_ROOT_FLOOR 1e-12
struct fit_curvature {
	double a[N_THROUGHPUT_PARAMS][N_THROUGHPUT_PARAMS];
};

/* a += factor v v' */
void fit_add_outer(double a[N_THROUGHPUT_PARAMS][N_THROUGHPUT_PARAMS], const double *v,
		   double factor);

/* Solves A x = b by a Cholesky decomposition: b becomes x, and the lower triangle of a, n x n in
 * rows, its factor. Returns false if rounding has made the matrix not positive definite: a pivot is
 * below this part of its diagonal. */
bool fit_solve(double *a, size_t n, double *b, double least);

/* True if something is expected. */
bool fit_expects(const struct fit_expectation *e);

/* Computes the objective, finite for parameters within their bounds. If a mean of squares is 0, its
 * root has no gradient: 0 is used, as at a minimum. The curvature may be NULL. */
void fit_objective_value(const struct fit_objective *f, const struct throughput_params *p,
			 struct fit_value *value, struct fit_curvature *curvature);

/* Sums of a straight line y = a + b x through points with weights w. */
struct line {
	double w, x, xx, y, xy;
};

static inline void line_add(struct line *l, double x, double y, double w)
{
	l->w += w;
	l->x += w * x;
	l->xx += w * x * x;
	l->y += w * y;
	l->xy += w * x * y;
}

/* ---- rows, box and starts ---- */

/* The box in which the parameters are searched. A tied parameter has low = high. */
struct fit_box {
	double low[N_THROUGHPUT_PARAMS], high[N_THROUGHPUT_PARAMS];
	bool tied[N_THROUGHPUT_PARAMS];
	bool in_prior[N_THROUGHPUT_PARAMS];	/* the prior expects a value */
	bool expected[N_THROUGHPUT_PARAMS];	/* and without it the parameter would be tied */
};

/* Makes a row from an observation. Returns false if the observation is not usable. */
bool fit_row_make(struct fit_row *row, const struct observation *seen);

void fit_box_make(struct fit_box *box, const struct fit_row *rows, int n,
		  const struct fit_prior *prior);

/* The published start, and a start computed from the data. */
struct throughput_params fit_start_published(void);
struct throughput_params fit_start_data(const struct fit_row *rows, int n);
/* Sets the parameters that the data leave open to their expectations. */
void fit_start_expected(struct throughput_params *p, const struct fit_box *box,
			const struct fit_prior *prior);
/* A start with all expected values, and with passes as long as they were measured. */
struct throughput_params fit_start_prior(const struct fit_row *rows, int n,
					 const struct fit_prior *prior);

/* A free parameter counts as determined by the data unless the other parameters can cancel all but
 * FIT_BASIS_TOLERANCE of the mean square effect that a small change of it has on the predicted
 * times. */
#define FIT_BASIS_TOLERANCE 1e-6
void fit_basis_find(enum fit_basis basis[N_THROUGHPUT_PARAMS], const struct fit_row *rows, int n,
		    const struct fit_box *box, const struct throughput_params *p);

#endif
