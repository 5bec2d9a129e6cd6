/* sim_plans.h - simulation where a policy chooses execution plan and GPUs together, on the files of
 * Rubick's artifact (MLSys 2025).
 *
 *	struct sim_plans plans;
 *	if (sim_plans_read(&plans, "placements", 8, 64, err)) ...
 *	if (sim_plans_workload(&plans, "workload.csv", &workload, err)) ...
 *	if (sim_plans_run(&options, &plans, &workload, &result, err)) ...
 *
 * DIR/APP/placements.csv has the columns exec_plan, placement, iter_time: the seconds of an
 * iteration of application APP on a placement, a digit for the GPUs of each node, the smallest of
 * its rotations. Rows with the time 0 did not run. A workload has the columns name,
 * submission_time, application, num_gpus, num_cpus, exec_plan, steps, is_sla, with is_sla 1 for a
 * guaranteed job: such a job is never slower than on num_gpus GPUs with exec_plan, and once it runs
 * it runs to its end.
 *
 * The rows are the truth and all that a policy may choose from: a placement or a plan without row
 * is not allowed. A job gets 1, 2, 4, ... GPUs of a node, or whole nodes, with the fastest plan
 * there. It ends after steps + 1 iterations. A start or another placement costs restart_s. Each
 * round is checked before it runs (src/sim/legal.h). */
#ifndef POLLUX_SIM_PLANS_H
#define POLLUX_SIM_PLANS_H

#include <stdbool.h>

#include "pollux/simulate.h"

#define PLAN_DIGITS 32
#define PLAN_CORES_PER_GPU 12	/* of the published nodes */

struct plan_row {
	char *plan;			/* owned */
	char digits[PLAN_DIGITS + 1];
	int gpus;
	double iteration_s;
};

struct plan_application {
	char *name;			/* owned */
	struct plan_row *rows;		/* owned; the fastest first */
	int n_rows;
	/* Owned; the fastest on [0..n_gpus] GPUs; NULL: these GPUs cannot be given. */
	const struct plan_row **best;
	int least_gpus;
};

struct sim_plans {
	struct plan_application *items;	/* owned */
	int count, gpus_per_node, n_gpus;
};

/* A job of a workload, beside its sim_workload_job. */
struct plan_job {
	const struct plan_application *application;
	double iterations;
	double cores;			/* for each GPU, at most the GPU's share */
	bool guaranteed;
	double owner_s;			/* an iteration as its owner asked; infinite: no such row */
	double reference_s;		/* the same with the fastest plan on that many GPUs */
	int min_gpus;			/* the least that it may be given */
};

/* EX_NOINPUT; EX_DATAERR: "FILE:LINE: ...". */
int sim_plans_read(struct sim_plans *p, const char *directory, int gpus_per_node, int n_gpus,
		   struct err *err);
void sim_plans_release(struct sim_plans *p);
/* The row of a plan (NULL: of the fastest plan) on a placement; NULL: there is no row. digits is
 * rotated to its canonical form. */
const struct plan_row *plan_row_find(const struct plan_application *a, const char *plan,
				     const char *digits);

/* Each job has a struct plan_job in w->own. EX_NOINPUT; EX_DATAERR. */
int sim_plans_workload(const struct sim_plans *p, const char *path, struct sim_workload *w,
		       struct err *err);

/* EX_SOFTWARE: a round is not legal. EX_UNAVAILABLE: no job progresses any more. */
int sim_plans_run(const struct sim_options *options, const struct sim_plans *plans,
		  const struct sim_workload *workload, struct sim_result *result, struct err *err);

#endif
