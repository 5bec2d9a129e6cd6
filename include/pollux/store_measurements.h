/* store_measurements.h - what supervisors and profiles learn. */
#ifndef POLLUX_STORE_MEASUREMENTS_H
#define POLLUX_STORE_MEASUREMENTS_H

#include "pollux/configuration.h"
#include "pollux/device_measurement.h"
#include "pollux/fit.h"
#include "pollux/job.h"
#include "pollux/noise_scale.h"
#include "pollux/tried_sizes.h"
#include "pollux/observation.h"
#include "pollux/share_pair.h"
#include "pollux/store.h"

/* --- what was measured of runs, and what is known of a workload by that --- */

/* A window of a run: sums over its updates of unbiased estimates of |G|^2 and tr(Sigma). client.h
 * has the formulas. */
struct gradient_window {
	int window;			/* its number within the run, from 0 */
	struct configuration configuration;	/* while it was open */
	/* positions after its first and last update; NaN unknown */
	double first_samples, last_samples;
	int64_t n;			/* updates */
	int64_t entries;		/* reports of these updates, each the mean over some */
	double sum_grad_sqr, sum_grad_var;
	/* Sums over updates of squared deviations from the window's means, and of the products of
	 * the two deviations; NaN: written by an older version. */
	double m2_grad_sqr, m2_grad_var, cross_grad;
	struct loss_sums losses;	/* of reports while it was open */
};

/* News of a run, written in one transaction: the progress of the run and its job, the step times of
 * the run in its configuration, and the gradient statistics of the open window. Step times and
 * statistics replace those in the store. */
struct run_update {
	const struct run *run;
	double steps, epoch;		/* NaN: not reported */
	int position_is_least;		/* as in struct progress; -1: unsaid */
	bool has_loss;
	double loss;			/* if there is one; it need not be finite */
	/* 0: the log tells none (any more); NaN: it was not asked */
	double printed_total_steps;
	/* 0: not known any more; NaN: not reported */
	double total_samples, total_steps, total_epochs;
	enum training_end end;		/* END_UNKNOWN: not reported */
	const char *optimizer;		/* NULL: not reported */
	/* whether its program continues from checkpoints; -1: unsaid */
	int resumes;
	int saves_when_asked;		/* 1: its program says that it does; -1: unsaid */
	const char *status_text;	/* NULL: not reported */
	int64_t parameters;		/* of the workload's model; 0: not reported */
	const struct observation *observation;		/* NULL: none */
	const struct gradient_window *gradient;		/* NULL: none */
};

int store_run_update(struct store *s, const struct run_update *p, struct err *err);

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
/* The observation of the run in its present configuration, on devices of its present tier;
 * n_windows is 0 if there is none. */
int store_observation_get(struct store *s, const struct run *run, struct observation *o,
			  struct err *err);

struct gradient_row {
	int64_t run_id, job_id;
	struct gradient_window window;
};

struct gradient_list {
	struct gradient_row *items;	/* owned */
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
/* The typical number of samples of the newest 20 jobs of the workload that are done (siblings.h),
 * and how many these are. NaN: none is, or their spread exceeds SIBLINGS_USUAL. */
int store_typical_samples(struct store *s, const char *workload, double *samples, int *n_jobs,
			  struct err *err);

/* The mean time of a step over the runs of each job on a number of devices, of the jobs of a
 * workload that declared no batch size, newest run first: job_id, step_time_s and
 * configuration.replicas. */
int store_step_times(struct store *s, const char *workload, const char *device_kind,
		     struct observation_list *list, struct err *err);

/* *has: whether a workload has runs. Without runs nothing was measured of the workload and no size
 * failed. This query takes much less time than those of the functions below. */
int store_workload_has_runs(struct store *s, const char *workload, bool *has, struct err *err);

/* The sizes of a workload that ran out of memory on a kind of device, as far as they are believed,
 * and what was measured of its newest runs. *b is the caller's, for memory_bounds_release. */
int store_memory_bounds(struct store *s, const char *workload, const char *device_kind,
			struct memory_bounds *b, struct err *err);
/* The sizes that failed for another reason, or ended by themselves, before a profile could time
 * them. */
int store_failed_sizes(struct store *s, const char *workload, const char *device_kind,
		       struct failed_sizes *f, struct err *err);

/* --- what 'pollux profile --devices' found out of kinds of devices --- */

/* Replaces measurements of the same (what, variant, devices, sizes), unless those were steady and
 * the new ones are not. Call inside a transaction. time_s: wall clock, of all of them. */
int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err);
/* Sorted by what, variant, devices, n, m and bytes. Measurements that this version does not know
 * are left out. The caller releases *list by device_measurement_list_release. */
int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err);

/* --- models: what is known of a workload on one kind of device --- */

struct model_row {
	struct fit_result fit;		/* params, basis, stop, objective, rmse_*, n_observations */
	int64_t n_steps;		/* that the observations rest on */
	int max_replicas;		/* the most that were ever measured */
	int max_nodes;			/* the same; 0, from an older version: 1 */
	int64_t max_local_batch_size;	/* the largest that was ever measured */
	char observations_key[64];	/* see struct workload_stamp */
	double fit_time_s;		/* wall clock */
};

/* *found: whether there is a model; without one *model stays as it is. */
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
	struct workload_stamp *items;	/* owned */
	int count;
};

/* Those of queued and running jobs. plans: also one for each plan of such a workload
 * (execution_plan.h). only: the one workload, with its plans, whatever its jobs do; NULL: all. */
int store_workload_stamps(struct store *s, const char *device_kind, bool plans, const char *only,
			  struct workload_stamp_list *list, struct err *err);
void workload_stamp_list_release(struct workload_stamp_list *list);

/* The parameters of the workload's model, as last declared or reported; NaN: unknown. */
int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err);
int store_workload_get_parameters(struct store *s, const char *workload, double *n,
				  struct err *err);

/* --- numbers that jobs report or print for people --- */

struct job_metric {
	char name[64];
	double last;			/* text.h: it need not be finite */
	double samples;			/* the position; NaN: unknown */
	/* of the finite values; NaN: there was none */
	double lowest, lowest_samples, highest, highest_samples;
	double time_s;			/* wall clock: of the report's write */
};

struct job_metric_list {
	struct job_metric *items;	/* owned */
	int count;
};

#define STORE_METRICS_MAX 64	/* names that a job may have */

/* Stored lowest and highest values stay if they are lower or higher than those of m. A job has
 * STORE_METRICS_MAX names at most; a further name is passed over. */
int store_metric_set(struct store *s, int64_t job_id, const struct job_metric *m, struct err *err);
/* By name. */
int store_metrics_of_job(struct store *s, int64_t job_id, struct job_metric_list *list,
			 struct err *err);
void job_metric_list_release(struct job_metric_list *list);

/* --- curves: loss and metrics, throughput, batch size --- */

/* A job has at most STORE_CURVE_POINTS points of a name, whatever its length: a point is kept only
 * where a sixtieth of the time since the first one has passed since the last, and a full curve
 * loses every second point, but not its first and last. A value that is not finite is a
 * point, too. */

#define STORE_CURVE_POINTS 120

/* Names that pollux measures by itself; others are those of metrics. */
#define CURVE_THROUGHPUT "pollux.throughput"	/* samples/s */
#define CURVE_BATCH_SIZE "pollux.batch_size"	/* samples */

struct curve_point {
	double time_s;		/* wall clock */
	double samples;		/* position; NaN: unknown */
	double value;		/* text.h: it need not be finite */
};

struct curve {
	char name[64];
	struct curve_point *points;	/* owned; in the order of time */
	int n;
};

struct curve_list {
	struct curve *items;		/* by name */
	int count;
};

/* Adds nothing if name is neither one of the names above nor a metric of
 * the job. */
int store_curve_add(struct store *s, int64_t job_id, const char *name, double samples,
		    double value, struct err *err);
int store_curves_of_job(struct store *s, int64_t job_id, struct curve_list *list,
			struct err *err);
void curve_list_release(struct curve_list *list);

/* Step times of runs that share a device, and which workloads do not fit beside each other. */

/* Finds the workload that is at work on the device of this run. "": there is none; "*": there are
 * several. */
int store_share_beside(struct store *s, int64_t run_id, char *beside, size_t size,
		       struct err *err);
/* Counts the other runs that are at work on the device of this run. */
int store_share_count(struct store *s, int64_t run_id, int64_t *count, struct err *err);
/* Stores the step times of a run beside another workload, in its present configuration. Step times
 * that are there already are replaced. */
int store_share_put(struct store *s, const struct run *run, const char *beside,
		    const struct observation *o, struct err *err);
/* Reads what became of the workload beside the other one, by the newest runs on this kind of
 * device. */
int store_share_factor(struct store *s, const char *workload, const char *beside,
		       const char *device_kind, struct share_factor *f, struct err *err);
/* Counts the windows that tell the step time of the workload on a device of its own; 0: not
 * measured. */
int store_share_windows_alone(struct store *s, const char *workload, const char *device_kind,
			      int64_t *windows, struct err *err);
/* Reads the largest amount of the machine's memory that the newest runs of the workload had; 0: not
 * known. */
int store_share_memory(struct store *s, const char *workload, int64_t *bytes, struct err *err);
/* Keeps workloads apart after a run ran out of memory while others were on its device, or just
 * after they had ended. Its workload and theirs do not meet again. *news: true if this was new for
 * at least one of them. */
int store_share_keep_apart(struct store *s, const struct run *run, bool *news, struct err *err);

/* A workload that was beside another one. */
struct share_pair {
	char *beside;			/* owned; the other workload */
	struct share_factor own, other;
};

struct share_pair_list {
	struct share_pair *items;	/* owned */
	int count;
};

/* Reads all pairs of the workload on a kind of device. */
int store_share_pairs(struct store *s, const char *workload, const char *device_kind,
		      struct share_pair_list *list, struct err *err);
void share_pair_list_release(struct share_pair_list *list);

#endif
