/* simulate.h - what a workload would have been under a policy: the published simulation, with the policies
 * of the live scheduler.
 *
 *	struct sim_result result;
 *	if (simulate(&options, &profiles, &workload, NULL, &result, err)) ...
 *	sim_result_release(&result);
 *
 * Every interval the policy decides on the jobs that are there, by what it may know; between, each job makes
 * the progress that the profiles say. A job whose nodes or GPUs change stands still for restart_s first, on
 * its first start too. (Qiao et al., "Pollux", OSDI 2021, section 5.3, and its artifact, whose results for
 * tiresias and optimus are met job by job.)
 *
 * The same input gives the same result, but for decide_s and wall_s. Nothing is shared between calls but
 * what they only read: several may run at a time. */
#ifndef POLLUX_SIMULATE_H
#define POLLUX_SIMULATE_H

#include <stdbool.h>

#include "pollux/err.h"
#include "pollux/policy.h"
#include "pollux/sim_profiles.h"
#include "pollux/sim_workload.h"

/* Whose observations a job's model of throughput is fitted to. */
enum sim_knowledge {
	SIM_KNOWLEDGE_NONE,	/* its own, as published: it starts with none */
	SIM_KNOWLEDGE_SHARED,	/* those of all jobs of the application so far */
	SIM_KNOWLEDGE_FULL,	/* all that is in the profiles, from the start */
};

struct sim_options {
	const struct policy *policy;
	int nodes, gpus_per_node;
	double interval_s;
	double interference;	/* of goodput, lost by distributed jobs that share a node */
	double restart_s;
	double slice_s;		/* of the policies that have slices */
	enum sim_knowledge knowledge;
	bool lengths_known;	/* policies are told what work remains */
};

extern const struct sim_options SIM_OPTIONS_DEFAULT;	/* as published; no policy */

/* What a policy is published with: optimus and srtf know everything, the others nothing. */
void sim_options_set_knowledge(struct sim_options *o, const struct policy *policy);

struct sim_job_result {
	const char *name;	/* the workload's */
	double submit_s, start_s, finish_s;	/* start: of its first placement */
	int restarts;		/* placements after the first */
	const char *application;	/* the profiles' */
	double gpu_hours;	/* held, restarts included */
	double fairness;	/* rho, below */
};

/* One decision. */
struct sim_round {
	double time_s;		/* what follows is from then on, to the next one */
	int running, waiting, gpus;	/* by it */
	int restarts;			/* that it caused */
};

/* Times are seconds. */
struct sim_figures {
	double avg_jct_s, median_jct_s, p99_jct_s;	/* of finish - submit; between ranks linear */
	double makespan_s;		/* last finish, from the start of the workload's clock */
	double restarts;		/* sum over jobs */
	double gpu_hours;		/* GPUs held, restarts included */
	/* rho of a job = its completion time / that on its own share of the cluster, alone: with N the mean
	 * number of jobs during its life, GPUs / N (below 1: that part of the time; between two numbers:
	 * linearly between their times), packed, at the best batch size in each epoch. (Mahajan et al., "Themis", NSDI 2020.) */
	double worst_fairness, unfair_fraction;	/* largest rho; jobs of rho > 1, of all */
	double rounds;			/* decisions */
	double decide_median_s, decide_p95_s;	/* each, placement included */
	double wall_s;
};

struct sim_result {
	const struct sim_workload *workload;
	struct sim_figures figures;
	struct sim_job_result *jobs;	/* owned; in the order of the workload */
	struct sim_round *rounds;	/* owned */
	int n_rounds;
};

/* Called now and then with how many jobs have ended. */
struct sim_progress {
	void (*tell)(void *data, int done);
	void *data;
};

/* EX_DATAERR: outside of the profiles; EX_UNAVAILABLE: a job asks for more than there is, or nothing goes on
 * any more. progress may be NULL. The workload and the profiles must outlive the
 * result. */
int simulate(const struct sim_options *options, const struct sim_profiles *profiles,
	     const struct sim_workload *workload, const struct sim_progress *progress,
	     struct sim_result *result, struct err *err);
void sim_result_release(struct sim_result *result);

/* The means of the figures of several workloads. */
struct sim_figures sim_figures_mean(const struct sim_result *results, int n);

#endif
