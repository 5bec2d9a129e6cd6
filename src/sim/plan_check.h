/* plan_check.h - whether a round of a simulation with execution plans is legal. */
#ifndef SIM_PLAN_CHECK_H
#define SIM_PLAN_CHECK_H

#include "pollux/sim_plans.h"

/* What a job is to do in the next round. */
struct plan_state {
	const struct plan_job *job;
	const char *name;
	const int *held;		/* GPUs on each node */
	const int *held_before;		/* in the round before */
	const char *plan;		/* in which it makes iterations; NULL: it makes none */
	double iteration_s;		/* the time of an iteration */
};

/* Writes the text of "GPUs on each node", without nodes on which the job has none. digits has room
 * for PLAN_DIGITS + 1 bytes. */
void plan_digits(const int *held, int n_nodes, char *digits);

/* Fails with EX_SOFTWARE, and says what is wrong, where
 *	- the jobs hold more GPUs of a node, or want more cores, than the node has;
 *	- a job makes iterations without GPUs, or holds GPUs without making any;
 *	- the placement and the plan have no row, or another time than that of the row;
 *	- a guaranteed job is slower than its owner asked, or loses its GPUs.
 * The files have no host memory, so that is not checked. */
int plan_check(const struct plan_state *states, int n, int n_nodes, int gpus_per_node,
	       double cores_per_node, struct err *err);

#endif
