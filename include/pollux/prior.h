/* prior.h - the parameters to expect for a job, from measured kernels and links: pollux-goodput(7).
 *
 *	struct fit_prior prior;
 *	if (prior_make(&measured, n_parameters, &prior)) options.prior = &prior;
 *
 * Computed from the measurements of 'pollux profile --devices' and the number of the model's
 * parameters:
 *
 * A pass does three products for each layer (one forward, two backward). Each update also touches
 * every parameter, gradient and momentum. For each type and width w, a line a + b m is fitted to
 * the times of products of m rows (least relative squares), so that the three products take 3 (a +
 * b m) / w^2 for each parameter. The update takes u, the time of a copy in memory of half of
 * PRIOR_UPDATE_BYTES (a copy reads as much as it writes). The width of a job's layers is not known,
 * nor its other work. Therefore only this ratio is expected:
 *
 *	alpha_grad / beta_grad = (3 a / w^2 + u) / (3 b / w^2)		samples
 *
 * It is the batch size at which the device reaches half of its speed (R. W. Hockney's n_1/2,
 * "Parallel Computers 2", 1988). The expectation is the geometric mean over types and widths, with
 * their spread, but at least PRIOR_SPREAD. The job's own observations determine the time of a pass.
 *
 * Gradients have PRIOR_GRADIENT_BYTES for each parameter. Between CPU slots, the synchronisation of
 * two replicas takes a barrier and a sum over vectors of that size, as measured. Between GPUs it
 * takes two copies of half that size (a ring: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce
 * algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009)). In a ring,
 * each further replica adds one latency and a quarter of the rest. If four replicas were measured,
 * each adds half of the difference between four and two.
 *
 * Measurements that were not steady when their time was up count for less:
 *
 *   - such a size is left out if there is a steady one of the same operation and devices, within a
 *     factor of PRIOR_NEAR of this size;
 *   - in a line, such a point has the weight 1 / (1 + (e / PRIOR_LINE_ERROR)^2), where e is the
 *     standard error of its mean divided by the mean;
 *   - a type and width with fewer than two steady points is left out if another one has two.
 *
 * If nothing was steady, everything is used: the spread is wide.
 *
 * Pure functions. */
#ifndef POLLUX_PRIOR_H
#define POLLUX_PRIOR_H

#include <stdbool.h>

#include "pollux/device_measurement.h"
#include "pollux/fit.h"

#define PRIOR_GRADIENT_BYTES 4.0
#define PRIOR_UPDATE_BYTES 24.0		/* gradient, momentum, parameter: 3 reads, 3 writes */
#define PRIOR_NEAR 16.0			/* ratio of sizes */
#define PRIOR_LINE_ERROR 0.05		/* typical relative distance of products from a line */
#define PRIOR_SPREAD 0.7		/* standard deviation of a logarithm: a factor of two */

/* Returns false, with nothing expected, if no measurement applies or n_parameters is not
 * positive. */
bool prior_make(const struct device_measurement_list *measured, double n_parameters,
		struct fit_prior *prior);

#endif
