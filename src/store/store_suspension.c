/* store_suspension.c - a run leaves its devices with its memory, and comes back. Each function
 * moves the run by one state if the run is still in the state before; see enum suspension. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"
#include "rows.h"

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
	struct run now = *run;
	int rc;

	now.suspended_boot_s = now.resumed_boot_s = (double)NAN;
	rc = rows_get(s, SOME_OF(runs_table, COLUMN_SUSPENSION), &now, err, "WHERE id = ?", "i",
		      run->id);
	if (rc != 1)
		return rc;
	*run = now;
	if (run->suspension != SUSPENSION_RESUMING || run_devices_read(s, run, err) == 0)
		return 0;
	run->suspension = before;
	return -1;
}

static const struct move {
	const char *from, *event;	/* the state before, and what is told of it */
	bool in_use;			/* of the devices, afterwards */
} suspends = { "asked", "suspended", false }, resumes = { "resuming", "resumed", true };

/* Adds an event with the devices that the run leaves, or comes back to: run_devices has the last
 * ones alone. */
static int add_event(struct store *s, const struct run *run, const char *kind, const char *text,
		     struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO events (time_s, job_id, run_id, kind, text,"
		       " devices) SELECT ?1, ?2, ?3, ?4, ?5, group_concat(device) FROM"
		       " (SELECT device FROM run_devices WHERE run_id = ?3 ORDER BY position)",
		       "diitt", clock_wall_s(), run->job_id, run->id, kind, text);
}

/* Writes the run's columns of suspension, in_use for its devices and an event, if the run in the
 * store is in the state before; commits. *moved: the run was in that state, and all is written: the
 * commit may be the first write that a full disk refuses. */
static int move_suspension(struct store *s, const struct run *run, const struct move *m,
			   const char *text, bool *moved, struct err *err)
{
	char *condition = xasprintf("state = 'running' AND suspension = '%s'", m->from);
	int rc = rows_update(s, SOME_OF(runs_table, COLUMN_SUSPENSION), run, run->id, condition,
			     err);

	free(condition);
	*moved = rc == 1;
	rc = rc < 0 ||
	     (*moved && (run_devices_set_in_use(s, run->id, m->in_use, err) ||
			 add_event(s, run, m->event, text, err)));
	rc = store_finish(s, rc, err);
	*moved = *moved && rc == 0;
	return rc;
}

int store_run_set_suspended(struct store *s, const struct run *run, const char *text, bool *done,
			    struct err *err)
{
	*done = false;
	return store_begin(s, err) ? -1 : move_suspension(s, run, &suspends, text, done, err);
}

int store_run_give_devices(struct store *s, const struct run *run, struct err *err)
{
	int changed;

	if (sql_run(s, &changed, err, "UPDATE runs SET suspension = 'resuming',"
		    " tier = nullif(?, '') WHERE id = ?"
		    " AND state = 'running' AND suspension = 'suspended'", "ti",
		    configuration_tier_names.names[run->configuration.tier], run->id))
		return -1;
	return changed == 1 && (sql_run(s, NULL, err, "DELETE FROM run_devices WHERE run_id = ?",
					"i", run->id) ||
				run_devices_add(s, run, err)) ? -1 : 0;
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
	rc = sql_get(s, err, "SELECT " SQL_DEVICES_ARE_FREE("?"), "b<i", may, run->id) ||
	     run_devices_read(s, &now, err) ? -1 : 0;
	for (int i = 0; rc == 0 && i < run->configuration.replicas; i++)
		*may = *may && device_is_same(&now.devices[i], &run->devices[i]);
	run_release(&now);
	return rc;
}

/* The caller reads the time at which the run goes on before it takes the store's lock. */
int store_run_resume(struct store *s, const struct run *run, bool *resumed, struct err *err)
{
	bool may;
	int rc;

	*resumed = false;
	if (store_begin(s, err))
		return -1;
	rc = store_run_may_resume(s, run, &may, err);
	if (rc || !may)
		return store_finish(s, rc, err);
	return move_suspension(s, run, &resumes, "", resumed, err);
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

/* One transaction: who sees the refusal sees the event, which says why, and the job as it was. */
int store_run_refuse_suspension(struct store *s, const struct run *run, const char *kind,
				const char *why, struct err *err)
{
	int rc;

	if (store_begin(s, err))
		return -1;
	rc = store_run_leave_suspension(s, run, err) ||
	     sql_run(s, NULL, err, "UPDATE jobs SET held = 0, reason = '' WHERE id = ? AND held",
		     "i", run->job_id) ||
	     store_event_add(s, run->job_id, run->id, kind, why, err) ? -1 : 0;
	return store_finish(s, rc, err);
}

/* --- a person's hold --- */

int store_job_hold_suspended(struct store *s, const struct run *run, bool freezes, struct err *err)
{
	char *reason = xasprintf(HELD_REASON, "held", (long long)run->job_id);
	int rc = store_run_ask_suspension(s, run->id, freezes, err) ||
		 sql_run(s, NULL, err, "UPDATE jobs SET held = 1, reason = ?,"
			 " next_start_time_s = NULL WHERE id = ?", "ti", reason, run->job_id)
		 ? -1 : 0;

	free(reason);
	return rc;
}

int store_job_release_suspended(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET held = 0, reason = 'released',"
		       " last_end_time_s = ? WHERE id = ?", "di", clock_wall_s(), id);
}

/* --- workloads that are not suspended any more --- */

int store_job_ended_after_suspension(struct store *s, int64_t job_id, bool *ended, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM runs WHERE job_id = ?"
		       " AND state = 'ended' AND stop_reason = 'suspension')", "b<i", ended,
		       job_id);
}

/* True (in SQL) of jobs of workload ?1 that say nothing of suspensions. */
#define SAYS_NOTHING \
	"workload = ?1 AND coalesce(suspend, 'auto') = 'auto' AND profile = 0" \
	" AND state IN ('queued', 'held', 'running')"

int store_workload_suspend_no_more(struct store *s, const struct run *run, struct err *err)
{
	char *workload, *others;
	int rc;

	if (sql_get(s, err, "SELECT workload FROM jobs WHERE id = ?", "t<i", &workload,
		    run->job_id))
		return -1;
	others = xasprintf("it is not suspended any more: job %lld of its workload ended after a "
			   "suspension", (long long)run->job_id);
	rc = sql_run(s, NULL, err, "INSERT INTO workloads (workload, never_suspend) VALUES (?, 1)"
		     " ON CONFLICT DO UPDATE SET never_suspend = 1", "t", workload) ||
	     sql_run(s, NULL, err, "UPDATE jobs SET suspend = 'never' WHERE id = ?", "i",
		     run->job_id) ||
	     sql_run(s, NULL, err, "INSERT INTO events (time_s, job_id, kind, text)"
		     " SELECT ?2, id, 'suspend', ?3 FROM jobs WHERE " SAYS_NOTHING, "tdt",
		     workload, clock_wall_s(), others) ||
	     sql_run(s, NULL, err, "UPDATE jobs SET suspend = 'never' WHERE " SAYS_NOTHING, "t",
		     workload) ||
	     store_event_add(s, run->job_id, run->id, "suspend", "its end says nothing, as clocks "
			     "of its own go on while it is suspended: it is started again, this "
			     "once, and jobs of its workload are not suspended any more", err);
	free(workload);
	free(others);
	return rc ? -1 : 0;
}

int store_job_heed_suspensions(struct store *s, struct job *job, struct err *err)
{
	bool never = false;

	if (job->declared.suspend != SUSPEND_AUTO || job->profile || job->interactive)
		return 0;
	if (sql_get(s, err, "SELECT never_suspend FROM workloads WHERE workload = ?", "b<t",
		    &never, job->declared.workload))
		return -1;
	if (!never)
		return 0;
	job->declared.suspend = SUSPEND_NEVER;
	return store_job_set_declared(s, job, err) ||
	       store_event_add(s, job->id, 0, "suspend", "it is not suspended: a job of its "
			       "workload ended after a suspension", err) ? -1 : 0;
}

/* --- the memory of GPUs --- */

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
	return sql_get(s, err, "SELECT max(max(coalesce(device_memory_bytes, 0),"
		       " coalesce(peak_device_memory_bytes, 0))) FROM runs"
		       " WHERE (forgotten & 2) = 0"
		       " AND id IN "
		       SQL_NEWEST_RUNS("?"), "i<t", bytes, workload);
}

int store_job_peak_memory(struct store *s, int64_t id, int64_t *bytes, struct err *err)
{
	return sql_get(s, err, "SELECT max(peak_memory_bytes) FROM runs WHERE job_id = ?",
		       "i<i", bytes, id);
}
