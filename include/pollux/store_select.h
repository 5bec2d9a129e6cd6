/* store_select.h - the jobs that a person means, found by what is known of them. */
#ifndef POLLUX_STORE_SELECT_H
#define POLLUX_STORE_SELECT_H

#include <stdbool.h>

#include "pollux/store.h"

/* What a command does to jobs, and so which jobs it can act on. */
enum job_use { USE_ANY, USE_CANCEL, USE_HOLD, USE_RELEASE, USE_REQUEUE, USE_EDIT, USE_FIRST };
#define N_JOB_USES (USE_FIRST + 1)

/* The conditions that a job must meet, all of them. An initialiser of zeros, with since_wall_s NaN,
 * means all jobs. Names and workloads are compared as a whole, or as a glob of SQLite: *, ?, [a-z],
 * [^a]. */
struct job_query {
	int64_t first_id, last_id;	/* 0: no bound */
	int64_t group_id;		/* 0: any */
	bool newest;			/* the job that was submitted last, of all */
	const char *called;		/* its name; NULL: any */
	const char *states;		/* names with a comma before and after each; NULL: any */
	const char *name, *workload;	/* NULL: any */
	double since_wall_s;		/* submitted or ended since then; NaN: at any time */
	enum job_use use;
};

struct id_list {
	int64_t *items;			/* owned */
	int count;
};

/* Ids in ascending order; the caller releases the list, also after an error. A store that does not
 * exist yet (s->db NULL) has no jobs. */
int store_jobs_select(struct store *s, const struct job_query *query, struct id_list *ids,
		      struct err *err);
void id_list_add(struct id_list *ids, int64_t id);
void id_list_release(struct id_list *ids);
/* *id: the job among these whose command was started last; 0: none of them ever ran. or_starts: a
 * job that was just submitted, or is about to start, counts as started. */
int store_job_ran_last(struct store *s, const struct id_list *ids, bool or_starts, int64_t *id,
		       struct err *err);

#endif
