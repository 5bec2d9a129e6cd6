/* simulate.h - how a workload would have gone under a policy: the published simulation, with the
 * policies of the live scheduler.
 *
 *	struct sim_result result;
 *	if (simulate(&options, &profiles, &workload, NULL, &result, err)) ...
 *	sim_result_release(&result);
 *
 * Every interval, or also at events, the policy decides on the submitted jobs, by what it may know.
 * Between decisions each job progresses as the profiles say. A job that starts, or whose nodes or
 * GPUs change, stands still for restart_s first; a batch size changes at no cost. (Qiao et al.,
 * "Pollux", OSDI 2021, section 5.3, and its artifact. Its results for tiresias and optimus are met
 * job by job.)
 *
 * The same input gives the same result, except decide_s and wall_s. Calls share only what they
 * read, so several may run at a time. */
#ifndef POLLUX_SIMULATE_H
#define POLLUX_SIMULATE_H

#include <stdbool.h>

#include "pollux/err.h"
#include "pollux/policy.h"
#include "pollux/sim_profiles.h"

/* The observations that a job's model of throughput is fitted to. */
enum sim_knowledge {
	SIM_KNOWLEDGE_NONE,	/* the job's own, as published: none at its start */
	SIM_KNOWLEDGE_SHARED,	/* those of all jobs of the application so far */
	SIM_KNOWLEDGE_FULL,	/* all rows of the profiles, from the start */
};

/* Nodes with GPUs of one kind. */
struct sim_kind {
	const char *name;		/* the caller's */
	int nodes, gpus_per_node;
};

struct sim_options {
	const struct policy *policy;
	int nodes, gpus_per_node;
	/* 0: nodes nodes, of one kind without a name. Otherwise the nodes are those of these kinds,
	 * the profiles have files for each, and restarts and slowdowns are those of Sia's simulator
	 * (src/sim/sim_profiles.c). */
	struct sim_kind kinds[SCHED_KINDS];
	int n_kinds;
	bool kinds_blind;		/* the policy is asked as if there were one kind */
	double interval_s;
	double interference;	/* part of goodput that distributed jobs lose on a shared node */
	double restart_s;
	double slice_s;		/* for policies with slices */
	double min_efficiency;	/* under goodput, as in config.h; 0: no bound */
	enum sim_knowledge knowledge;
	bool lengths_known;	/* policies are told how much work remains */
	/* Decisions also when a job ends, comes, or was measured first, to the second. */
	bool events;
	/* Above 0: machines in racks, under the named policy over racks, for which policy is NULL
	 * (sim_racks.h); slice_s is the lease. timers is as given, for titles. The caller's. */
	int racks;
	const char *rack_policy, *timers;
	bool contention;
	bool ends;		/* the end of each job is told, by ends.h, SIM_ENDS times */
};

/* Where the end of a job is told: at its first decision, and where this part of its work is done:
 * 5 %, 15 %, ..., 95 %, at the next decision. */
#define SIM_ENDS 11
struct sim_end {
	double part;			/* of the work that is done, really */
	double time_s;			/* NaN: the job did not live to see it */
	double from_s, middle_s, to_s;	/* as told; NaN: nothing could be told */
};

extern const struct sim_options SIM_OPTIONS_DEFAULT;	/* as published; sets no policy */

/* Sets the knowledge that a policy is published with: optimus and srtf know everything, the others
 * nothing. */
void sim_options_set_knowledge(struct sim_options *o, const struct policy *policy);

struct sim_job_result {
	const char *name;	/* the workload's */
	double submit_s, start_s, finish_s;	/* start: of its first placement */
	int restarts;		/* placements after the first */
	const char *application;	/* the profiles' */
	double gpu_hours;	/* held, restarts included */
	double fairness;	/* rho, below */
	double communication_s;	/* had GPUs, and did not compute; 0 without racks */
	struct sim_end *ends;	/* owned; SIM_ENDS, NULL where not asked for */
};

/* One decision. */
struct sim_round {
	double time_s;			/* the figures hold from here to the next decision */
	int running, waiting, gpus;
	int restarts;			/* caused by this decision */
};

/* Times are seconds. */
struct sim_figures {
	/* jct: finish - submit; linear between ranks */
	double avg_jct_s, median_jct_s, p99_jct_s;
	double makespan_s;		/* last finish, from the start of the workload's clock */
	double restarts;		/* sum over jobs */
	double gpu_hours;		/* GPUs held, restarts included */
	/* rho of a job is its completion time, divided by the time that it would take alone on its
	 * share of the cluster (Mahajan et al., "Themis", NSDI 2020). The share is GPUs / N, where
	 * N is the mean number of jobs during its life: packed, at the best batch size in each
	 * epoch. A share below 1 is that part of the time; between two whole numbers the time is
	 * linear. */
	double worst_fairness, unfair_fraction;	/* largest rho; jobs of rho > 1, of all */
	double rounds;			/* decisions */
	double decide_median_s, decide_p95_s;	/* of one decision, with placement */
	double gap_median;		/* sched_input.gap; 0 where there is one kind */
	double communication_s;		/* mean of the jobs */
	double wall_s;
};

struct sim_result {
	const struct sim_workload *workload;
	struct sim_figures figures;
	struct sim_job_result *jobs;	/* owned; in the order of the workload */
	struct sim_round *rounds;	/* owned */
	int n_rounds;
};

/* Called from time to time with the number of jobs that have ended. */
struct sim_progress {
	void (*tell)(void *data, int done);
	void *data;
};

/* EX_DATAERR: a placement is outside the profiles. EX_UNAVAILABLE: a job asks for more GPUs than
 * there are, or no job progresses any more. progress may be NULL. The workload and the profiles
 * must outlive the result. */
int simulate(const struct sim_options *options, const struct sim_profiles *profiles,
	     const struct sim_workload *workload, const struct sim_progress *progress,
	     struct sim_result *result, struct err *err);
void sim_result_release(struct sim_result *result);

/* The means of the figures of several workloads. */
struct sim_figures sim_figures_mean(const struct sim_result *results, int n);

#endif
