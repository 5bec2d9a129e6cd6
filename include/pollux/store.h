/* store.h - the store: one SQLite file, and every statement that touches it.
 *
 *	struct store store;
 *	if (store_open(&store, &paths, STORE_WRITE, err)) return -1;
 *	if (store_begin(&store, err)) ...
 *	... reads and writes ...
 *	if (store_commit(&store, err)) ...		// or store_rollback(&store)
 *	store_close(&store);
 *
 * Every function returns 0, or -1 with *err (EX_IOERR for the disk, EX_TEMPFAIL if the store stays
 * locked, EX_DATAERR for a file that is no store). A write outside begin/commit is its own
 * transaction. Strings in results are owned by the result; release it. */
#ifndef POLLUX_STORE_H
#define POLLUX_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/device_measurement.h"
#include "pollux/err.h"
#include "pollux/failed_sizes.h"
#include "pollux/fit.h"
#include "pollux/freeze_test.h"
#include "pollux/job.h"
#include "pollux/memory_bounds.h"
#include "pollux/paths.h"
#include "pollux/step_stats.h"

struct sqlite3;

struct store {
	struct sqlite3 *db;
};

enum store_mode {
	STORE_READ,		/* no store yet is EX_NOINPUT */
	STORE_WRITE,		/* created, and migrated, where needed; commits reach the disk */
	STORE_OBSERVE,		/* as WRITE, but what is measured may be lost with the power */
};

int store_open(struct store *s, const struct paths *paths, enum store_mode mode, struct err *err);
void store_close(struct store *s);
int store_begin(struct store *s, struct err *err);	/* takes the write lock at once */
/* Takes no lock that anybody waits for: what is read until the commit is the store as it was at
 * the first read. */
int store_begin_read(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);			/* harmless outside a transaction */
/* From here on a commit reaches the disk, also of a store opened to OBSERVE. */
int store_make_durable(struct store *s, struct err *err);
/* Changes with the commits of other connections: while it is the same, none of them has written. */
int store_data_version(struct store *s, int64_t *version, struct err *err);

/* ---- jobs ---- */

struct dependency {
	int64_t job_id, after_id;
	bool must_succeed;		/* ok:ID; otherwise any end will do */
	enum job_state after_state;	/* filled when read, as is the next */
	double after_end_time_s;	/* wall clock; NaN: has not ended */
};

struct job_list {
	struct job *items;
	int count;
};

struct dependency_list {
	struct dependency *items;
	int count;
};

/* Adds the job, its command and its dependencies as one transaction; job->id is set. A dependency
 * on a job that does not exist is EX_NOINPUT. */
int store_job_add(struct store *s, struct job *job, const struct job_command *command,
		  const struct dependency_list *after, struct err *err);
/* The same inside the caller's transaction. */
int store_job_insert(struct store *s, struct job *job, const struct job_command *command,
		     const struct dependency_list *after, struct err *err);
int store_job_get(struct store *s, int64_t id, struct job *job, struct err *err); /* EX_NOINPUT */
int store_job_command_get(struct store *s, int64_t id, struct job_command *c, struct err *err);

enum job_filter {
	JOBS_ALL,
	JOBS_ACTIVE,		/* not ended */
	JOBS_RECENT,		/* not ended, or ended since since_wall_s */
	JOBS_SCHEDULABLE,	/* queued or running, and no profile */
};

int store_jobs_list(struct store *s, enum job_filter filter, double since_wall_s,
		    struct job_list *list, struct err *err);
void job_list_release(struct job_list *list);
/* True if a job is queued or running, or a run has not ended: else a pass has nothing to do. */
int store_has_work(struct store *s, bool *has, struct err *err);
/* Whether one is of those that JOBS_SCHEDULABLE lists. */
int store_has_schedulable(struct store *s, bool *has, struct err *err);
/* Of the jobs that wait, in their order, each with the state of the job waited for. */
int store_dependencies_list(struct store *s, struct dependency_list *list, struct err *err);
/* Likewise of all jobs, also those that ended. */
int store_dependencies_all(struct store *s, struct dependency_list *list, struct err *err);
void dependency_list_release(struct dependency_list *list);

int store_job_set_state(struct store *s, int64_t id, enum job_state state, const char *reason,
			struct err *err);
/* Start over: no failures counted, not ended; where it stands and its checkpoints stay. */
int store_job_requeue(struct store *s, int64_t id, struct err *err);
/* The runs that have ended so far no longer count as setbacks: a person asked for another try. */
int store_job_forgive(struct store *s, int64_t id, struct err *err);
/* Writes only what differs from what is there. next_start_s: wall clock or NaN. */
int store_job_set_reason(struct store *s, int64_t id, const char *reason, double next_start_s,
			 struct err *err);

/* ---- runs ---- */

struct run_list {
	struct run *items;
	int count;
};

/* Adds an assigned run of this boot and reserves its devices; the job becomes running. run->id,
 * ->number and ->boot_id are set. */
int store_run_add(struct store *s, struct run *run, struct err *err);
int store_run_get(struct store *s, int64_t id, struct run *run, struct err *err);
/* active: not ended, oldest first; otherwise all of one job. */
int store_runs_active(struct store *s, struct run_list *list, struct err *err);
int store_runs_of_job(struct store *s, int64_t job_id, struct run_list *list, struct err *err);
void run_list_release(struct run_list *list);

/* assigned -> running, once: *claimed is false where the run is no longer assigned, where a device
 * is still in use, or where another run of the job has not ended (the store's unique indexes say
 * so). now_boot_s: NaN: read when nobody else can write any more, so that no launch seems to
 * precede the end that it waited for. */
int store_run_claim(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *claimed, struct err *err);
/* Whether it could be claimed now, by the store. */
int store_run_may_claim(struct store *s, int64_t id, bool *may, struct err *err);
/* A dead supervisor's run gets a new one: running or stopping -> stopping. */
int store_run_adopt(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *adopted, struct err *err);
/* The text by which the run's engine finds the run from now on. */
int store_run_set_handle(struct store *s, int64_t id, const char *handle, struct err *err);
/* Ask for a stop; a reason already there is overridden only by a weightier one (cancel over hold
 * over requeue over preempt). */
int store_run_request_stop(struct store *s, int64_t id, enum stop_reason reason, double now_boot_s,
			   struct err *err);
/* The runs of the job that are being stopped to be held are stopped to be queued again. */
int store_runs_take_back_hold(struct store *s, int64_t job_id, struct err *err);
int store_run_stop_reason(struct store *s, int64_t id, enum stop_reason *reason,
			  enum run_state *state, struct err *err);
int store_run_set_stopping(struct store *s, int64_t id, struct err *err);
/* Suspension, see enum suspension. A pass asks for it, and gives the run devices (run->devices) to
 * come back to, inside its transaction. */
int store_run_ask_suspension(struct store *s, int64_t id, struct err *err);
int store_run_give_devices(struct store *s, const struct run *run, struct err *err);
/* Bring the run's suspension and its times up to date, and where it is to come back its devices. */
int store_run_read_suspension(struct store *s, struct run *run, struct err *err);
/* asked -> suspended: writes the run's columns of suspension and frees its devices. *done is false
 * where nobody asks any more. text: of the event. */
int store_run_set_suspended(struct store *s, const struct run *run, const char *text, bool *done,
			    struct err *err);
/* resuming -> none, and its devices are in use: *resumed is false where one of them still is in use
 * by another run, or the pass decided otherwise. */
int store_run_resume(struct store *s, const struct run *run, bool *resumed, struct err *err);
/* The run is to be stopped, or its processes have ended: it is suspended no more, without
 * devices. */
int store_run_leave_suspension(struct store *s, const struct run *run, struct err *err);
/* The largest memory that a run of a queued job had; 0: none ran. */
int store_largest_waiting(struct store *s, int64_t *bytes, struct err *err);
/* Another configuration for a run that goes on: its supervisor offers it to the program at its
 * next look (engine_wake: now). Only for a run that is running, with the replicas it has; else
 * nothing happens. */
int store_run_set_wanted(struct store *s, int64_t id, const struct configuration *c,
			 double learning_rate_scale, struct err *err);
/* Bring run's wanted, wanted_version and wanted_learning_rate_scale up to date. */
int store_run_read_wanted(struct store *s, struct run *run, struct err *err);
/* Ends the run, frees its devices, moves its totals to the job, and gives the job its next state.
 * One that was claimed and whose command was not started is no run and no start of the job, but a
 * launch. */
int store_run_end(struct store *s, const struct run *run, struct err *err);
/* How often in a row, up to the last, the job's runs failed, or could not be started for no fault
 * of its own; of this boot only, and only after the runs that were forgiven. */
struct setback {
	int n;			/* 0: none, and the rest says nothing */
	bool failed;		/* the last one; else it could not be started */
	double end_boot_s;	/* when the last one ended */
	char diagnosis[256];
};
int store_job_setback(struct store *s, int64_t job_id, struct setback *setback, struct err *err);

/* ---- measurements ---- */

/* Over a window of a run: unbiased estimates of |G|^2 and tr(Sigma), one for each update; client.h
 * has the formulas. */
struct gradient_window {
	int window;			/* the run's number of it, from 0 */
	struct configuration configuration;	/* while it was open */
	/* positions after its first and last update; NaN unknown */
	double first_samples, last_samples;
	int64_t n;			/* updates */
	int64_t entries;		/* reports with them, each of the mean of some */
	double sum_grad_sqr, sum_grad_var;
	/* Sums over updates of squared deviations from the window's means, and of the products of
	 * the two deviations; NaN: written by an older version. */
	double m2_grad_sqr, m2_grad_var, cross_grad;
};

/* What the supervisor learnt since the last time, in one transaction: where the run and the job
 * stand, step times of (run, configuration) (replaced), gradient statistics of the open window
 * (replaced). */
struct run_update {
	const struct run *run;
	double steps, loss, epoch;	/* NaN: not reported */
	/* 0: the log tells none (any more); NaN: it was not asked */
	double printed_total_steps;
	double total_samples, total_steps, total_epochs;	/* NaN: not reported */
	bool resumes;			/* it said that it continued from a checkpoint */
	const char *status_text;	/* NULL: not reported */
	int64_t parameters;		/* of the workload's model; 0: not reported */
	const struct observation *observation;		/* NULL: none */
	const struct gradient_window *gradient;		/* NULL: none */
};

int store_run_update(struct store *s, const struct run_update *p, struct err *err);

struct observation_row {
	int64_t run_id, job_id;
	struct configuration configuration;
	double update_time_s;		/* wall clock: of the last write */
	struct observation observation;
};

struct observation_list {
	struct observation_row *items;
	int count;
};

/* How many reports its runs have sent. */
int store_reports_of_job(struct store *s, int64_t job_id, int64_t *n, struct err *err);
int store_observations_of_job(struct store *s, int64_t job_id, struct observation_list *list,
			      struct err *err);
/* What a workload is known by is of its newest runs: a long history costs a pass little. */
#define STORE_RUNS_MAX 500
#define STORE_OBSERVATIONS_MAX 512
#define STORE_GRADIENTS_MAX 2000

/* Of all jobs of a workload on a kind of device, newest run first: the newest
 * STORE_OBSERVATIONS_MAX. */
int store_observations_of_workload(struct store *s, const char *workload, const char *device_kind,
				   struct observation_list *list, struct err *err);
void observation_list_release(struct observation_list *list);
/* What the store has of the run in its present configuration (n_windows 0: nothing). */
int store_observation_get(struct store *s, const struct run *run, struct observation *o,
			  struct err *err);

struct gradient_row {
	int64_t run_id, job_id;
	struct gradient_window window;
};

struct gradient_list {
	struct gradient_row *items;
	int count;
};

/* Of all jobs of a workload, newest run last: the newest STORE_GRADIENTS_MAX windows. */
int store_gradients_of_workload(struct store *s, const char *workload, struct gradient_list *list,
				struct err *err);
void gradient_list_release(struct gradient_list *list);

/* What it costs a job of the workload to be stopped and launched again: the median, over the
 * newest 20 such pairs of runs, of the time from the stop signal to the end of the one plus that
 * from the launch to the first report of the next; the wait between them is not in it. Where there
 * is no such pair, the median time to the first report, and that of a stop, if there was one. NaN:
 * nothing is known. */
int store_restart_cost(struct store *s, const char *workload, double *seconds, struct err *err);
/* Whether a stop is in it. */
int store_restart_was_timed(struct store *s, const char *workload, bool *timed, struct err *err);
/* How many samples the jobs of a workload took that are done: the mean of the newest 20. NaN: none
 * is done, or they differ too much (a standard deviation above half of the mean) to tell. */
int store_typical_samples(struct store *s, const char *workload, double *samples, struct err *err);

/* Of a step, without a batch size declared: the mean over the runs of a job on so many devices. */
struct step_time {
	int64_t job_id;
	int replicas;
	double seconds;
};

struct step_time_list {
	struct step_time *items;
	int count;
};

/* Of all jobs of a workload that declared none, newest run first: of its newest runs. */
int store_step_times(struct store *s, const char *workload, const char *device_kind,
		     struct step_time_list *list,
		     struct err *err);
void step_time_list_release(struct step_time_list *list);

/* The sizes of a workload that ran out of memory on a kind of device, as far as they are believed,
 * and what was measured of its newest runs. *b is the caller's, for memory_bounds_release. */
int store_memory_bounds(struct store *s, const char *workload, const char *device_kind,
			struct memory_bounds *b, struct err *err);
/* The sizes that failed for another reason, or ended by themselves, before a profile could time
 * them. */
int store_failed_sizes(struct store *s, const char *workload, const char *device_kind,
		       struct failed_sizes *f, struct err *err);

/* ---- profiles: devices that a job keeps between its runs ---- */

/* What is to be said of one whose process was killed, and of what it measured until then. */
int store_profile_killed(struct store *s, int64_t job_id, struct text *reason, struct err *err);

struct reserved_device {
	int64_t job_id;
	struct device device;		/* id, binding, kind, cores are filled */
};

struct reserved_list {
	struct reserved_device *items;
	int count;
};

/* Inside a transaction in which they were seen to be free. They are free again when the job has
 * ended. */
int store_device_reserve(struct store *s, int64_t job_id, const struct device *device,
			 struct err *err);
int store_devices_release(struct store *s, int64_t job_id, struct err *err);
int store_reserved_list(struct store *s, struct reserved_list *list, struct err *err);
void reserved_list_release(struct reserved_list *list);
/* The profiles that have not ended; *ids is the caller's to free. */
int store_profiles_list(struct store *s, int64_t **ids, int *n, struct err *err);

/* ---- kinds of devices: what 'pollux profile --devices' found out ---- */

/* Replaces what was measured of the same (what, variant, devices, sizes) before; inside a
 * transaction. time_s: wall clock, of all of them. */
int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err);
/* By what, variant, devices, n, m and bytes. *list is the caller's, for
 * device_measurement_list_release. */
int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err);
/* The parameters of the workload's model, as last declared or reported; NaN: unknown. */
int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err);
int store_workload_get_parameters(struct store *s, const char *workload, double *n,
				  struct err *err);

/* ---- models: what is known of a workload on one kind of device ---- */

struct model_row {
	struct fit_result fit;		/* params, basis, stop, objective, rmse_*, n_observations */
	int64_t n_steps;		/* that the observations rest on */
	int max_replicas;		/* the most that were ever measured */
	int64_t max_local_batch_size;	/* likewise */
	char observations_key[64];	/* see struct workload_stamp */
	double fit_time_s;		/* wall clock */
};

int store_model_get(struct store *s, const char *workload, const char *device_kind,
		    struct model_row *model, bool *found, struct err *err);
int store_model_set(struct store *s, const char *workload, const char *device_kind,
		    const struct model_row *model, struct err *err);

/* Of each workload that has jobs queued or running, and observations on this kind of device. */
struct workload_stamp {
	char *workload;			/* owned */
	char observations_key[64];	/* changes when an observation does */
};

struct workload_stamp_list {
	struct workload_stamp *items;
	int count;
};

int store_workload_stamps(struct store *s, const char *device_kind,
			  struct workload_stamp_list *list,
			  struct err *err);
void workload_stamp_list_release(struct workload_stamp_list *list);

/* ---- processes of others that may stay on a GPU: see device_owners.h ---- */

/* Named for ever by pid, start and boot: a new process of that number is another one. */
struct ignored_process {
	int64_t pid, start_ticks;
};

struct ignored_list {
	struct ignored_process *items;
	int count;
};

/* Adding forgets those of other boots. */
int store_ignored_add(struct store *s, const struct ignored_process *process, struct err *err);
int store_ignored_remove(struct store *s, int64_t pid, bool *was_there, struct err *err);
/* Those of this boot. */
int store_ignored_list(struct store *s, struct ignored_list *list, struct err *err);
void ignored_list_release(struct ignored_list *list);

/* ---- self-tests of freezes: see freeze_test.h ---- */

struct freeze_tested {
	bool known, passed;
	int64_t bytes;			/* moved */
	double freeze_s, thaw_s, time_s;	/* time_s: wall clock */
};

/* t NULL: the device did not pass. */
int store_freeze_test_set(struct store *s, const struct device *device, const char *driver,
			  const struct freeze_test *t, const char *why, struct err *err);
/* The result of the device with this version of its driver. */
int store_freeze_test_get(struct store *s, const char *device_id, const char *driver,
			  struct freeze_tested *tested, struct err *err);

/* ---- decisions and events ---- */

struct decision_entry {
	int64_t job_id;
	int replicas;
	const char *reason;
};

/* Kept only for passes that change something, with the jobs for which they do. */
int store_decision_add(struct store *s, const char *policy, int n_devices,
		       const struct decision_entry *entries, int n, struct err *err);

/* What the last of those said of a job. */
struct decision_row {
	double time_s;			/* wall clock */
	char *policy, *reason;		/* owned; NULL: there is none */
	int n_devices, replicas;	/* to be given out, and given to it */
};

int store_decision_of_job(struct store *s, int64_t job_id, struct decision_row *d, struct err *err);
void decision_row_release(struct decision_row *d);

/* The settings of the last pass: written only where they differ. The value is the caller's to
 * free, NULL where there is none. */
int store_setting_set(struct store *s, const char *name, const char *value, struct err *err);
int store_setting_get(struct store *s, const char *name, char **value, struct err *err);

struct event {
	double time_s;		/* wall clock */
	int64_t job_id, run_id;	/* 0: none */
	char *kind, *text;
};

struct event_list {
	struct event *items;
	int count;
};

/* The number of the last one; 0: none yet. */
int store_last_event(struct store *s, int64_t *id, struct err *err);
int store_event_add(struct store *s, int64_t job_id, int64_t run_id, const char *kind,
		    const char *text, struct err *err);
int store_events_of_job(struct store *s, int64_t job_id, struct event_list *list, struct err *err);
void event_list_release(struct event_list *list);

#endif
