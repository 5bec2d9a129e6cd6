/* sim_racks.h - simulation of jobs of a fixed size on machines and racks, where what a job makes of
 * its GPUs depends on how they are joined (racks.h).
 *
 *	struct sim_racks t = { .cluster = { ... } };
 *	if (sim_racks_read(&t, "tiers.csv", err)) ...
 *	if (sim_racks_workload(&t, "week.csv", &workload, err)) ...
 *	if (sim_racks_run(&options, &t, &workload, &result, err)) ...
 *
 * tiers.csv has the columns application (or model), machine, rack, network: the part of the time in
 * which the application computes when its GPUs lie within that. links.csv has tier,
 * bandwidth_GB_s, latency_s, congestion, and models.csv application (or model), compute_s,
 * gradient_bytes, messages. From these
 *
 *	T_comm = sum over the distances in use, from the least one, with p parts in each, of
 *		2 (p-1)/p * bytes_left * congestion / bandwidth + messages * 2 (p-1) * latency
 *	part = compute / (compute + T_comm)
 *
 * where bytes_left is divided by p after each. A single GPU has the part 1.
 *
 * A workload has the columns name, submitted_s, gpus, iterations (of one GPU),
 * time_per_iteration_s, application (or model). A job on a set S of GPUs makes gpus * part(S) /
 * time_per_iteration_s iterations a second. A job that takes GPUs has them for a lease, or to its
 * end, and then waits again; each lease after the first is a second longer, for a checkpoint. Jobs
 * that wait are asked when a job comes, when a lease ends, when a timer of theirs ends, and each
 * quarter of a lease. Each allocation is checked (src/sim/legal.h). */
#ifndef POLLUX_SIM_RACKS_H
#define POLLUX_SIM_RACKS_H

#include <stdbool.h>

#include "pollux/racks.h"
#include "pollux/simulate.h"

#define SIM_RACKS_CHECKPOINT_S 1.0

struct rack_application {
	char *name;			/* owned */
	double part[DISTANCES];		/* of tiers.csv */
	double compute_s, gradient_bytes, messages;	/* of models.csv */
};

struct rack_link {
	double bytes_per_s, latency_s, congestion;
};

struct sim_racks {
	struct rack_cluster cluster;	/* without free */
	struct rack_application *applications;	/* owned */
	int count;
	bool by_links;
	struct rack_link links[DISTANCES];
	/* The jobs whose GPUs lie on both sides of the boundary of a machine, or of a rack, share
	 * its uplink. */
	bool contention;
	const struct rack_policy *policy;
	bool tunes;
	struct rack_timers timers;	/* seconds; where !tunes */
};

/* A job of a workload, beside its sim_workload_job. */
struct rack_workload_job {
	const struct rack_application *application;
	int gpus;
	double work_s;			/* on its GPUs, without communication */
};

/* EX_NOINPUT; EX_DATAERR: "FILE:LINE: ...". */
int sim_racks_read(struct sim_racks *t, const char *path, struct err *err);
int sim_racks_read_links(struct sim_racks *t, const char *links, const char *models,
			 struct err *err);
void sim_racks_release(struct sim_racks *t);

/* The part of its time in which the application computes on held. sharers[d]: the jobs that share
 * the uplinks that it needs at distance d, at least 1. */
double sim_racks_part(const struct sim_racks *t, const struct rack_application *a, const int *held,
		      const int *sharers);

/* Each job has a struct rack_workload_job in w->own. EX_NOINPUT; EX_DATAERR, also for a job larger
 * than the cluster. */
int sim_racks_workload(const struct sim_racks *t, const char *path, struct sim_workload *w,
		       struct err *err);

/* EX_SOFTWARE: an allocation is not legal. */
int sim_racks_run(const struct sim_options *options, const struct sim_racks *t,
		  const struct sim_workload *workload, struct sim_result *result, struct err *err);

#endif
