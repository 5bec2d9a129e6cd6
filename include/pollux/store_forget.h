/* store_forget.h - what is taken back or forgotten. */
#ifndef POLLUX_STORE_FORGET_H
#define POLLUX_STORE_FORGET_H

#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/text.h"

/* --- taking back what is known --- */

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

/* --- ended jobs that can be removed --- */

/* Ended jobs of these states that nothing needs any more, the newest first, without the keep_last
 * newest of them. The caller releases the list. */
struct prunable {
	int64_t id;
	enum job_state state;
	char *name;			/* owned */
	double end_time_s;		/* wall clock */
	bool model_rests;		/* a model, or a known length, rests on its record */
	bool has_snapshot;		/* of its code */
};
struct prunable_list {
	struct prunable *items;	/* owned */
	int count;
};
int store_prunable_jobs(struct store *s, const bool states[N_JOB_STATES], double before_time_s,
			int64_t keep_last, struct prunable_list *list, struct err *err);
void prunable_list_release(struct prunable_list *list);
/* *prunable: whether the job can still be removed; for the transaction that removes it. */
int store_job_is_prunable(struct store *s, int64_t id, bool *prunable, struct err *err);
/* Deletes the job, its command, its runs and all that was observed of them. */
int store_job_delete(struct store *s, int64_t id, struct err *err);

/* --- the environments of jobs, each stored once --- */

/* Gives the job another environment. */
int store_environment_replace(struct store *s, int64_t job_id, const struct strings *env,
			      struct err *err);
/* Reduces environments to the names of their variables if all jobs that have them ended longer than
 * this before now (wall clock). *forgotten: how many. Commits by itself, some at a time. */
int store_environments_forget(struct store *s, double now_s, double after_s, int *forgotten,
			      struct err *err);

#endif
