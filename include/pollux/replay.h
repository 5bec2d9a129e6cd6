/* replay.h - the jobs of a machine's own history, run once more on so many devices under a policy: on one
 * node, by events, with the policies of the live scheduler.
 *
 *	struct sim_job_result *results = xcalloc(n, sizeof(*results));
 *	struct replay_figures figures;
 *	if (replay(&options, jobs, n, results, err)) ...
 *	replay_figures(results, n, &figures);
 *
 * A pass is made when a job ends and, while a job is there, at the whole multiples of the interval, as cron does
 * on the wall clock. A job that is given another number of devices stands still for its restart first, holding the new ones; none of its work is
 * lost. Between, it makes the progress that its rates say, at the sizes of the policy's kind: the best by the
 * model, or the owner's. What a policy is told is what is true: models do not grow while it runs.
 *
 * simulate.h is the published simulation, of clusters and of what was measured in files. */
#ifndef POLLUX_REPLAY_H
#define POLLUX_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/policy.h"
#include "pollux/simulate.h"

/* A part of a job in which its noise scale is taken to stay. Rates are work a second on r devices, r =
 * 0..n_devices, [0] = 0. */
struct replay_phase {
	double until;			/* work done at its end */
	double pause_s;			/* time of it that is no step, whatever the devices: evaluations, saving */
	double *best;			/* owned; at the sizes of most goodput; NaN: not to be given so many.
					   Without a model: what policies assume */
	double *own;			/* owned; at the owner's batch size, or without a model */
};

/* Work is useful samples, or seconds where there is no model. Times are seconds on the wall clock. */
struct replay_job {
	int64_t id;			/* of jobs submitted at once the smaller is first */
	double submit_s;
	double release_s;		/* not before: what it came after, and is not among the jobs, has ended */
	int min_replicas, max_replicas;	/* 1 <= min <= max */
	double weight;
	bool preemptible;
	bool modelled;
	double told_work;		/* what policies are told it will take in all; NaN: nothing */
	double start_s, restart_s;	/* what its first launch takes until the first step, and each later one */
	struct replay_phase *phases;	/* owned; the last ends where the job does; at least one */
	int n_phases;
	int *after;			/* owned; indexes of jobs that are to have ended first */
	int n_after;
};

struct replay_options {
	const struct policy *policy;
	int n_devices;			/* at least every job's min_replicas */
	double interval_s, slice_s;
};

/* results: n of them, in the order of the jobs, which are by submit_s, then id; name and fairness stay unset.
 * device_s (n, or NULL): devices held times seconds. EX_UNAVAILABLE: no job gets any further. EX_DATAERR: one runs
 * at a rate that is none. */
int replay(const struct replay_options *options, const struct replay_job *jobs, int n,
	   struct sim_job_result *results, double *device_s, struct err *err);
void replay_job_release(struct replay_job *job);

/* As in struct sim_figures; makespan from the first submission. NaN of no jobs. */
struct replay_figures {
	int n_jobs;
	double avg_jct_s, median_jct_s, p99_jct_s, makespan_s, restarts, device_hours;
};

void replay_figures(const struct sim_job_result *results, const double *device_s, int n,
		    struct replay_figures *figures);
/* The median over jobs of |a's completion time - b's| / b's; NaN of no jobs. */
double replay_median_error(const struct sim_job_result *a, const struct sim_job_result *b, int n);

#endif
