/* store_suspension.c - a run leaves its devices with its memory, and comes back. Each function
 * moves the run by one state if the run is still in the state before; see enum suspension. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "rows.h"
#include "run_devices.h"

/* A run that waits for devices to come back to becomes suspended at once, because nothing of it
 * runs. */
int store_run_ask_suspension(struct store *s, int64_t id, bool freezes, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET freezes ="
		       " CASE suspension WHEN 'none' THEN ? ELSE freezes END, suspension ="
		       " CASE suspension WHEN 'resuming' THEN 'suspended' ELSE 'asked' END"
		       " WHERE id = ? AND state = 'running'"
		       " AND suspension IN ('none', 'resuming')", "ii", (int64_t)freezes, id);
}

int store_run_read_suspension(struct store *s, struct run *run, struct err *err)
{
	enum suspension before = run->suspension;
	sqlite3_stmt *q;
	int rc;

	if (rows_query(s, &q, err, SOME_OF(runs_table, COLUMN_SUSPENSION),
		       "WHERE id = ?", "i", run->id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		run->suspended_boot_s = run->resumed_boot_s = (double)NAN;
		rows_read(q, SOME_OF(runs_table, COLUMN_SUSPENSION), run);
	}
	sql_done(q);
	if (rc == 1 && run->suspension == SUSPENSION_RESUMING && run_devices_read(s, run, err))
		rc = -1;
	if (rc < 0)
		run->suspension = before;
	return rc < 0 ? -1 : 0;
}

/* Writes the run's columns of suspension, and in_use for its devices, if the run in the store is in
 * the state `from`. *moved: the run was in that state. */
static int move_suspension(struct store *s, const struct run *run, const char *from, bool in_use,
			   bool *moved, struct err *err)
{
	char *condition = xasprintf("state = 'running' AND suspension = '%s'", from);
	int changed = rows_update(s, SOME_OF(runs_table, COLUMN_SUSPENSION), run,
				  run->id, condition, err);

	free(condition);
	*moved = changed == 1;
	if (changed < 0 || !*moved)
		return changed < 0 ? -1 : 0;
	return run_devices_set_in_use(s, run->id, in_use, err);
}

/* Commits. The commit may be the first write that a full disk refuses: then nothing was done. */
static int commit(struct store *s, bool *done, struct err *err)
{
	if (store_commit(s, err) == 0)
		return 0;
	*done = false;
	return -1;
}

int store_run_set_suspended(struct store *s, const struct run *run, const char *text, bool *done,
			    struct err *err)
{
	*done = false;
	if (store_begin(s, err))
		return -1;
	if (move_suspension(s, run, "asked", false, done, err) ||
	    (*done && store_event_add(s, run->job_id, run->id, "suspended", text, err))) {
		store_rollback(s);
		*done = false;
		return -1;
	}
	return commit(s, done, err);
}

int store_run_give_devices(struct store *s, const struct run *run, struct err *err)
{
	int changed;

	if (sql_run(s, &changed, err, "UPDATE runs SET suspension = 'resuming',"
		    " tier = nullif(?, '') WHERE id = ?"
		    " AND state = 'running' AND suspension = 'suspended'", "ti",
		    configuration_tier_names.names[run->configuration.tier], run->id))
		return -1;
	return changed == 1 ? run_devices_replace(s, run, err) : 0;
}

/* *may: the devices assigned to the run are still those that the caller knows, and they are
 * free. */
int store_run_may_resume(struct store *s, const struct run *run, bool *may, struct err *err)
{
	struct run now;
	int rc;

	run_init(&now);
	now.id = run->id;
	now.configuration.replicas = run->configuration.replicas;
	rc = run_devices_are_free(s, run->id, may, err) || run_devices_read(s, &now, err) ? -1 : 0;
	for (int i = 0; rc == 0 && i < run->configuration.replicas; i++)
		*may = *may && device_is_same(&now.devices[i], &run->devices[i]);
	run_release(&now);
	return rc;
}

/* The caller reads the time at which the run goes on before it takes the store's lock. */
int store_run_resume(struct store *s, const struct run *run, bool *resumed, struct err *err)
{
	bool may;

	*resumed = false;
	if (store_begin(s, err))
		return -1;
	if (store_run_may_resume(s, run, &may, err) ||
	    (may && (move_suspension(s, run, "resuming", true, resumed, err) ||
		     (*resumed &&
		      store_event_add(s, run->job_id, run->id, "resumed", "", err))))) {
		store_rollback(s);
		*resumed = false;
		return -1;
	}
	return commit(s, resumed, err);
}

int store_run_take_back_devices(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET suspension = 'resuming' WHERE id = ?"
		       " AND state = 'running' AND suspension = 'suspended'", "i", id);
}

int store_run_decline_devices(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET suspension = 'suspended' WHERE id = ?"
		       " AND state = 'running' AND suspension = 'resuming'", "i", id);
}

int store_run_keep_suspended(struct store *s, int64_t id, const char *handle, bool *kept,
			     struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err, "UPDATE runs SET handle = CAST(? AS BLOB) WHERE id = ?"
			 " AND state = 'running' AND suspension IN ('suspended', 'resuming')"
			 " AND suspended_boot_s IS NOT NULL", "ti", handle, id);

	*kept = rc == 0 && changed == 1;
	return rc;
}

int store_run_leave_suspension(struct store *s, const struct run *run, struct err *err)
{
	return rows_update(s, SOME_OF(runs_table, COLUMN_SUSPENSION), run, run->id,
			   "state <> 'ended'", err) < 0 ? -1 : 0;
}

int store_run_set_freeze(struct store *s, const struct run *run, struct err *err)
{
	return rows_update(s, SOME_OF(runs_table, COLUMN_FREEZE), run, run->id,
			   "state <> 'ended'", err) < 0 ? -1 : 0;
}

int store_run_set_device_memory(struct store *s, int64_t id, int64_t bytes, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET device_memory_bytes = ? WHERE id = ?", "ii",
		       bytes, id);
}

int store_device_memory(struct store *s, const char *workload, int64_t *bytes, struct err *err)
{
	return sql_ask(s, bytes, err, "SELECT max(max(coalesce(device_memory_bytes, 0),"
		       " coalesce(peak_device_memory_bytes, 0))) FROM runs"
		       " WHERE (forgotten & 2) = 0"
		       " AND id IN "
		       SQL_NEWEST_RUNS("?"), "t", workload);
}

int store_job_peak_memory(struct store *s, int64_t id, int64_t *bytes, struct err *err)
{
	return sql_ask(s, bytes, err, "SELECT max(peak_memory_bytes) FROM runs WHERE job_id = ?",
		       "i", id);
}
