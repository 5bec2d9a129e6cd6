/* allocation.h - how many devices each job gets: the allocation worth most, exactly.
 *
 * The sum of values over jobs, each with one number of devices, is a knapsack with a choice per
 * job: a dynamic program over jobs and devices finds its maximum in O(J G^2) time and O(J G) memory
 * for J jobs and G devices.
 *
 * Values are added as integers, in units of 2^-48 of the largest value (fewer bits for more than
 * 16,000 jobs), so that neither the order of the jobs nor rounding decides. Of two
 * allocations of equal worth, the better lets more jobs keep what they hold; if as many do, the
 * better uses fewer devices, and then it gives more to the earlier entry. */
#ifndef SCHED_ALLOCATION_H
#define SCHED_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "curve.h"

struct allocation_job {
	int held;		/* devices it has now */
	/* value[r]: the worth of r devices, r = 0..n_devices; memory of the caller. A value that is
	 * not finite: the job must not get r devices. */
	const double *value;
};

/* jobs: in the order of their ids. count[j] (result): the devices of jobs[j]. Returns false, with
 * all counts 0, where no allocation is allowed. */
bool allocation_best(const struct allocation_job *jobs, int n_jobs, int n_devices, int *count);

/* The search is exact if the product of (capacity[k] + 1) is at most this number of states. */
#define ALLOCATION_STATES 4096

/* The same for devices of several kinds: value[] and at[] have one index for kind and number, as in
 * curve.h, and a job gets devices of one kind.
 *
 * A state of the dynamic program is what is left of each kind. Where there are more states than
 * ALLOCATION_STATES, each kind first gets a price (Lagrangian relaxation; the prices are found by
 * subgradient: M. Fisher, Management Science 1981). At given prices each job chooses for itself,
 * and the sum of these best choices bounds what any allocation is worth. Some allocation is known.
 * Where a choice is worse than the job's best by more than the bound exceeds the known allocation,
 * no best allocation has that choice. The dynamic program looks at the other choices. If these are
 * still too many, the result is the known allocation. *gap (may be NULL): the bound over the worth
 * of the result, minus 1; 0 where the result is exact. */
bool allocation_best_of_kinds(const struct allocation_job *jobs, int n_jobs, const int *capacity,
			      int n_kinds, int *at, double *gap);

/* The same on the devices of the policy's input: values and result have the indexes of curve.h. */
static inline bool allocation_of_curves(const struct curves *curves,
					const struct allocation_job *jobs, int *at)
{
	int capacity[SCHED_KINDS];

	if (curves->n_kinds == 1)
		return allocation_best(jobs, curves->in->n_jobs, curves->n_devices, at);
	for (int k = 0; k < curves->n_kinds; k++)
		capacity[k] = curves->kinds[k].n;
	return allocation_best_of_kinds(jobs, curves->in->n_jobs, capacity, curves->n_kinds, at,
					curves->in->gap);
}

/* --- for the files allocation*.c and host_memory.c --- */

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
