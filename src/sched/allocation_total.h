/* allocation_total.h - sums of worth, exact and in one order, for allocation*.c. */
#ifndef SCHED_ALLOCATION_TOTAL_H
#define SCHED_ALLOCATION_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "allocation.h"

/* Allocations are compared by value, then by rank. */
struct total {
	int64_t value;		/* INT64_MIN: not allowed */
	int64_t rank;		/* jobs that keep what they hold * (n_devices + 1) - devices used */
};

static inline bool total_is_more(const struct total *a, const struct total *b)
{
	return a->value > b->value || (a->value == b->value && a->rank > b->rank);
}

/* The unit of values is 2 to this power. */
int allocation_exponent(const struct allocation_job *jobs, int n_jobs, int n_devices);

#endif
