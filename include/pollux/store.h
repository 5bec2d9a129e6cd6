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
#include "pollux/turn.h"

struct sqlite3;

struct store {
	struct sqlite3 *db;
	/* while another process writes; store_wait.c */
	struct turn turn;
	double queue_until_s, first_until_s, try_s;	/* boot clock */
	bool is_observer;
	/* greatest number of a job whose files were there when store_open made the store; else 0 */
	int64_t left_by_another;
};

enum store_mode {
	STORE_READ,		/* no store yet is EX_NOINPUT */
	STORE_WRITE,		/* created, and migrated, where needed; commits reach the disk */
	STORE_OBSERVE,		/* as WRITE, but what is measured may be lost with the power */
};

int store_open(struct store *s, const struct paths *paths, enum store_mode mode, struct err *err);
void store_close(struct store *s);
/* True if the file that was opened still has its name: nobody has removed it or put another store
 * in its place. */
bool store_is_there(const struct store *s);
int store_begin(struct store *s, struct err *err);	/* takes the write lock at once;
						 * EX_TEMPFAIL if another file is the store now */
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
/* store_job_add inside the caller's transaction. */
int store_job_insert(struct store *s, struct job *job, const struct job_command *command,
		     const struct dependency_list *after, struct err *err);
int store_job_get(struct store *s, int64_t id, struct job *job, struct err *err); /* EX_NOINPUT */
int store_job_command_get(struct store *s, int64_t id, struct job_command *c, struct err *err);

/* ---- environments of jobs ---- */

/* Gives the job another environment. */
int store_environment_replace(struct store *s, int64_t job_id, const struct strings *env,
			      struct err *err);
/* Reduces environments to the names of their variables if all jobs that have them ended longer than
 * this before now (wall clock). *forgotten: how many. Commits by itself, some at a time. */
int store_environments_forget(struct store *s, double now_s, double after_s, int *forgotten,
			      struct err *err);
/* Leaves no deleted content in the write-ahead log, and gives back the space in the file if most of
 * it is unused. What other processes prevent at the moment is left undone. */
int store_wipe_deleted(struct store *s, struct err *err);

enum job_filter {
	JOBS_ALL,
	JOBS_ACTIVE,		/* not ended */
	JOBS_RECENT,		/* not ended, or ended since since_wall_s */
	JOBS_SCHEDULABLE,	/* queued or running, and no profile */
};

int store_jobs_list(struct store *s, enum job_filter filter, double since_wall_s,
		    struct job_list *list, struct err *err);
void job_list_release(struct job_list *list);
/* The device-seconds of service that the newest jobs which are done had, profiles not counted: at
 * most `most` of them. Returns their number, or -1. */
int store_ended_services(struct store *s, double *device_s, int most, struct err *err);
/* True if a job is queued or running, or a run has not ended: else a pass has nothing to do. */
int store_has_work(struct store *s, bool *has, struct err *err);
/* True if there are jobs that JOBS_SCHEDULABLE lists. */
int store_has_schedulable(struct store *s, bool *has, struct err *err);
/* The dependencies of waiting jobs in the order of the jobs, each with the state of the job that is
 * waited for. */
struct job_directory {
	int64_t job_id;
	char *path;			/* owned */
};

struct job_directory_list {
	struct job_directory *items;	/* by job_id */
	int count;
};

/* The directories that queued jobs declare for their checkpoints. */
int store_checkpoint_dirs(struct store *s, struct job_directory_list *list, struct err *err);
void job_directory_list_release(struct job_directory_list *list);

int store_dependencies_list(struct store *s, struct dependency_list *list, struct err *err);
/* The dependencies of all jobs, including those that ended. */
int store_dependencies_all(struct store *s, struct dependency_list *list, struct err *err);
void dependency_list_release(struct dependency_list *list);

int store_job_set_state(struct store *s, int64_t id, enum job_state state, const char *reason,
			struct err *err);
/* Queues the job again with no failures counted. Its progress and its checkpoints stay. */
int store_job_requeue(struct store *s, int64_t id, struct err *err);
/* A person asked for another try: runs that have ended so far no longer count as setbacks, nor as
 * runs that saved nothing. */
int store_job_forgive(struct store *s, int64_t id, struct err *err);
/* Writes only if the store has something else. next_start_s: wall clock or NaN. */
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
/* Active runs, oldest first: those that have not ended. */
int store_runs_active(struct store *s, struct run_list *list, struct err *err);
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
/* The runs of the job that are being stopped to be held are stopped to be queued again. */
int store_runs_take_back_hold(struct store *s, int64_t job_id, struct err *err);
int store_run_stop_reason(struct store *s, int64_t id, enum stop_reason *reason,
			  enum run_state *state, struct err *err);
int store_run_set_diagnosis(struct store *s, int64_t id, const char *text, struct err *err);
int store_run_set_stopping(struct store *s, int64_t id, struct err *err);
/* Suspension, see enum suspension. Inside its transaction a pass asks for it (freezes: with the
 * run's GPU memory), and gives the run devices (run->devices) to come back to. */
int store_run_ask_suspension(struct store *s, int64_t id, bool freezes, struct err *err);
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
/* True if store_run_resume would succeed now. */
int store_run_may_resume(struct store *s, const struct run *run, bool *may, struct err *err);
/* suspended -> resuming by the run itself, to the devices that it had: it has to be stopped. */
int store_run_take_back_devices(struct store *s, int64_t id, struct err *err);
/* resuming -> suspended by the run itself: it cannot have the devices that it was given. */
int store_run_decline_devices(struct store *s, int64_t id, struct err *err);
/* The run is to be stopped, or its processes have ended: it is suspended no more, without
 * devices. */
int store_run_leave_suspension(struct store *s, const struct run *run, struct err *err);
/* Writes how far the run's GPU memory is on its way to the host's and back. */
int store_run_set_freeze(struct store *s, const struct run *run, struct err *err);
/* The most memory of a device that the newest runs of a workload took; 0: not known. */
int store_device_memory(struct store *s, const char *workload, int64_t *bytes, struct err *err);
int store_run_set_device_memory(struct store *s, int64_t id, int64_t bytes, struct err *err);
/* The largest memory that a run of the job had; 0: not known. */
int store_job_peak_memory(struct store *s, int64_t id, int64_t *bytes, struct err *err);
/* Another configuration for a run that goes on: its supervisor offers it to the program at its
 * next look (engine_wake: now). Only for a run that is running, with the replicas it has; else
 * nothing happens. */
int store_run_set_wanted(struct store *s, int64_t id, const struct configuration *c,
			 double learning_rate_scale, struct err *err);
/* Bring run's wanted, wanted_version and wanted_learning_rate_scale up to date. */
int store_run_read_wanted(struct store *s, struct run *run, struct err *err);
/* Ends the run, frees its devices, moves its totals to the job, and gives the job its next state.
 * A run that was claimed and whose command was not started counts as a launch of the job, but not
 * as a run or a start. */
int store_run_end(struct store *s, const struct run *run, struct err *err);
/* The latest runs of the job that failed, could not be started or lost their supervisor before
 * they told of a checkpoint, without a success between them. Runs of earlier boots, and runs that
 * were forgiven, do not count. */
enum setback_kind { SETBACK_FAILED, SETBACK_NOT_STARTED, SETBACK_LOST };
struct setback {
	int n;			/* of them; 0: the other members say nothing */
	enum setback_kind kind;	/* of the last one */
	double end_boot_s;	/* the end of the last one */
	char diagnosis[256];
};
int store_job_setback(struct store *s, int64_t job_id, struct setback *setback, struct err *err);
/* How many of the latest runs lost their supervisor in a row. */
int store_job_supervisor_losses(struct store *s, int64_t job_id, int *n, struct err *err);

/* ---- measurements ---- */

/* A window of a run: sums over its updates of unbiased estimates of |G|^2 and tr(Sigma). client.h
 * has the formulas. */
struct gradient_window {
	int window;			/* its number within the run, from 0 */
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

/* News of a run, written in one transaction: the progress of the run and its job, the step times of
 * the run in its configuration, and the gradient statistics of the open window. Step times and
 * statistics replace those in the store. */
struct run_update {
	const struct run *run;
	double steps, loss, epoch;	/* NaN: not reported */
	/* 0: the log tells none (any more); NaN: it was not asked */
	double printed_total_steps;
	double total_samples, total_steps, total_epochs;	/* NaN: not reported */
	int resumes;			/* whether it continues from its checkpoints; -1: unsaid */
	int saves_when_asked;		/* 1: it says that it does; -1: unsaid */
	const char *status_text;	/* NULL: not reported */
	int64_t parameters;		/* of the workload's model; 0: not reported */
	const struct observation *observation;		/* NULL: none */
	const struct gradient_window *gradient;		/* NULL: none */
};

int store_run_update(struct store *s, const struct run_update *p, struct err *err);

/* store_metrics.c: METRIC.name=value of a job's reports, the last value of each name. */
struct job_metric {
	char name[64];
	double last, samples;		/* samples: the position; NaN: unknown */
	double time_s;			/* wall clock: of the report's write */
};

struct job_metric_list {
	struct job_metric *items;
	int count;
};

#define STORE_METRICS_MAX 64	/* names that a job may have */

/* A job has STORE_METRICS_MAX names at most; a further name is passed over. */
int store_metric_set(struct store *s, int64_t job_id, const struct job_metric *m, struct err *err);
/* By name. */
int store_metrics_of_job(struct store *s, int64_t job_id, struct job_metric_list *list,
			 struct err *err);
void job_metric_list_release(struct job_metric_list *list);

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

/* The number of reports that the job's runs have sent. */
int store_reports_of_job(struct store *s, int64_t job_id, int64_t *n, struct err *err);
int store_observations_of_job(struct store *s, int64_t job_id, struct observation_list *list,
			      struct err *err);
/* What is known of a workload rests on this many of its newest runs and their measurements, so that
 * a long history costs a pass little. */
#define STORE_RUNS_MAX 500
#define STORE_OBSERVATIONS_MAX 512
#define STORE_GRADIENTS_MAX 2000

/* The observations of a workload on a kind of device, newest run first; at most
 * STORE_OBSERVATIONS_MAX. */
int store_observations_of_workload(struct store *s, const char *workload, const char *device_kind,
				   struct observation_list *list, struct err *err);
void observation_list_release(struct observation_list *list);
/* The observation of the run in its present configuration; n_windows is 0 if there is none. */
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

/* The number of the run's next window. */
int store_gradient_windows(struct store *s, int64_t run_id, int64_t *n, struct err *err);
/* The newest STORE_GRADIENTS_MAX windows of a workload, newest run last. */
int store_gradients_of_workload(struct store *s, const char *workload, struct gradient_list *list,
				struct err *err);
void gradient_list_release(struct gradient_list *list);

/* The time that a job of the workload loses if it is stopped and launched again. It is the median
 * over the newest 20 pairs of a stopped run and the next run: from the stop signal to the end of
 * the first, plus from the launch to the first report of the second. Without such a pair it is the
 * median time to the first report, plus that of a stop if there was one. NaN: nothing is known. */
int store_restart_cost(struct store *s, const char *workload, double *seconds, struct err *err);
/* True if the restart cost includes the time of a stop. */
int store_restart_was_timed(struct store *s, const char *workload, bool *timed, struct err *err);
/* The mean number of samples of the newest 20 jobs of the workload that are done. NaN: none is, or
 * their standard deviation exceeds half of the mean. */
int store_typical_samples(struct store *s, const char *workload, double *samples, struct err *err);

/* The mean time of a step over the runs of a job on this number of devices, for a job that declared
 * no batch size. */
struct step_time {
	int64_t job_id;
	int replicas;
	double seconds;
};

struct step_time_list {
	struct step_time *items;
	int count;
};

/* The step times of the jobs of a workload that declared no batch size, newest run first. */
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

/* Adds the reason of a profile whose process was killed, with the number of points measured. */
int store_profile_killed(struct store *s, int64_t job_id, struct text *reason, struct err *err);

struct reserved_device {
	int64_t job_id;
	struct device device;		/* id, binding, kind, cores are filled */
};

struct reserved_list {
	struct reserved_device *items;
	int count;
};

/* Keeps the device for the job until the job has ended. Call inside the transaction in which the
 * device was seen to be free. */
int store_device_reserve(struct store *s, int64_t job_id, const struct device *device,
			 struct err *err);
int store_devices_release(struct store *s, int64_t job_id, struct err *err);
/* By job; a profile is in the list from its start until it has ended. */
int store_reserved_list(struct store *s, struct reserved_list *list, struct err *err);
void reserved_list_release(struct reserved_list *list);

/* ---- kinds of devices: what 'pollux profile --devices' found out ---- */

/* Replaces measurements of the same (what, variant, devices, sizes), unless those were steady and
 * the new ones are not. Call inside a transaction. time_s: wall clock, of all of them. */
int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err);
/* Sorted by what, variant, devices, n, m and bytes. Measurements that this version does not know
 * are left out. The caller releases *list by device_measurement_list_release. */
int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err);
/* The parameters of the workload's model, as last declared or reported; NaN: unknown. */
int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err);
int store_workload_get_parameters(struct store *s, const char *workload, double *n,
				  struct err *err);

/* ---- taking back what is known ---- */

struct forget {
	const char *workload;
	int64_t job_id;			/* only what this job measured; 0: all of the workload */
	bool gradients, times, memory;
};

/* The number of rows that were taken back. */
struct forgotten {
	int64_t windows;		/* of gradient statistics */
	int64_t observations, models;	/* of step times */
	int64_t out_of_memory;		/* runs that ran out of memory */
};

/* Call inside a transaction. The history of jobs and runs stays. */
int store_forget(struct store *s, const struct forget *f, struct forgotten *n, struct err *err);
int store_workload_has_jobs(struct store *s, const char *workload, bool *has, struct err *err);

/* ---- models: what is known of a workload on one kind of device ---- */

struct model_row {
	struct fit_result fit;		/* params, basis, stop, objective, rmse_*, n_observations */
	int64_t n_steps;		/* that the observations rest on */
	int max_replicas;		/* the most that were ever measured */
	int64_t max_local_batch_size;	/* the largest that was ever measured */
	char observations_key[64];	/* see struct workload_stamp */
	double fit_time_s;		/* wall clock */
};

int store_model_get(struct store *s, const char *workload, const char *device_kind,
		    struct model_row *model, bool *found, struct err *err);
int store_model_set(struct store *s, const char *workload, const char *device_kind,
		    const struct model_row *model, struct err *err);

/* One for each workload with queued or running jobs and observations on this kind of device. */
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

/* Adds the process, and forgets the processes of other boots. */
int store_ignored_add(struct store *s, const struct ignored_process *process, struct err *err);
int store_ignored_remove(struct store *s, int64_t pid, bool *was_there, struct err *err);
/* The processes of this boot. */
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
/* A device did not bring memory back: what its test said does not hold any more, for any driver. */
int store_freeze_test_revoke(struct store *s, const char *device_id, const char *why,
			     struct err *err);
int store_freeze_test_get(struct store *s, const char *device_id, const char *driver,
			  struct freeze_tested *tested, struct err *err);

/* ---- decisions and events ---- */

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

/* The settings of the last pass: written only where they differ. The value is the caller's to
 * free, NULL where there is none. */
int store_setting_set(struct store *s, const char *name, const char *value, struct err *err);
int store_setting_get(struct store *s, const char *name, char **value, struct err *err);

/* Ended jobs of these states that nothing needs any more, the newest first, without the keep_last
 * newest of them. The caller releases the list. */
struct prunable {
	int64_t id;
	enum job_state state;
	char *name;
	double end_time_s;		/* wall clock */
	bool model_rests;		/* a model, or a known length, rests on its record */
};
struct prunable_list {
	struct prunable *items;
	int count;
};
int store_prunable_jobs(struct store *s, const bool states[N_JOB_STATES], double before_time_s,
			int64_t keep_last, struct prunable_list *list, struct err *err);
void prunable_list_release(struct prunable_list *list);
/* Still so? For a transaction that removes the job. */
int store_job_is_prunable(struct store *s, int64_t id, bool *prunable, struct err *err);
/* The job, its command, its runs and all that was observed of them. */
int store_job_delete(struct store *s, int64_t id, struct err *err);

/* The store's own name, 32 hexadecimal digits, made when it is first asked for. The caller
 * frees. */
int store_identity(struct store *s, char **id, struct err *err);

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
