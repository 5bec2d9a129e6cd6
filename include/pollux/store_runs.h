/* store_runs.h - runs in the store, and what happened: launches, suspensions, GPUs set aside,
 * decisions and events. */
#ifndef POLLUX_STORE_RUNS_H
#define POLLUX_STORE_RUNS_H

#include <stdbool.h>

#include "pollux/configuration.h"
#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/text.h"

/* --- runs in the store, from the decision to their end --- */

struct run_list {
	struct run *items;	/* owned */
	int count;
};

/* Adds an assigned run of this boot and reserves its devices; the job becomes running. run->id,
 * ->number and ->boot_id are set. */
int store_run_add(struct store *s, struct run *run, struct err *err);
int store_run_get(struct store *s, int64_t id, struct run *run, struct err *err);
/* Active runs, oldest first: those that have not ended. Times by the boot clock are by that of now:
 * run_take_boot(). */
int store_runs_active(struct store *s, struct run_list *list, struct err *err);
/* Those of one job. */
int store_runs_active_of(struct store *s, int64_t job_id, struct run_list *list, struct err *err);
/* *any: some active run has a handle of the engine. */
int store_runs_any_of(struct store *s, const char *engine, bool *any, struct err *err);
/* All runs of a job by their numbers. */
int store_runs_of_job(struct store *s, int64_t job_id, struct run_list *list, struct err *err);
void run_list_release(struct run_list *list);

/* Moves the run from assigned to running. *claimed is false if the run is no longer assigned, if a
 * device is still in use, or if another run of the job has not ended: unique indexes of the store
 * forbid it. now_boot_s NaN: the clock is read under the write lock, so that no launch seems to
 * precede the end that it waited for. */
int store_run_claim(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *claimed, struct err *err);
/* True if store_run_claim would succeed now. */
int store_run_may_claim(struct store *s, int64_t id, bool *may, struct err *err);
/* A new supervisor takes over the run of a dead one: the run becomes stopping. */
int store_run_adopt(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *adopted, struct err *err);
/* The same for a suspended run, which stays as it is. *kept is false where the run is not
 * suspended any more. */
int store_run_keep_suspended(struct store *s, int64_t id, const char *handle, bool *kept,
			     struct err *err);
/* Sets the text by which the run's engine finds the run from now on. */
int store_run_set_handle(struct store *s, int64_t id, const char *handle, struct err *err);
/* Asks for a stop. A reason that is there already gives way only to one of more weight: cancel,
 * hold, requeue, preempt, in this order. */
int store_run_request_stop(struct store *s, int64_t id, enum stop_reason reason, double now_boot_s,
			   struct err *err);
/* Takes back a hold: runs of the job that are being stopped to be held are stopped to be queued
 * again. */
int store_runs_take_back_hold(struct store *s, int64_t job_id, struct err *err);
int store_run_stop_reason(struct store *s, int64_t id, enum stop_reason *reason,
			  enum run_state *state, struct err *err);
int store_run_set_diagnosis(struct store *s, int64_t id, const char *text, struct err *err);
int store_run_set_stopping(struct store *s, int64_t id, struct err *err);
/* The most memory of a device that the newest runs of a workload took; 0: not known. */
int store_device_memory(struct store *s, const char *workload, int64_t *bytes, struct err *err);
int store_run_set_device_memory(struct store *s, int64_t id, int64_t bytes, struct err *err);
/* The processors that a run is bound to: run->cores. */
int store_run_set_cores(struct store *s, int64_t id, const char *cores, struct err *err);
int store_run_read_cores(struct store *s, struct run *run, struct err *err);
/* The largest memory that a run of the job had; 0: not known. */
int store_job_peak_memory(struct store *s, int64_t id, int64_t *bytes, struct err *err);
/* Sets another configuration for a run that goes on. The supervisor offers it to the program at the
 * supervisor's next look at the store, or at once after engine_wake(). Only for a run that is
 * running, with the replicas it has; else nothing happens. */
int store_run_set_wanted(struct store *s, int64_t id, const struct configuration *c,
			 double learning_rate_scale, struct err *err);
/* Bring run's wanted, wanted_version, wanted_learning_rate_scale and cores up to date. */
int store_run_read_wanted(struct store *s, struct run *run, struct err *err);
/* Ends the run, frees its devices, moves its totals to the job, and gives the job its next state. A
 * run that was claimed and whose command was not started counts as a launch of the job, but not as
 * a run or a start. A run without launch_boot_s was never claimed by the caller: such a run must
 * still be assigned, else EX_SOFTWARE. */
int store_run_end(struct store *s, const struct run *run, struct err *err);
/* The latest runs of the job that failed, could not be started or lost their supervisor before
 * they told of a checkpoint, without a success between them. Runs of earlier boots, and runs that
 * were forgiven, do not count. */
enum setback_kind { SETBACK_FAILED, SETBACK_NOT_STARTED, SETBACK_LOST };
struct setback {
	int n;			/* of them; 0: the other members say nothing */
	int n_lost;		/* the last ones in a row that lost their supervisor */
	enum setback_kind kind;	/* of the last one */
	double end_boot_s;	/* the end of the last one */
	char diagnosis[256];
};
int store_job_setback(struct store *s, int64_t job_id, struct setback *setback, struct err *err);
/* How many of the latest runs lost their supervisor in a row. */
int store_job_supervisor_losses(struct store *s, int64_t job_id, int *n, struct err *err);

/* What runs of a workload, under one plan, tried on a kind of device: one for each size, with its
 * outcome, its time and the memory that it took. */
int store_plan_sizes(struct store *s, const char *workload, const char *device_kind,
		     struct observation_list *list, struct err *err);

/* The kinds of device on which runs of queued and running jobs ran out of memory, and their plans.
 * The caller frees items. */
struct ran_out_list {
	struct ran_out {
		int64_t job_id;
		char kind[CONFIGURATION_KIND_SIZE], plan[CONFIGURATION_PLAN_SIZE];
	} *items;
	int count;
};
int store_ran_out_list(struct store *s, struct ran_out_list *list, struct err *err);

/* --- the nodes of a run, in the order of its devices --- */

/* True if the run's devices are of machines that an engine names. */
bool run_is_elsewhere(const struct run *run);
/* The number of nodes, at least 1. */
int run_n_nodes(const struct run *run);
/* Adds the name of each node. */
void run_node_names(const struct run *run, struct strings *names);
/* "n1, n2 and 14 more"; names at most three. Adds nothing for a run on this machine. */
void run_add_nodes(const struct run *run, struct text *out);

/* --- the code of runs, and which jobs need which snapshot of code --- */

/* Writes run->code, also as that of the job's first run if none is known. */
int store_run_set_code(struct store *s, const struct run *run, struct err *err);

/* *needed: a job is to run in the snapshot, or may be asked to. */
int store_snapshot_is_needed(struct store *s, const char *dir, bool *needed, struct err *err);
/* The job's files are removed: the job needs its snapshot no more. */
int store_job_leave_snapshot(struct store *s, int64_t job_id, struct err *err);

/* --- runs that leave their devices and come back, see enum suspension --- */

/* For a pass, inside its transaction: asks for the suspension of a run (freezes: the run's GPU
 * memory leaves the GPU, too), and gives a suspended run the devices (run->devices) to come back
 * to. */
int store_run_ask_suspension(struct store *s, int64_t id, bool freezes, struct err *err);
int store_run_give_devices(struct store *s, const struct run *run, struct err *err);
/* Bring the run's suspension and its times up to date, and where it is to come back its devices. */
int store_run_read_suspension(struct store *s, struct run *run, struct err *err);
/* asked -> suspended: writes the run's columns of suspension and frees its devices. *done is false
 * if the suspension is no longer asked for. text: of the event. */
int store_run_set_suspended(struct store *s, const struct run *run, const char *text, bool *done,
			    struct err *err);
/* resuming -> none, and its devices are in use: *resumed is false where one of them still is in use
 * by another run, or the pass decided otherwise. */
int store_run_resume(struct store *s, const struct run *run, bool *resumed, struct err *err);
/* True if store_run_resume would succeed now. */
int store_run_may_resume(struct store *s, const struct run *run, bool *may, struct err *err);
/* suspended -> resuming by the run itself, to the devices that it had: it has to be stopped. */
int store_run_take_back_devices(struct store *s, int64_t id, struct err *err);
/* resuming -> suspended by the run itself: it cannot have the devices that it was given. */
int store_run_decline_devices(struct store *s, int64_t id, struct err *err);
/* Ends the suspension of a run that is to be stopped or whose processes have ended; the run has no
 * devices then. */
int store_run_leave_suspension(struct store *s, const struct run *run, struct err *err);
/* The same of a run that cannot be suspended and goes on; its job is not held. kind, why: of the
 * event. */
int store_run_refuse_suspension(struct store *s, const struct run *run, const char *kind,
				const char *why, struct err *err);
/* Inside a transaction: a person holds the job of the run, which is suspended for that; takes that
 * back, so that the next pass continues the run where devices are free. */
int store_job_hold_suspended(struct store *s, const struct run *run, bool freezes, struct err *err);
int store_job_release_suspended(struct store *s, int64_t id, struct err *err);
/* *ended: a run of the job ended after a suspension already (STOP_SUSPENSION), so that the job was
 * started again for that. */
int store_job_ended_after_suspension(struct store *s, int64_t job_id, bool *ended, struct err *err);
/* Inside a transaction. The run ended after a suspension: keeps its job, and the jobs of the same
 * workload that say nothing of suspensions, those to come included, from being suspended. */
int store_workload_suspend_no_more(struct store *s, const struct run *run, struct err *err);
/* Inside the transaction that adds the job: sets its --suspend by what is known of its workload. */
int store_job_heed_suspensions(struct store *s, struct job *job, struct err *err);
/* Writes how far the run's GPU memory is on its way to the host's and back. */
int store_run_set_freeze(struct store *s, const struct run *run, struct err *err);

/* --- GPUs that are not given out for an hour, since CUDA does not start there --- */

/* A start has died if its run failed within a minute of its launch, its log says that CUDA could
 * not be initialized, and pollux cannot start CUDA there either. A GPU is set aside after two such
 * starts within an hour, in this boot, of runs on that GPU alone. Those of a job (or a sweep) that
 * died so on another GPU, too, do not count: it has a fault of its own; nor do those of a job whose
 * --env names the GPUs. A run that works there later, or a person, gives the GPU back. Nothing is
 * kept for that: the runs in the store tell. */

/* The beginning of such a run's diagnosis. */
#define CUDA_DOES_NOT_START "CUDA does not start"
#define ASIDE_DIED_WITHIN_S 60
#define ASIDE_S 3600
/* A job's first starts that died so are no failures. */
#define ASIDE_FORGIVEN 2

struct aside_list {
	struct aside {
		char device[DEVICE_ID_SIZE];
		double until_s;		/* wall clock */
	} *items;		/* owned */
	int count;
};

int store_aside_list(struct store *s, struct aside_list *list, struct err *err);
void aside_list_release(struct aside_list *list);
/* *until_s: when the device comes back; NaN: it is not set aside. */
double aside_until_s(const struct aside_list *list, const char *device);
/* Gives the device back: starts that died before now no longer count. */
int store_aside_retry(struct store *s, const char *device, struct err *err);

/* True if the run, whose row may not have its end yet, died so on a GPU of this machine. */
bool run_died_of_cuda(const struct run *run);
/* Whether that is no failure of its job: pollux run and profiles are not repeated. */
int store_aside_forgives(struct store *s, const struct run *run, bool *forgives, struct err *err);
/* Adds an event for each device of the run that is set aside now. */
int store_aside_tell(struct store *s, const struct run *run, struct err *err);

/* --- decisions of passes, and events --- */

struct decision_entry {
	int64_t job_id;
	int replicas;
	const char *reason;
};

/* Records a pass that changes something, with the jobs that it changes. */
int store_decision_add(struct store *s, const char *policy, int n_devices,
		       const struct decision_entry *entries, int n, struct err *err);

/* The last recorded decision on a job. */
struct decision_row {
	double time_s;			/* wall clock */
	char *policy, *reason;		/* owned; NULL: there is none */
	int n_devices, replicas;	/* of all devices, and given to the job */
};

int store_decision_of_job(struct store *s, int64_t job_id, struct decision_row *d, struct err *err);
void decision_row_release(struct decision_row *d);

struct event {
	int64_t id;		/* of all events; a later one has a larger number */
	double time_s;		/* wall clock */
	int64_t job_id, run_id;	/* 0: none */
	char *kind, *text;	/* owned */
	/* "cpu:0,cpu:1": what a suspended run left, or came back to; owned; NULL: not known */
	char *devices;
};

struct event_list {
	struct event *items;	/* owned */
	int count;
};

/* The number of the last one; 0: none yet. */
int store_last_event(struct store *s, int64_t *id, struct err *err);
int store_event_add(struct store *s, int64_t job_id, int64_t run_id, const char *kind,
		    const char *text, struct err *err);
/* The kind of the event that says that a run makes little use of its devices. */
#define EVENT_LOW_USE "utilization"
/* *told: the job has an event of the kind. */
int store_job_was_told(struct store *s, int64_t job_id, const char *kind, bool *told,
		       struct err *err);
int store_events_of_job(struct store *s, int64_t job_id, struct event_list *list, struct err *err);

struct event_query {
	int64_t after, last;	/* events with larger numbers than after, up to last */
	double since_wall_s;	/* NaN: whenever they were */
	const char *jobs;	/* ",3,17,": of these jobs alone; NULL: of all, and of none */
	int64_t newest;		/* the last ones, at most so many; -1: all */
};
/* Oldest first. */
int store_events_select(struct store *s, const struct event_query *query, struct event_list *list,
			struct err *err);
void event_list_release(struct event_list *list);

/* What passes see of the run on the GPUs: one sentence, an event each time it changes. *text: the
 * last one, which the caller frees; "": there is nothing to say, or no longer. */
int store_run_remark(struct store *s, int64_t job_id, int64_t run_id, char **text,
		     struct err *err);
int store_run_set_remark(struct store *s, int64_t job_id, int64_t run_id, const char *text,
			 struct err *err);

#endif
