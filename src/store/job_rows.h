/* job_rows.h - a job's environment and dependencies, a run's devices; private to the store. */
#ifndef POLLUX_STORE_JOB_ROWS_H
#define POLLUX_STORE_JOB_ROWS_H

#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
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

/* --- the devices of a run --- */

/* True (in SQL) if no run uses a device of this run. */
#define SQL_DEVICES_ARE_FREE(run) \
	"NOT EXISTS (SELECT 1 FROM run_devices mine JOIN run_devices used" \
	"  ON used.node = mine.node AND used.device = mine.device AND used.in_use = 1" \
	"  AND (used.seat = mine.seat OR used.seat = 0 OR mine.seat = 0)" \
	"  WHERE mine.run_id = " run ")"

/* Puts the devices into run->devices, which has run->configuration.replicas of them, and their kind
 * and nodes into the configurations. */
int run_devices_read(struct store *s, struct run *run, struct err *err);
/* Adds the devices, not yet in use. */
int run_devices_add(struct store *s, const struct run *run, struct err *err);
/* Fails if another run uses one of the devices, because a unique index forbids it. */
int run_devices_set_in_use(struct store *s, int64_t run_id, bool in_use, struct err *err);

#endif
