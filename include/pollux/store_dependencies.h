/* store_dependencies.h - which jobs wait for which, and for what. */
#ifndef POLLUX_STORE_DEPENDENCIES_H
#define POLLUX_STORE_DEPENDENCIES_H

#include "pollux/job.h"
#include "pollux/store_select.h"

/* The event in another job that a job waits for. */
enum after_rule {
	AFTER_END,		/* it has ended, in whatever way */
	AFTER_OK,		/* it is done */
	AFTER_NOT_OK,		/* it has ended and is not done */
	AFTER_ANY,		/* one of all the jobs that have this rule has ended */
};
#define N_AFTER_RULES (AFTER_ANY + 1)

extern const char *const after_rule_names[N_AFTER_RULES];	/* "end", "ok", "notok", "any" */

struct dependency {
	/* after_id is 0 where a dependency that is to be added names a group; the store then has
	 * one dependency for each job that the group has at that time. */
	int64_t job_id, after_id, after_group_id;
	enum after_rule rule;
	enum job_state after_state;	/* filled when read, as is the next */
	double after_end_time_s;	/* wall clock; NaN: has not ended */
};

struct dependency_list {
	struct dependency *items;	/* owned */
	int count;
};

/* The dependencies of waiting jobs in the order of the jobs, each with the state of the job that is
 * waited for. */
int store_dependencies_list(struct store *s, struct dependency_list *list, struct err *err);
/* The dependencies of all jobs, including those that ended. */
int store_dependencies_all(struct store *s, struct dependency_list *list, struct err *err);
void dependency_list_release(struct dependency_list *list);

/* The jobs that passes cancelled because of the way in which this job ended, and those that they
 * cancelled because of these, in ascending order. The caller releases the list, also after an
 * error. */
int store_dependents_cancelled(struct store *s, int64_t id, struct id_list *ids, struct err *err);
/* EX_FAILED if one of these jobs, which were queued again, waits for itself through others. */
int store_dependencies_check(struct store *s, const struct id_list *ids, struct err *err);

/* Replaces, inside a transaction, the list of jobs that this job waits for. EX_FAILED if the job
 * would wait for itself, directly or through others. */
int store_job_set_dependencies(struct store *s, int64_t id, const struct dependency_list *after,
			       struct err *err);

#endif
