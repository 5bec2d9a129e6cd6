/* store_halving.h - sweeps whose runs are paused at rungs (halving.h): which rungs a job reached,
 * and with which value of the metric.
 *
 * job.rung is the last rung that the job reached. job.passed_rungs is the last rung that it may go
 * on from: the start of a run sets it to job.rung, 'pollux release' to RUNGS_ALL. A queued job
 * whose rung is above that is paused. No process has to live for that: what a crash leaves is
 * paused, too. */
#ifndef POLLUX_STORE_HALVING_H
#define POLLUX_STORE_HALVING_H

#include "pollux/halving.h"
#include "pollux/job.h"
#include "pollux/store.h"

#define RUNGS_ALL HALVING_RUNGS_MAX

/* What the supervisor of a job watches for. */
struct job_rungs {
	struct halving halving;		/* n_rungs 0: the job is of no such sweep */
	int rung, passed;		/* job.rung, job.passed_rungs */
};

int store_job_rungs(struct store *s, int64_t job_id, struct job_rungs *rungs, struct err *err);
/* Finds out if a run of the workload has reported its position in samples: *reports. */
int store_workload_reports_samples(struct store *s, const char *workload, bool *reports,
				   struct err *err);
/* Records the value of the metric at a rung. Only the first value counts: a run that was set back
 * may reach the rung again. */
int store_rung_add(struct store *s, int64_t job_id, int rung, double samples, double value,
		   struct err *err);
/* Lets the job go on to its end, whatever its rank. Called inside a transaction of the caller. */
int store_job_pass_all_rungs(struct store *s, int64_t job_id, struct err *err);

/* A sweep as halving_decide has judged it. */
struct halving_sweep {
	struct halving halving;		/* n_rungs 0: the group has no rungs */
	struct halving_run *runs;	/* owned; by id */
	int n_runs;
	bool over;
};

int store_halving_read(struct store *s, int64_t group_id, struct halving_sweep *sweep,
		       struct err *err);
/* NULL: the job is not in the sweep. */
const struct halving_run *halving_sweep_find(const struct halving_sweep *sweep, int64_t job_id);
void halving_sweep_release(struct halving_sweep *sweep);

#endif
