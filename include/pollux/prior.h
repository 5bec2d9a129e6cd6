/* prior.h - the parameters to expect for a job, from the measurements of 'pollux profile --devices'
 * and the number of the model's parameters: pollux-goodput(7), The prior.
 *
 * The update takes the time of a copy in memory of half of PRIOR_UPDATE_BYTES: a copy reads as much
 * as it writes. The batch size of half speed is R. W. Hockney's n_1/2, "Parallel Computers 2",
 * 1988; the ring is of P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters
 * of workstations", J. Parallel Distrib. Comput. 69 (2009). In a line, a point that was not steady
 * has the weight 1 / (1 + (e / PRIOR_LINE_ERROR)^2), where e is the standard error of its mean
 * divided by the mean. If nothing was steady, everything is used: the spread is wide.
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
