/* store_prune.h - ended jobs that can be removed. */
#ifndef POLLUX_STORE_PRUNE_H
#define POLLUX_STORE_PRUNE_H

#include "pollux/job.h"
#include "pollux/store.h"

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

#endif
