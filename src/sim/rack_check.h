/* rack_check.h - a second look at the allocations of a simulation with tiers. */
#ifndef SIM_RACK_CHECK_H
#define SIM_RACK_CHECK_H

#include "pollux/sim_racks.h"

/* What a job has after an event. */
struct rack_holding {
	const char *name;
	int gpus;			/* that it asks for */
	const int *held;		/* of each machine */
	const int *held_before;		/* before the event */
	bool runs, ran, ended;		/* now; before the event; its lease ended there */
	double lease_s;			/* of its present lease, the checkpoint included */
	double part, part_most;		/* it computes; of its tier without contention */
};

/* Fails with EX_SOFTWARE if a GPU is held twice, free GPUs do not add up, a running job has another
 * number than it asks for, a waiting job has any, a job lost or changed its GPUs within a lease, a
 * lease is too long, or a job computes faster than its tier allows. */
int rack_check(const struct sim_racks *t, const int *free, const struct rack_holding *jobs, int n,
	       double lease_s, struct err *err);

#endif
