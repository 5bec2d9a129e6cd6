/* wait_limits.h - how long a job may wait before it is overdue: B of policy.h. */
#ifndef SCHED_WAIT_LIMITS_H
#define SCHED_WAIT_LIMITS_H

#include "curve.h"

/* The limit of each job, seconds, in the order of the curves; the caller frees the result. For a
 * running job it is the limit on a wait that begins now. */
double *wait_limits_of(const struct curves *curves);

#endif
