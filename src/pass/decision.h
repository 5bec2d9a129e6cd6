/* decision.h - what is to become of each job: private to src/pass. Nothing here reads or writes. */
#ifndef POLLUX_DECISION_H
#define POLLUX_DECISION_H

#include "share.h"
#include "snapshot.h"
#include "pollux/assign.h"
#include "pollux/knowledge.h"
#include "pollux/node_sizes.h"

struct binding;
struct job_plans;
struct pass_tiers;
struct job_guarantee;

/* A job that the policy decides on. */
struct candidate {
	const struct job *job;		/* in the snapshot, like the next two */
	const struct run *run;		/* the run that holds devices; NULL: the job waits */
	const struct run *suspended;	/* the run that waits with its memory; NULL: none */
	bool relaunchable;		/* goes on where it was, if it is stopped and relaunched */
	bool suspends;			/* its run is suspended, rather than stopped, or will be */
	int turn;			/* among the runs of its sweep that go on from a rung; 0 */
	struct job_plans *plans;	/* owned; NULL: none are declared; job_plans.h */
	struct job_guarantee *guarantee;	/* owned; NULL: none is declared; guarantees.h */
	const struct workload *workload;	/* of the model; NULL: never measured */
	struct job_model model;
	struct kind_view *on_kind;	/* owned; by kind (kinds.h); NULL: nothing is known */
	int home;			/* the kind by which it is judged where that is no matter */
	unsigned too_small;		/* bit k: kind k has too little memory for the job */
};

/* The usable devices of one kind by node. */
struct node_shape {
	const char *kind;		/* in the snapshot; NULL: kinds are not told apart */
	int *devices;			/* owned; what sizes rests on */
	struct node_sizes sizes;
};

/* The usable devices of one kind. */
struct device_kind {
	const char *name;		/* in the snapshot; NULL: the only kind */
	int n;
	int64_t memory_bytes;		/* 0: slots of the CPU share the host's */
	/* A job that ran out of memory is tried on larger kinds: by memory, slots by cores. */
	int64_t size;
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
	char *reason;			/* owned */
	/* never: the job for whose end it can never start; 0: it is cancelled for another reason */
	int64_t cancelled_for;
	double next_start_s;		/* wall clock; NaN: cannot be told */
	bool beyond_limit;		/* as many of its group run as may */
	/* The suspended run of the job that goes on where it was; NULL: none. */
	const struct run *resumes;
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
	struct binding *bindings;	/* owned; of the runs that go on or start: binding.h */
	int n_bindings;
	int n_nodes;			/* of all devices that are listed */
	int *node_of;			/* by device: its node */
	const struct device **by_name;	/* by node and id; NULL: there are few */
	struct node_shape shapes[SCHED_KINDS];	/* where there are several nodes */
	int n_shapes;
	struct sched_input input;	/* what the policy is told */
	struct person me;		/* sharing.c: what the others are told, before the plan */
	struct pass_tiers *tiers;	/* owned; tiers.h */
	int *owner;			/* by device: index of the candidate that is to have it */
};

/* The run that the job has, with devices or suspended; NULL: none. */
static inline const struct run *run_of(const struct candidate *c)
{
	return c->run ? c->run : c->suspended;
}

/* The devices that jobs may have, with those that other users have now. */
static inline int most_devices(const struct decision *d)
{
	return d->n_usable + d->n_elsewhere;
}

/* The caller's, for decision_free; the snapshot has to outlive it. */
struct decision *pass_decide(const struct snapshot *s);
/* The stages up to what the policy is told: what jobs are offered, of least_devices at least. */
struct decision *pass_weigh(const struct snapshot *s, int least_devices);
void decision_free(struct decision *d);

/* candidates.c: which jobs the policy is asked about. */
/* True if the job has no run, and none of its runs is being stopped for good. */
bool may_start(const struct snapshot *s, const struct job *job);
void select_candidates(const struct snapshot *s, struct decision *d);
/* group_limit.c: takes waiting jobs out of the candidates that are beyond the limits of their
 * groups. */
void limit_groups(const struct snapshot *s, struct decision *d);
/* Takes the jobs that stay paused at rungs of their sweeps out of the candidates, and
 * sets the turn of the others. */
void halve_sweeps(const struct snapshot *s, struct decision *d);
/* Tells if a job is paused at a rung of its sweep: for good if the sweep is over. */
enum rung_pause { RUNG_PAUSE_NONE, RUNG_PAUSE_FOR_NOW, RUNG_PAUSE_FOR_GOOD };
enum rung_pause rung_pause(const struct snapshot *s, int64_t job_id);
/* Tells runs that passed a rung why they were not paused there. */
void explain_rungs(const struct snapshot *s, struct decision *d);
/* Tells such jobs the limit as their reason, once it is decided who runs. */
void explain_group_limits(const struct snapshot *s, struct decision *d);
/* interactive.c: true if the job's 'pollux run' is gone. */
bool is_deserted(const struct snapshot *s, const struct job *job, struct decision *d);
/* Puts interactive jobs before all others that wait, as far as they may. */
void put_interactive_first(const struct snapshot *s, struct decision *d);
/* Says until when turns last, once it is decided who runs. */
void explain_interactive(const struct snapshot *s, struct decision *d);
/* suspendable.c: by run, if its memory can stay while others run; the caller frees it. */
bool *suspendable_runs(const struct snapshot *s);
/* True if the run is suspended by moving its GPU memory to the host's. */
bool run_freezes(const struct snapshot *s, const struct run *run);
/* The memory that the run has on its device, or had when it was frozen. */
int64_t run_device_bytes(const struct snapshot *s, const struct run *run);
/* The time that the moves there and back take; 0: nothing is moved. */
double run_move_s(const struct snapshot *s, const struct run *run);
/* True if the run, when stopped, loses its work since the last checkpoint. */
bool run_loses(const struct snapshot *s, const struct run *run);
/* True if the run has left its devices and is to come back to some. */
bool is_suspended(const struct run *run);
/* waits.c: when the dependencies of the job were met, wall clock: the end of the last job that it
 * had to wait for, or of the first where one of several suffices. NaN: it has no dependencies. */
double dependencies_end(const struct decision *d, int64_t job_id);
/* Copies the dependencies into the decision. Those on jobs that this pass cancels, as they can
 * never start, say so: what becomes of a chain is decided in one pass. */
void find_dependencies(const struct snapshot *s, struct decision *d);
/* True if the job waits for another one, or never can run. */
bool waits_for_another(const struct snapshot *s, const struct job *job, struct decision *d);
/* True if the job is not to start before a time that has not come. */
bool waits_to_begin(const struct snapshot *s, const struct job *job, struct decision *d);
/* The policy is not asked about the job. reason: owned by *d from now on. */
void pass_over(struct decision *d, const struct job *job, bool never, char *reason,
	       double next_start_s);
/* left_out.c: true if the run, once suspended, can go on only on a GPU that the settings leave
 * out. */
bool is_bound_to_left_out(const struct snapshot *s, const struct run *run);
/* True if the run is suspended on such a GPU. The policy is not asked about the job: the run goes
 * on there as soon as it can. */
bool waits_on_left_out(const struct snapshot *s, const struct job *job, const struct run *run,
		       struct decision *d);
/* decide.c: prepares the search for devices. */
void index_devices(const struct snapshot *s, struct decision *d);
/* The index of the usable device that is the same as when it was given out; -1: there is none. */
int decision_find_device(const struct snapshot *s, const struct decision *d,
			 const struct device *wanted);

/* decide.c: lets the policy choose, and chooses the devices. */
void decide_and_assign(const struct snapshot *s, struct decision *d);
/* True if the job is to have the device, alone or beside others. */
bool decision_gives(const struct decision *d, int j, int device);
/* decide.c: true if the job's suspended run is to continue in place, without a relaunch. */
bool comes_back(const struct decision *d, int j);
/* True if the job's run is to leave its devices with its memory. */
bool is_to_be_suspended(const struct decision *d, int j);
/* resident.c: takes devices back from jobs that do not fit beside the GPU memory of suspended
 * runs. */
void check_device_memory(const struct snapshot *s, struct decision *d);
/* True if the run, once suspended, can go on only on the devices that it had. */
bool run_is_bound(const struct run *run);
/* True if its memory stays on them, too. */
bool is_resident(const struct snapshot *s, const struct run *run);
/* True if the run may be suspended so. Kernels of NCCL on other GPUs would go on, waiting for the
 * stopped process, so only runs on one GPU are; and no context may stay on an exclusive GPU. */
bool may_stay_resident(const struct snapshot *s, const struct run *run);
/* Bytes that suspended runs keep on the device; the run of one job is left out. */
int64_t device_memory_kept(const struct snapshot *s, int device, const struct job *but);
/* Bytes that processes of no run have on the device: others', that jobs may run beside (pollux
 * devices --ignore), and what no listed process has, which came after the run there: a game's. */
int64_t device_memory_of_others(const struct snapshot *s, int device);
/* True if the suspended run can go on on the device. */
bool may_come_back_to(const struct snapshot *s, const struct run *suspended, int device);
/* True if the run's devices share the machine's memory, or its memory on them is known. */
bool device_memory_is_known(const struct snapshot *s, const struct run *run);
/* The memory that the run's processes have now, as the driver says: the most on any device. */
int64_t device_memory_now(const struct snapshot *s, const struct run *run);

/* weigh.c: what the candidates make of devices, into sched_jobs. */
void weigh_candidates(const struct snapshot *s, struct decision *d);
/* True if another configuration can be brought to the run without a relaunch. */
bool takes_configurations(const struct snapshot *s, const struct run *run);

/* sizes.c: the one place that chooses the configuration in which a job runs, once its devices
 * are known. */
struct devices_wanted {
	int replicas, nodes;
	const char *kind;
	enum configuration_tier tier;
};
struct sizes choose_sizes(const struct snapshot *s, const struct decision *d,
			  const struct candidate *c, const struct devices_wanted *on);
/* True if the batch of the run is larger than the job may have (edited, or it was found to count
 * updates), fell behind what a smaller one promised, or is worth too little at
 * every noise scale of the interval, and these sizes are smaller. */
bool must_shrink(const struct candidate *c, const struct sizes *sizes);
/* Goodput in the configuration in which the job runs; NaN: it does not run, or it has no model. */
double goodput_now(const struct candidate *c);

/* sharing.c: leaves the devices beyond this store's share to other users, as far as jobs here are
 * at the end of their slices: the policy is told of fewer. */
void leave_to_others(const struct snapshot *s, struct decision *d);
/* Tells jobs that wait who has the other devices. */
void explain_sharing(const struct snapshot *s, struct decision *d);
/* Once the decision is carried out: tells the others what this store has and wants. */
void tell_others(const struct engine_context *at, const struct snapshot *s,
		 const struct decision *d);

/* blocked.c: tells jobs that wait because a device cannot be given out which one, and why. */
void explain_blocked(const struct snapshot *s, struct decision *d);
/* Puts a sentence before the policy's, which is left out where there is no room for both. */
void put_reason_first(char *reason, const char *why);

#endif
