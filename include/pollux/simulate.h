/* simulate.h - simulations of published measurements: what is read of files, how a workload goes
 * under a policy, made-up workloads, execution plans, machines in racks. */
#ifndef POLLUX_SIMULATE_H
#define POLLUX_SIMULATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/policy.h"
#include "pollux/racks.h"

/* --- profiles --- */

/* Measurements of training applications, each in a directory: the time of a step on each placement,
 * and the gradients at each epoch. pollux-simulate(1) has the form of all files. Directories
 * without placements.csv are passed over. Profiles do not change after they are read, so threads
 * may share them. */

struct application;		/* src/sim/application.h */

struct sim_profiles {
	char *directory;		/* owned */
	struct application *items;	/* owned; by name */
	int count;
	int n_kinds;			/* 1: the files' names have no kind, or one kind */
};

/* kinds: of GPU, which the names of the files have; n_kinds = 0: they have none. EX_NOINPUT: no
 * such directory, or no application in it. EX_DATAERR: "FILE:LINE: ...". */
int sim_profiles_read(struct sim_profiles *p, const char *directory, const char *const *kinds,
		      int n_kinds, struct err *err);
/* Sets the restarts, or the factors by which the applications are slower than the profiles say, of
 * a file with the columns application and seconds, or application and factor. EX_NOINPUT;
 * EX_DATAERR. */
int sim_profiles_read_table(struct sim_profiles *p, const char *path, bool restarts,
			    struct err *err);
void sim_profiles_release(struct sim_profiles *p);

/* Borrowed from p; NULL: there is no such application. */
struct application *sim_profiles_find(const struct sim_profiles *p, const char *name);

/* --- workloads --- */

struct sim_workload_job {
	char *name;			/* owned */
	double submit_s;
	const struct application *application;	/* NULL in other worlds than that of profiles */
	const char *application_name;	/* borrowed */
	int replicas;
	int64_t batch_size;
	double duration_s;		/* NaN: by the application */
	/* NaN, or its owner says that it runs for so long at most; policies are told so. */
	double time_limit_s;
};

struct sim_workload {
	char *name;			/* the file's, without directory and ".csv" */
	struct sim_workload_job *jobs;	/* owned; in the order of the file, which breaks ties */
	int n_jobs;
	/* Owned: what another world has of each job: struct plan_job, struct rack_workload_job. */
	void *own;
};

/* The profiles must outlive the workload. EX_NOINPUT: the file cannot be read. EX_DATAERR:
 * "FILE:LINE: ...", also for an application or a batch size that the profiles do not have. */
int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err);
void sim_workload_release(struct sim_workload *w);
/* The same jobs at other times: the time from each submission to the next is multiplied by a random
 * number, exponential with mean 1, so that arrivals are a Poisson process at the rate of the
 * workload, hour by hour. Numbers follow from the seed, the workload's name and the number of the
 * draw. All is the workload's but draw->jobs, which is the caller's to free. */
void sim_workload_draw(const struct sim_workload *w, uint64_t seed, int number,
		       struct sim_workload *draw);

/* --- a simulation --- */

/* How a workload would have gone under a policy: the published simulation, with the policies of
 * the live scheduler.
 *
 * Every interval, or also at events, the policy decides on the submitted jobs, by what it may know.
 * Between decisions each job progresses as the profiles say. A job that starts, or whose nodes or
 * GPUs change, stands still for restart_s first; a batch size changes at no cost. (Qiao et al.,
 * "Pollux", OSDI 2021, section 5.3, and its artifact. Its results for tiresias and optimus are met
 * job by job.)
 *
 * The same input gives the same result, except decide_s and wall_s. Calls share only what they
 * read, so several may run at a time. */

/* The observations that a job's model of throughput is fitted to. */
enum sim_knowledge {
	SIM_KNOWLEDGE_NONE,	/* the job's own, as published: none at its start */
	SIM_KNOWLEDGE_SHARED,	/* those of all jobs of the application so far */
	SIM_KNOWLEDGE_FULL,	/* all rows of the profiles, from the start */
};

#define SIM_GPUS_OF_NODE_MAX 9	/* where a placement has one digit for each node */

/* What policies are told of the work that remains. */
enum sim_lengths {
	SIM_LENGTHS_UNKNOWN,
	SIM_LENGTHS_LEARNED,	/* what the jobs of the application tell that have ended */
	SIM_LENGTHS_KNOWN,
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
	enum sim_lengths lengths;
	/* The length of each job is that of its application, times a lognormal factor with this
	 * deviation of its logarithm; the factors are drawn from the seed. */
	double length_spread;
	uint64_t seed;
	/* Decisions also when a job ends, comes, or was measured first, to the second. */
	bool events;
	/* Above 0: machines in racks, under a policy over racks, for which policy is NULL; slice_s
	 * is the lease. timers is as given, for titles; NULL: the policy has none. The caller's. */
	int racks;
	const struct rack_policy *rack_policy;
	const char *timers;
	bool tunes;
	struct rack_timers rack_timers;	/* seconds; where !tunes */
	bool contention;
	bool plans;		/* the world is that of execution plans */
	bool placements;	/* what each job has is kept of each decision */
	bool ends;		/* the end of each job is told, by ends.h, SIM_ENDS times */
};

/* Where the end of a job is told: at its first decision, and where this part of its work is done:
 * 5 %, 15 %, ..., 95 %, at the next decision. */
#define SIM_ENDS 11
struct sim_end {
	double part;			/* of the work that is done, really */
	double time_s;			/* NaN: the job did not live to see it */
	double from_s, middle_s, to_s;	/* as told; NaN: nothing could be told */
	/* when it starts, likewise, where it has never run */
	double start_from_s, start_middle_s, start_to_s;
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
	int held_end;			/* sim_result.held: from the end of the round before */
};

/* GPUs of a node that a job has after a decision. */
struct sim_held {
	int job, node, gpus;		/* nodes count from 0, through all kinds */
};

/* Times are seconds. */
struct sim_figures {
	/* jct: finish - submit; linear between ranks */
	double avg_jct_s, median_jct_s, p99_jct_s;
	double makespan_s;		/* last finish, from the start of the clock */
	double restarts;		/* sum over jobs */
	double gpu_hours;		/* GPUs held, restarts included */
	/* By Mahajan et al., "Themis", NSDI 2020; pollux-simulate(1) defines rho. */
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
	struct sim_held *held;		/* owned; by job and node; NULL where not asked for */
	int n_held;
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

/* The figures of n jobs whose clock began at from_s, but for rounds and measured times; NaN where
 * there is no job. */
struct sim_figures sim_figures_of(const struct sim_job_result *jobs, int n, double from_s);
struct sim_figures sim_figures_mean(const struct sim_figures *figures, int n);
/* Half the width of the 95 % confidence interval of the mean of n independent values, by Student's
 * t; NaN: n is below 2. Of each figure. */
double half_width(const double *values, int n);
struct sim_figures sim_figures_half_width(const struct sim_figures *figures, int n);

/* --- made-up profiles and workloads --- */

/* For examples, tests, and sizes without records: pollux-simulate(1), MADE-UP WORKLOADS. */
struct sim_generation {
	int n_jobs, n_workloads;
	double seconds;			/* mean time from first to last submission of a workload */
	int gpus_per_node;		/* covered by the profiles: at least 4, at most
					   SIM_GPUS_OF_NODE_MAX */
	uint64_t seed;			/* the same seed gives the same bytes */
	const volatile sig_atomic_t *stop;	/* not 0: stops the generation; may be NULL */
};

/* GPUs of a node that the profiles cover. */
int sim_generate_gpus(const struct sim_generation *g);
int sim_generate_applications(void);

/* Makes directory/profiles and directory/workloads. The directory must not exist, and appears when
 * it is complete. EX_CANTCREAT; EX_TEMPFAIL: stopped. */
int sim_generate(const char *directory, const struct sim_generation *g, struct err *err);

/* --- execution plans --- */

/* Simulation where a policy chooses execution plan and GPUs together, on the files of Rubick's
 * artifact (MLSys 2025): pollux-simulate(1), EXECUTION PLANS. Rows with the time 0 did not run. A
 * job ends after steps + 1 iterations. */

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

/* Each job has a struct plan_job in w->own. EX_NOINPUT; EX_DATAERR. */
int sim_plans_workload(const struct sim_plans *p, const char *path, struct sim_workload *w,
		       struct err *err);

/* EX_SOFTWARE: a round is not legal. EX_UNAVAILABLE: no job progresses any more. */
int sim_plans_run(const struct sim_options *options, const struct sim_plans *plans,
		  const struct sim_workload *workload, const struct sim_progress *progress,
		  struct sim_result *result, struct err *err);

/* --- machines in racks --- */

/* Simulation of jobs of a fixed size on machines and racks, where what a job makes of its GPUs
 * depends on how they are joined (racks.h): pollux-simulate(1), RACKS. A job on a set S of GPUs
 * makes gpus * part(S) / time_per_iteration_s iterations a second; a single GPU has the part 1. */

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
};

/* A job of a workload, beside its sim_workload_job. */
struct rack_workload_job {
	const struct rack_application *application;
	double work_s;			/* on its GPUs, without communication */
};

/* Reads tiers.csv, or where tiers is NULL links.csv and models.csv. EX_NOINPUT; EX_DATAERR:
 * "FILE:LINE: ...". */
int sim_racks_read(struct sim_racks *t, const char *tiers, const char *links, const char *models,
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
		  const struct sim_workload *workload, const struct sim_progress *progress,
		  struct sim_result *result, struct err *err);

#endif
