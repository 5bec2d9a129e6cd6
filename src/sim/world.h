/* world.h - a simulation: its jobs and its clock, and the world in which it takes place.
 *
 * The loop of simulate.c goes from one event to the next: time passes, jobs come, and where the
 * event calls for it the policy decides. What differs between simulations is a struct world: how
 * fast a job gets on, what the policy is told, what a launch costs, what is not allowed.
 *
 *	measured.c	published measurements of applications, as in Pollux' and Sia's artifacts
 *	sim_plans.c	execution plans, by the files of Rubick's artifact
 *	sim_racks.c	machines in racks, as for Dally: leases instead of numbers of GPUs
 *	replay.c	the machine's own history
 */
#ifndef POLLUX_SIM_WORLD_H
#define POLLUX_SIM_WORLD_H

#include <stdbool.h>

#include "application.h"
#include "pollux/simulate.h"

struct sim_job {
	const struct sim_workload_job *spec;
	int index;
	bool here;			/* submitted, and free to start */
	double start_s, finish_s;	/* NaN: not yet */
	int restarts;			/* -1: never had any GPU */
	struct placement placement;
	int kind;			/* of its GPUs, or of those it had last */
	double delay_s;			/* time left until its launch is over */
	double launched_s, waiting_since_s, demoted_s;
	double attained_device_s;	/* GPUs held, times seconds */
	double service_device_s;	/* the same as policies are told of it */
	double communication_s;
	double active_sum;		/* integral over its life of the number of active jobs */
	double active_s;		/* its life, from its first decision */
	void *own;			/* what the world has of it */
	struct sim_end *ends;		/* owned; NULL where not asked for */
};

/* The GPUs of one kind. */
struct gpu_kind {
	const char *name;	/* NULL: there is one kind */
	int first_node, nodes, gpus_per_node, n_gpus;
};

struct sim {
	const struct world *world;
	void *own;			/* the world's */
	const struct sim_options *options;
	struct err *err;		/* the caller's */
	const struct sim_workload *workload;
	struct gpu_kind kinds[SCHED_KINDS];
	int n_kinds;			/* at least 1 */
	int n_nodes, n_gpus;		/* of all kinds */
	/* Every interval_s there is a decision, where a job is present. Infinite: none. */
	double interval_s;
	/* Jobs may get any number of GPUs: policies are told that all are on one node. */
	bool any_number;
	/* The clock stops at events of jobs; a decision takes place when a job comes, or ends. */
	bool stops_at_events, decides_on_arrival, decides_on_end;

	struct sim_job *jobs;		/* owned; in the order of the workload */
	char *owns;			/* owned; memory of what the world has of them */
	struct sim_job **active;	/* owned; here and not done, in the order of the workload */
	int n_active, n_done;
	int first, n_submitted;		/* jobs before first are here or done */
	double *ended_device_s;		/* owned; as policies are told */
	int n_ended;
	int64_t round;			/* the last interval that began */
	double now_s;
	double next_arrival_s;		/* before which no job comes */
	double alarm_s;			/* set by the world: a decision takes place then */
	double progress_s;		/* when a job last got on */
	bool due;			/* set by the world, too: this event calls for a decision */
	double *decide_s, *gap;		/* owned; of each decision */
};

/* A time on the clock, and how long it is until then. Neither can be had from the other without
 * rounding. */
struct moment {
	double at_s, in_s;
};

struct world {
	size_t own_size;		/* bytes of what the world has of each job, 0 at first */
	/* Those that return int fail by -1 and s->err. */
	/* The next event of a job; left as it is where there is none. */
	int (*event)(struct sim *s, struct sim_job *job, struct moment *event);
	/* Lets the job run for some seconds up to now_s, and sets finish_s if it ends. */
	int (*run)(struct sim *s, struct sim_job *job, double start_s, double seconds);
	/* When the job may start, as far as is known; NULL: when it is submitted. */
	double (*release_s)(const struct sim *s, const struct sim_job *job);
	/* Adds to what is told of the job. NULL: decide is there. */
	int (*tell)(struct sim *s, struct sim_job *job, struct sched_job *told);
	/* Finds nodes; NULL: by assign.h. */
	void (*place)(const struct sim *s, const struct sched_choice *choices,
		      struct placement *placements);
	/* The job has another placement, or (n = 0) none any more. */
	void (*launch)(struct sim *s, struct sim_job *job);
	/* The job has ended: adds to ended_device_s. NULL: its service is added. */
	void (*ended)(struct sim *s, struct sim_job *job);
	/* Decides in another way than by a policy of policy.h; may be NULL. */
	void (*decide)(struct sim *s, struct sim_round *round);
	/* After a decision: looks whether it is legal. May be NULL. */
	int (*decided)(struct sim *s);
	/* The time that the job would take alone on this many GPUs; NULL: nobody asks. */
	int (*alone)(struct sim *s, const struct sim_job *job, double gpus, double *seconds);
};

void sim_init(struct sim *s, const struct world *world, const struct sim_options *options,
	      const struct sim_workload *workload, struct err *err);
void sim_add_kind(struct sim *s, const char *name, int nodes, int gpus_per_node);
void sim_release(struct sim *s);
/* Runs to the end of the last job. result (result): empty after an error. progress may be NULL. */
int sim_run(struct sim *s, const struct sim_progress *progress, struct sim_result *result);

/* What policies are told: of the job, and of all active ones, whose entries told has. */
int sim_tell(struct sim *s, struct sim_job *job, struct sched_job *told);
struct sched_input sim_input(const struct sim *s, const struct sched_job *told);
/* What is told of the work that the job has left, or has in all, in whatever unit: NaN, unless
 * lengths are known. */
double sim_told_left(const struct sim *s, double left);
/* Adds the time on its GPUs to the service of the job, at a speed relative to the slowest kind. */
void sim_serve(struct sim_job *job, double seconds, double speed);

/* --- figures.c --- */
/* The q-quantile of n values, which are sorted; linear between ranks, as in numpy. NaN if n is
 * 0. */
double quantile(double *values, int n, double q);

/* --- whether what was decided is legal: of execution plans (sim_plans.c) --- */

/* A job, and what it is to do in the next round. */
struct plan_run {
	const struct plan_job *job;
	const char *name;
	const struct placement *held;
	int had;			/* GPUs in the round before */
	const char *plan;		/* in which it makes iterations; NULL: it makes none */
	double iteration_s;		/* the time of an iteration */
	double left;			/* iterations */
	double *goodput;		/* owned; [0..n_gpus] */
};

/* Fails with EX_SOFTWARE, and says what is wrong, where a round is not legal by
 * pollux-simulate(1). */
int plan_check(const struct plan_run *const *runs, int n, int n_nodes, int gpus_per_node,
	       double cores_per_node, struct err *err);

/* --- and of machines in racks (racks_files.c) --- */

/* A job, and what it has after an event. */
struct rack_run {
	const char *name;
	const struct rack_application *application;
	struct rack_job told;
	/* The present lease: the job computes for `part` of the time from from_s to ends_s;
	 * part_most is without contention. */
	double begun_s, from_s, lease_end_s, ends_s, part, part_most;
	bool runs, last;		/* last: the lease ends with the work */
	bool ran, ended;		/* before this event; its lease ended at this event */
	int *held, *held_before;	/* of each machine; before this event */
};

/* The same of an allocation. */
int rack_check(const struct sim_racks *t, const int *free, const struct rack_run *runs, int n,
	       double lease_s, struct err *err);

#endif
