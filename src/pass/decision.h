/* decision.h - what is to become of each job: private to src/pass. Nothing here reads or writes.
 *
 * A pass decides in stages (decide.c): which jobs are in question, what they would make of each
 * kind and number of devices, what the policy chooses of that, on which devices, in which
 * configuration, and why. Each stage is a function of the snapshot that changes the decision. */
#ifndef POLLUX_DECISION_H
#define POLLUX_DECISION_H

#include "pollux/assign.h"
#include "pollux/execution_plan.h"
#include "pollux/knowledge.h"
#include "pollux/node_sizes.h"
#include "pollux/share_pair.h"
#include "pollux/tier_wait.h"
#include "snapshot.h"

struct binding;

/* The part of the host's memory that running jobs may have together. */
#define HOST_MEMORY 0.9

/* --- what a candidate makes of devices --- */

/* What a candidate, or one of its plans, makes of one kind of device. */
struct kind_view {
	struct job_model model;
	struct goodput_table *table;	/* NULL: nothing is known, or the job must not have it */
	bool owns_table;
	/* Owned: what the policy is offered where that is not the table: less goodput; and of a job
	 * with plans the leaner ways, their plans, and the host's memory that each takes. */
	struct {
		double *goodput, *host_bytes;
		int *plan;
	} ways[SCHED_WAYS];
};

/* What a candidate makes of one plan. */
struct plan_view {
	char *workload;			/* owned: the name under which knowledge is kept */
	bool allowed;			/* it can read the checkpoints that the job may have */
	bool ran_out;			/* at the submitted sizes, on every kind of device */
	unsigned ran_out_on;		/* bit k: at these sizes, on kind k of the decision */
	bool known_to_fail;		/* at the submitted sizes; too_large NULL: in a profile */
	const struct configuration *too_large;	/* the last that ran out of memory; NULL: none */
	const struct workload *known;	/* NULL: never measured */
	/* Owned, by kind, with the tables. These have NaN where the plan does not fit; NULL:
	 * nothing is known, the plan is not allowed, or the policy looks at no goodput. */
	struct kind_view *on_kind;
};

struct job_plans {
	struct execution_plans declared;
	struct plan_view *views;	/* owned; by plan */
	int n_kinds;			/* of each view's on_kind */
	int trial;			/* the plan to be tried; -1: measured ones are compared */
};

static inline const struct execution_plan *plan_at(const struct job_plans *p, int i)
{
	return &p->declared.items[i];
}

/* The index of the plan of this name; -1: there is none. */
static inline int job_plan_index(const struct job_plans *p, const char *name)
{
	const struct execution_plan *plan = execution_plans_find(&p->declared, name);

	return plan ? (int)(plan - p->declared.items) : -1;
}

struct job_guarantee {
	struct guarantee declared;
	double floor;			/* promised goodput, on the slowest kind; NaN: not known */
	int needs;			/* devices; 0: what is promised cannot be had here */
	bool admitted;
	bool lacks_nodes;		/* not admitted, as the nodes have no room for it */
};

/* The place of a candidate that is a guest. */
struct share_place {
	int device;			/* -1: it is no guest */
	int host;			/* index of the candidate that has the device */
	bool leaves;			/* a guest that is to leave its host */
	int seat;			/* of a run that is to start and shares; 0: none */
	struct share_answer answer;	/* of the guest, beside those that came before */
};

/* A job that waits for devices of a better tier, or moves to such devices; times are on the boot
 * clock. */
struct tier_hold {
	bool waits;
	/* Its run, which would be suspended or is, is relaunched on better devices instead. */
	bool moves;
	int tier;
	double since_s;
	double until_s;			/* infinite: it accepts no others */
	double start_s;			/* expected */
};

struct pass_tiers {
	struct tier_links links;	/* of the snapshot's devices */
	bool several;
	bool pinned;			/* a candidate has --tier */
	/* Owned; [kind * n_best + r]: the best tier that r devices of the kind can have. */
	enum configuration_tier *best;
	int n_best;
	bool *kept;			/* owned; by device: free, for a job that waits */
	bool *promised;			/* owned; by device: to a job that waits */
	struct tier_hold *holds;	/* owned; by candidate */
};

/* --- the decision --- */

/* A job that the policy decides on. */
struct candidate {
	const struct job *job;		/* in the snapshot, like the next two */
	const struct run *run;		/* the run that holds devices; NULL: the job waits */
	const struct run *suspended;	/* the run that waits with its memory; NULL: none */
	bool relaunchable;		/* goes on where it was, if it is stopped and relaunched */
	bool suspends;			/* its run is suspended, rather than stopped, or will be */
	int turn;			/* among the runs of its sweep that go on from a rung; 0 */
	struct job_plans *plans;	/* owned; NULL: none are declared */
	struct job_guarantee *guarantee;	/* owned; NULL: none is declared */
	const struct workload *workload;	/* of the model; NULL: never measured */
	struct job_model model;
	struct kind_view *on_kind;	/* owned; by kind; NULL: nothing is known */
	int home;			/* the kind by which it is judged where that is no matter */
	unsigned too_small;		/* bit k: kind k has too little memory for the job */
};

/* The usable devices of one kind. */
struct device_kind {
	const char *name;		/* in the snapshot; NULL: the only kind */
	int n;
	int64_t memory_bytes;		/* 0: slots of the CPU share the host's */
	/* A job that ran out of memory is tried on larger kinds: by memory, slots by cores. */
	int64_t size;
	int *by_node;			/* owned; what nodes rests on */
	struct node_sizes nodes;	/* n 0: all devices are on one node */
};

/* A configuration on the devices that a job was assigned, and what it is worth. */
struct sizes {
	struct configuration configuration;
	double learning_rate_scale;
	double goodput;			/* of this configuration; NaN: not known */
	double goodput_now;		/* of the present configuration; NaN: none, or not known */
	struct noise_estimate noise;	/* that the goodput rests on */
};

/* A job that the policy was not asked about, and why. */
struct passed_over {
	const struct job *job;
	bool never;			/* it can never run, and is cancelled; false: it waits */
	struct verdict verdict;
	/* never: the job for whose end it can never start; 0: it is cancelled for another reason */
	int64_t cancelled_for;
	double next_start_s;		/* wall clock; NaN: cannot be told */
	bool beyond_limit;		/* as many of its group run as may */
	/* The suspended run of the job that goes on where it was; NULL: none. */
	const struct run *resumes;
	/* The processors on which it starts, without a device, in less than RUN_CORES_SIZE bytes;
	 * "": any; NULL: it does not start. */
	const char *processors;
};

struct decision {
	struct candidate *candidates;	/* in the order of the jobs */
	struct sched_job *sched_jobs;	/* by candidate, like the next two */
	struct sched_choice *choices;
	struct sizes *sizes;		/* of the candidates that are given devices */
	int n;				/* candidates */
	int n_asked;			/* the first so many, which the policy is asked about */
	struct share_place *places;	/* by candidate */
	struct dependency_list after;	/* owned: the dependencies as they are after this pass */
	struct passed_over *passed_over;
	int n_passed_over;
	/* by device: it can be given out, and no run keeps it on which nothing is decided */
	bool *usable;
	bool *left;		/* free, and not taken: they are for other users */
	int n_usable;
	int n_kinds;			/* at least 1 */
	struct device_kind kinds[SCHED_KINDS];
	int *kind_of;			/* by device: its kind; -1: of none */
	/* Devices that other users have. Jobs are weighed for these as well, to tell the others how
	 * many devices they want. */
	int n_elsewhere;
	struct binding *bindings;	/* owned; of the runs that go on or start */
	int n_bindings;
	double cpu_jobs_bytes;	/* of the host's memory, that jobs without a device need */
	int n_nodes;			/* of all devices that are listed */
	int *node_of;			/* by device: its node */
	const struct device **by_name;	/* by node and id; NULL: there are few */
	struct sched_input input;	/* what the policy is told */
	struct person me;	/* people_turns.c: what the others are told, before the plan */
	struct pass_tiers *tiers;	/* owned */
	int *owner;			/* by device: index of the candidate that is to have it */
	/* Owned: what facts point to, and neither the snapshot nor a candidate has. */
	struct {
		void **items;
		int n;
	} kept;
};

/* The run that the job has, with devices or suspended; NULL: none. */
static inline const struct run *run_of(const struct candidate *c)
{
	return c->run ? c->run : c->suspended;
}

/* What the candidate makes of its home; NULL: nothing is known. */
static inline const struct goodput_table *own_table(const struct candidate *c)
{
	return c->on_kind ? c->on_kind[c->home].table : NULL;
}

/* The devices that jobs may have, with those that other users have now. */
static inline int most_devices(const struct decision *d)
{
	return d->n_usable + d->n_elsewhere;
}

/* Moves candidate j to place *n: those between are taken out. */
static inline void keep_candidate(struct decision *d, int j, int *n)
{
	if (*n < j) {
		d->candidates[*n] = d->candidates[j];
		d->sched_jobs[*n] = d->sched_jobs[j];
	}
	(*n)++;
}

/* decide.c. The caller's, for decision_free; the snapshot has to outlive it. */
struct decision *pass_decide(const struct snapshot *s);
/* The stages up to what the policy is told: what jobs are offered, of least_devices at least. */
struct decision *pass_weigh(const struct snapshot *s, int least_devices);
/* Zeroed memory that lives as long as the decision, for facts. */
void *decision_calloc(struct decision *d, size_t n, size_t size);
void decision_free(struct decision *d);

#endif
