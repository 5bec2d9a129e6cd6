/* prior.h - what the kernels and links of a device lead one to expect of a job: pollux-goodput(7).
 *
 *	struct fit_prior prior;
 *	if (prior_make(&measured, n_parameters, &prior)) options.prior = &prior;
 *
 * From what 'pollux profile --devices' measured of the kind, and the parameters of the job's model:
 *
 * A pass does three products for each layer (forward, and two backward), and once for each update touches
 * every parameter, gradient and momentum. For each type and width w a line a + b m is laid through the times
 * of products of m rows (least relative squares), so for each parameter the three take 3 (a + b m) / w^2,
 * and the update u, a copy in memory of half of PRIOR_UPDATE_BYTES (which reads as much as it writes). Of a job the width is not known, nor
 * how much else it does: only the ratio is expected of it,
 *
 *	alpha_grad / beta_grad = (3 a / w^2 + u) / (3 b / w^2)		samples
 *
 * the batch at which half of the device's speed is reached (R. W. Hockney's n_1/2, "Parallel Computers 2",
 * 1988); its geometric mean over types and widths, with the spread that these show, of PRIOR_SPREAD at least.
 * How long a pass takes is left to the job's observations.
 *
 * The gradients are PRIOR_GRADIENT_BYTES for each parameter. Synchronising two replicas takes, between CPU
 * slots, a barrier and a sum over vectors of that size, as measured; between GPUs, two copies of half of it
 * (a ring: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J. Parallel Distrib.
 * Comput. 69 (2009)). Each further replica adds, in a ring, the latency once and a quarter of the rest; where
 * four were measured, half of the difference.
 *
 * What was not steady when its time was up counts for less. A size is left out where a steady one of the same
 * operation and devices is within PRIOR_NEAR times of it; in a line a point has the weight
 * 1 / (1 + (e / PRIOR_LINE_ERROR)^2), with e the standard error of its mean over it; and a type and width of
 * which fewer than two points were steady is left out where there is another. Where nothing was steady it has
 * to do: the spread is wide.
 *
 * Pure functions. */
#ifndef POLLUX_PRIOR_H
#define POLLUX_PRIOR_H

#include <stdbool.h>

#include "pollux/device_measurement.h"
#include "pollux/fit.h"

#define PRIOR_GRADIENT_BYTES 4.0
#define PRIOR_UPDATE_BYTES 24.0		/* read gradient, momentum and parameter; write two; clear one */
#define PRIOR_NEAR 16.0
#define PRIOR_LINE_ERROR 0.05		/* times of products are about so far from a line */
#define PRIOR_SPREAD 0.7		/* of logarithms: a factor of two */

/* False, with nothing expected, where the measurements say nothing of it or n_parameters is not positive. */
bool prior_make(const struct device_measurement_list *measured, double n_parameters,
		struct fit_prior *prior);

#endif
