/* legal.h - whether what was decided in a simulation is legal. */
#ifndef SIM_LEGAL_H
#define SIM_LEGAL_H

#include "application.h"
#include "pollux/sim_plans.h"
#include "pollux/sim_racks.h"

/* --- execution plans --- */

/* What a job is to do in the next round. */
struct plan_state {
	const struct plan_job *job;
	const char *name;
	const struct placement *held;
	int had;			/* GPUs in the round before */
	const char *plan;		/* in which it makes iterations; NULL: it makes none */
	double iteration_s;		/* the time of an iteration */
};

/* Fails with EX_SOFTWARE, and says what is wrong, where
 *	- the jobs hold more GPUs of a node, or want more cores, than the node has;
 *	- a job makes iterations without GPUs, or holds GPUs without making any;
 *	- the placement and the plan have no row, or another time than that of the row;
 *	- a guaranteed job is slower than its owner asked, or loses its GPUs.
 * The files have no host memory, so that is not checked. */
int plan_check(const struct plan_state *states, int n, int n_nodes, int gpus_per_node,
	       double cores_per_node, struct err *err);

/* --- machines in racks --- */

/* What a job has after an event. */
struct rack_holding {
	const char *name;
	int gpus;			/* that it asks for */
	const int *held;		/* of each machine */
	const int *held_before;		/* before the event */
	bool runs, ran, ended;		/* now; before the event; its lease ended there */
	double lease_s;			/* of its present lease, the checkpoint included */
	double part, part_most;		/* it computes; without contention */
};

/* Fails with EX_SOFTWARE if a GPU is held twice, free GPUs do not add up, a running job has another
 * number than it asks for, a waiting job has any, a job lost or changed its GPUs within a lease, a
 * lease is too long, or a job computes faster than its links allow. */
int rack_check(const struct sim_racks *t, const int *free, const struct rack_holding *jobs, int n,
	       double lease_s, struct err *err);

#endif
