/* store_groups.h - groups of jobs that were submitted by one command, and the rungs of sweeps. */
#ifndef POLLUX_STORE_GROUPS_H
#define POLLUX_STORE_GROUPS_H

#include "pollux/halving.h"
#include "pollux/job.h"
#include "pollux/split.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"

/* --- groups: jobs of one 'pollux submit' that differ by their parameters --- */

/* A job of a group has job.group_id, job.group_index and job.parameters: "NAME=VALUE" strings in
 * the order of the command line. A NAME is letters, digits and '_', so it ends at the first '='; a
 * VALUE may have any bytes but NUL, '=' and newlines among them. A group goes with its last job. */

struct job_group {
	int64_t id;
	/* owned; of --name, {NAME} not replaced; or as for a single job */
	char *name;
	double submit_time_s;		/* wall clock */
	int max_running;		/* of its jobs at a time; 0: as many as there are devices */
	char *halving;			/* owned; as halving_format writes it; NULL: none */
	/* owned; how its workload was split, in words; "": it may be; NULL: it has
	 * a name, and is not to be split */
	char *split;
	struct strings argv;		/* before parameters were put in */
	struct strings varied;		/* "NAME=HOW": what was varied, as it was asked for */
};

struct job_group_list {
	struct job_group *items;	/* by id */
	int count;
};

/* The jobs to add: make fills in number i (from 0) of n, but not the number of the group. Both
 * structs are empty (job_init) when make is called, and released after the job was added, also
 * where make fails. */
struct group_jobs {
	int n;
	int (*make)(void *arg, int i, struct job *job, struct job_command *command,
		    struct err *err);
	void *arg;
};

/* What was added: the numbers of the jobs follow each other. */
struct group_added {
	int64_t group_id, first_job_id, last_job_id;
};

/* Adds the group, unless it has a number and so is there, and the jobs, inside the caller's
 * transaction. Each job has the dependencies of after. */
int store_group_insert(struct store *s, const struct job_group *group,
		       const struct group_jobs *jobs, const struct dependency_list *after,
		       struct group_added *added, struct err *err);
/* Jobs of the group with this key, which have failed or were cancelled, leave the group and the
 * table of status: another job takes their place. */
int store_group_leave(struct store *s, int64_t group_id, const char *key, struct err *err);
/* EX_NOINPUT if there is no such group. */
int store_group_get(struct store *s, int64_t id, struct job_group *group, struct err *err);
/* Inside the caller's transaction. 0: as many as there are devices. */
int store_group_set_max_running(struct store *s, int64_t id, int max_running, struct err *err);
/* All groups; active: only those that have a job which has not ended. */
int store_groups_list(struct store *s, bool active, struct job_group_list *list, struct err *err);
/* The jobs of a group that are still in the store, by their index. */
int store_group_jobs(struct store *s, int64_t id, struct job_list *list, struct err *err);

/* The jobs of a group that are still in the store, and the extremes of each of their metrics. */
struct group_metric {
	char name[64];
	double lowest, highest;
	int64_t lowest_job, highest_job;
};

struct group_summary {
	int counts[N_JOB_STATES];
	int paused;			/* of the queued ones, at rungs */
	int suspended;			/* of the running ones */
	struct group_metric *metrics;	/* owned; by name */
	int n_metrics;
};

int store_group_summary(struct store *s, int64_t id, struct group_summary *summary,
			struct err *err);
void group_summary_release(struct group_summary *summary);

void job_group_release(struct job_group *group);
void job_group_list_release(struct job_group_list *list);

/* --- groups whose runs fail one after the other --- */

/* Inside the transaction in which the run ends, and its job has its next state. If three jobs of
 * the group in a row failed within a minute of the start of their last runs, all since the group
 * was last held, the jobs of the group that wait are held. */
int store_group_hold_failing(struct store *s, const struct run *run, struct err *err);
/* What became of the group, for people; the caller frees it. */
char *group_hold_words(int64_t group_id);
/* *told: the group was held for the failure of this job, or right before it: on_failure tells the
 * hold instead. */
int store_job_told_by_hold(struct store *s, int64_t job_id, bool *told, struct err *err);
/* *left: a hold is left to be told. Unless holds are wanted, those that are left count as told. */
int store_holds_left(struct store *s, bool wanted, bool *left, struct err *err);
/* Takes one, with the job whose failure was the third: it counts as told. *group_id 0: none is
 * left. */
int store_hold_take(struct store *s, int64_t *group_id, int64_t *job_id, struct err *err);

/* --- sweeps whose runs are paused at rungs --- */

/* job.rung is the last rung that the job reached. job.passed_rungs is the last rung that it may go
 * on from: the start of a run sets it to job.rung, 'pollux release' to RUNGS_ALL. A queued job
 * whose rung is above that is paused. No process has to live for that: what a crash leaves is
 * paused, too. */

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

/* --- sweeps whose runs are of several models --- */

/* A group is split once at most: each of its jobs gets the workload "WORKLOAD [NAME=VALUE]". Groups
 * whose workload a person has named are never split. */

/* Splits groups of jobs that have not ended, where their step times show different models. Writes
 * nothing otherwise. Begins and commits its own transactions. */
int store_split_groups(struct store *s, struct err *err);

#endif
