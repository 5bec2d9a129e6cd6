/* replay.h - the jobs of a machine's own history, run once more under a policy, on a given number
 * of devices of one node: a simulation by events, with the policies of the live scheduler.
 *
 * A pass takes place when a job ends; when a job comes, where that is asked for; and, while any
 * job waits or runs, at whole multiples of the interval, as under cron on the wall clock. A job
 * that is given another number of devices first stands still for its restart, on the new devices;
 * none of its work is lost. Between passes it progresses at its rates, at the sizes that the
 * policy uses: the best by the model, or the owner's. Policies are told the truth: models do not
 * change during a replay.
 *
 * simulate.h is the published simulation, of clusters, from measurements in files. */
#ifndef POLLUX_REPLAY_H
#define POLLUX_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/policy.h"
#include "pollux/simulate.h"

/* A part of a job with a constant noise scale. Rates are work a second on r devices, r =
 * 0..n_devices, [0] = 0. */
struct replay_phase {
	double until;			/* work done at its end */
	/* time without steps, on any devices: evaluations, saving */
	double pause_s;
	/* Owned; at the sizes of most goodput; NaN: the job must not get this many. Without a
	 * model: the rates that policies assume. */
	double *best;
	double *own;			/* owned; at the owner's batch size, or without a model */
};

/* Work is useful samples, or seconds for a job without a model. Times are seconds on the wall
 * clock. */
struct replay_job {
	int64_t id;			/* among jobs submitted at once, the smaller is first */
	double submit_s;
	/* The job starts no sooner than this: the latest end of the jobs that it was to come after
	 * and that are not replayed. */
	double release_s;
	int min_replicas, max_replicas;	/* 1 <= min <= max */
	double weight;
	bool preemptible;
	bool modelled;
	double told_work;		/* the total work that policies are told; NaN: none */
	/* from launch to first step: of its first launch, of later ones */
	double start_s, restart_s;
	struct replay_phase *phases;	/* owned; at least one; the last ends where the job does */
	int n_phases;
	int *after;			/* owned; indexes of jobs that must end first */
	int n_after;
};

/* jobs: ordered by submit_s, then id. options: policy, nodes = 1, gpus_per_node, which is at least
 * every job's min_replicas, interval_s, slice_s, and events: a pass takes place also when a job
 * comes. results: n entries in the same order; name and fairness stay unset. EX_UNAVAILABLE: no job
 * progresses any more. EX_DATAERR: a job runs at a rate that is not positive and finite. */
int replay(const struct sim_options *options, const struct replay_job *jobs, int n,
	   struct sim_job_result *results, struct err *err);
void replay_job_release(struct replay_job *job);

/* The median over jobs of |a's completion time - b's| / b's; NaN without jobs. */
double replay_median_error(const struct sim_job_result *a, const struct sim_job_result *b, int n);

#endif
