/* job_rows.h - a job's environment and dependencies; private to the store. */
#ifndef POLLUX_STORE_JOB_ROWS_H
#define POLLUX_STORE_JOB_ROWS_H

#include "pollux/store_jobs.h"
#include "sql.h"

/* --- jobs with the same environment share a row of it --- */

/* *id: the row with this content, which is made unless it is there. Inside a transaction. */
int environment_put(struct store *s, const struct strings *env, int64_t *id, struct err *err);
/* Fills in c->env and c->env_names_only by c->environment_id. On an error *c is released. */
int environment_read(struct store *s, struct job_command *c, struct err *err);

/* --- dependencies of a new job --- */

/* EX_NOINPUT: a job or group is not there. Asked before the new job is, which else could come after
 * itself, or after its own group. */
int dependencies_exist(struct store *s, const struct dependency_list *after, struct err *err);
/* Inside a transaction. */
int dependencies_add(struct store *s, int64_t id, const struct dependency_list *after,
		     struct err *err);

#endif
