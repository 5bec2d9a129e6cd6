/* residuals.h - what measured times say beyond the seven parameters: pollux-goodput(7).
 *
 *	struct residuals r = residuals_of(seen, n, &params, places, n_places);
 *	double time_s = throughput_step_time(&params, place, m, s) * residuals_factor(&r, place, m);
 *	residuals_release(&r);
 *
 * Seven parameters cannot follow every step of what real machines do: a batch that suddenly suits a kernel,
 * the ninth GPU that is behind another switch. y = ln(measured / modelled) of what was measured is taken for a
 * smooth function of place and local batch size, about 0 where nothing was measured: the mean of a Gaussian
 * process (C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, algorithm
 * 2.1), whose covariance is
 *
 *	k = exp(-|ln(R / R')| - |ln(m / m')|)		and RESIDUALS_ACROSS of it between one node and several
 *
 * and whose noise has the variance RESIDUALS_NOISE / weight, both in units of the variance of y. So a time
 * that was measured once is believed to 97 % there, and to half as much at twice the batch or the replicas.
 * Accumulation steps do not matter: the factor is on a whole update.
 *
 * Tabulated at local batch sizes of 2^(i/4), and linear in ln m between. Pure functions. */
#ifndef POLLUX_RESIDUALS_H
#define POLLUX_RESIDUALS_H

#include "pollux/fit.h"

#define RESIDUALS_ACROSS 0.3
#define RESIDUALS_NOISE 0.03
/* Of more configurations the first count, which the caller has as the newest. */
#define RESIDUALS_MAX 512

struct residuals {
	struct throughput_place *places;	/* owned */
	int n_places, n_sizes;
	double *logs;		/* owned; ln of the factor, a row for each place */
};

/* At these places, one for each number of replicas, ascending; seen as for fit_throughput, which params are the fit to. */
struct residuals residuals_of(const struct fit_observation *seen, int n, const struct throughput_params *params,
			      const struct throughput_place *places, int n_places);
void residuals_release(struct residuals *r);

/* To multiply the step time by; 1 for other places. r may be NULL. */
double residuals_factor(const struct residuals *r, struct throughput_place place, double m);

#endif
