/* residuals.h - corrects modelled times towards measured ones: pollux-goodput(7), Residuals, has
 * the covariance of the Gaussian process (C. E. Rasmussen and C. K. I. Williams, "Gaussian
 * Processes for Machine Learning", 2006, algorithm 2.1). Its factors between one node and several,
 * two tiers, and two plans are below; its noise has the variance RESIDUALS_NOISE / weight.
 * Accumulation steps do not matter: the factor applies to a whole update. It is tabulated at local
 * batch sizes of 2^(i/4), and interpolated linearly in ln m. Pure functions. */
#ifndef POLLUX_RESIDUALS_H
#define POLLUX_RESIDUALS_H

#include "pollux/fit.h"

#define RESIDUALS_ACROSS 0.3
#define RESIDUALS_TIERS 0.3
#define RESIDUALS_PLANS 0.5
#define RESIDUALS_NOISE 0.03
/* The most configurations used. If there are more, only the first are used, so the caller puts the
 * newest first. */
#define RESIDUALS_MAX 512

struct residuals {
	struct throughput_place *places;	/* owned */
	int n_places, n_sizes;
	enum configuration_tier base;	/* whose places have TIER_UNKNOWN: see time_ratio.h */
	double *logs;		/* owned; ln of the factor, a row for each place */
};

/* Tabulates the residuals at places, which ascend by tier, then by replicas, then by nodes.
 * The best tier that was seen is TIER_UNKNOWN there. A tier that is not tabulated has
 * RESIDUALS_TIERS of the residuals of the best one; where no tier was seen, all are alike.
 * params are the result of fit_throughput() on seen. */
struct residuals residuals_of(const struct observation *seen, int n,
			      const struct throughput_params *params,
			      const struct throughput_place *places, int n_places);
/* What was measured of a workload under one plan, and the parameters that were fitted to it. */
struct residuals_source {
	const struct observation *seen;
	int n;
	const struct throughput_params *params;
};
/* The same for a plan, by what was measured under the workload's other plans as well: one process
 * over the errors of all models. Each plan has its own best tier. */
struct residuals residuals_of_plan(const struct residuals_source *own,
				   const struct residuals_source *others, int n_others,
				   const struct throughput_place *places, int n_places);

void residuals_release(struct residuals *r);

/* The factor on the step time; 1 for a place that was not tabulated. r may be NULL. */
double residuals_factor(const struct residuals *r, struct throughput_place place, double m);

#endif
