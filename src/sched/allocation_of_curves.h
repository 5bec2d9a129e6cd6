/* allocation_of_curves.h - the allocation worth most, on the devices of the policy's input. */
#ifndef SCHED_ALLOCATION_OF_CURVES_H
#define SCHED_ALLOCATION_OF_CURVES_H

#include "allocation.h"
#include "curve.h"

/* Values and result have the indexes of curve.h. */
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

#endif
