/* store_measurements.h - what supervisors and profiles learn. */
#ifndef POLLUX_STORE_MEASUREMENTS_H
#define POLLUX_STORE_MEASUREMENTS_H

#include "pollux/configuration.h"
#include "pollux/device_measurement.h"
#include "pollux/failed_sizes.h"
#include "pollux/job.h"
#include "pollux/loss_sums.h"
#include "pollux/memory_bounds.h"
#include "pollux/observation.h"
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
	bool has_loss;
	double loss;			/* if there is one; it need not be finite */
	/* 0: the log tells none (any more); NaN: it was not asked */
	double printed_total_steps;
	double total_samples, total_steps, total_epochs;	/* NaN: not reported */
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
/* The mean number of samples of the newest 20 jobs of the workload that are done, and how many
 * these are. NaN: none is, or their standard deviation exceeds half of the mean. */
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

#endif
