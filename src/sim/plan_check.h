/* plan_check.h - whether a round of a simulation with execution plans is legal. */
#ifndef SIM_PLAN_CHECK_H
#define SIM_PLAN_CHECK_H

#include "placement.h"
#include "pollux/sim_plans.h"

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

#endif
