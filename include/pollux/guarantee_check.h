/* guarantee_check.h - whether a decision keeps the guarantees: looks at numbers of devices and
 * goodput only, not at how a policy came to them. */
#ifndef POLLUX_GUARANTEE_CHECK_H
#define POLLUX_GUARANTEE_CHECK_H

#include <stddef.h>

#include "pollux/policy.h"

/* Returns the index of the first job whose guarantee the decision breaks, and writes how into why
 * (size bytes); -1: there is none. floor[j]: the goodput that job j was promised; NaN or 0: none.
 * A job breaks its guarantee if it is left without devices that it has, or is slower than promised
 * on those that it gets, while devices suffice for all the guarantees of jobs that run. */
int guarantee_check(const struct sched_input *in, const struct sched_choice *choices,
		    const double *floor, char *why, size_t size);

#endif
