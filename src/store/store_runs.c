/* store_runs.c - launches: assigned, claimed, stopped, ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "rows.h"
#include "journal.h"

/* Sets kind and nodes of the run's devices, also in the wanted configuration, which has the same
 * devices. */
static void set_kind(struct run *run)
{
	struct configuration *c = &run->configuration;

	if (c->replicas > 0)
		snprintf(c->kind, sizeof(c->kind), "%s", run->devices[0].kind);
	c->nodes = run_n_nodes(run);
	run->wanted.nodes = c->nodes;
	memcpy(run->wanted.kind, c->kind, sizeof(c->kind));
}

int run_devices_read(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc, n = 0;

	run_make_devices(run);
	if (sql_query(s, &q, err, "SELECT device, kind, binding, cores, node, seat FROM run_devices"
		      " WHERE run_id = ? ORDER BY position", "i", run->id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1 && n < run->configuration.replicas) {
		struct device *d = &run->devices[n++];

		sql_chars(q, 0, d->id, sizeof(d->id));
		sql_chars(q, 1, d->kind, sizeof(d->kind));
		sql_chars(q, 2, d->binding, sizeof(d->binding));
		d->cores = (int)sql_int(q, 3, 1);
		sql_chars(q, 4, d->node, sizeof(d->node));
		d->seat = (int)sql_int(q, 5, 0);
		d->usable = true;
		d->now = DEVICE_READING_UNKNOWN;
	}
	sql_done(q);
	set_kind(run);
	return rc < 0 ? -1 : 0;
}

int run_devices_add(struct store *s, const struct run *run, struct err *err)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		const struct device *d = &run->devices[i];

		if (sql_run(s, NULL, err, "INSERT INTO run_devices (run_id, position, device, kind,"
			    " binding, cores, node, seat) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			    "iitttiti", run->id, (int64_t)i, d->id, d->kind, d->binding,
			    (int64_t)d->cores, d->node, (int64_t)d->seat))
			return -1;
	}
	return 0;
}

int run_devices_set_in_use(struct store *s, int64_t run_id, bool in_use, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE run_devices SET in_use = ? WHERE run_id = ?", "ii",
		       (int64_t)in_use, run_id);
}

int store_run_get(struct store *s, int64_t id, struct run *run, struct err *err)
{
	int rc;

	run_init(run);
	rc = rows_get(s, ALL_OF(runs_table), run, err, "WHERE id = ?", "i", id);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such run: %lld", (long long)id);
	return rc == 1 ? run_devices_read(s, run, err) : -1;
}

/* job_id 0: of all jobs. Times of active runs by the boot clock are moved to that of this boot. */
static int read_list(struct store *s, struct run_list *list, bool active, int64_t job_id,
		     const char *rest, struct err *err)
{
	struct run initial;
	int rc;

	run_init(&initial);
	rc = rows_list(s, ALL_FROM(runs_table, &initial), list, err, rest, job_id ? "i" : "",
		       job_id);
	for (int i = 0; rc == 0 && i < list->count; i++) {
		rc = run_devices_read(s, &list->items[i], err);
		if (active)
			run_take_boot(&list->items[i], clock_wall_s(), clock_boot_s());
	}
	if (rc)
		run_list_release(list);
	return rc;
}

int store_runs_active(struct store *s, struct run_list *list, struct err *err)
{
	return read_list(s, list, true, 0, "WHERE id IN (SELECT id FROM runs"
			 " WHERE state <> 'ended') ORDER BY id", err);
}

int store_runs_active_of(struct store *s, int64_t job_id, struct run_list *list, struct err *err)
{
	return read_list(s, list, true, job_id, "WHERE job_id = ? AND state <> 'ended'"
			 " ORDER BY id", err);
}

int store_runs_any_of(struct store *s, const char *engine, bool *any, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM runs WHERE state <> 'ended'"
		       " AND CAST(handle AS TEXT) || ' ' LIKE ? || ' %')", "b<t", any, engine);
}

int store_runs_of_job(struct store *s, int64_t job_id, struct run_list *list, struct err *err)
{
	return read_list(s, list, false, job_id, "WHERE job_id = ? ORDER BY number", err);
}

void run_list_release(struct run_list *list)
{
	for (int i = 0; i < list->count; i++)
		run_release(&list->items[i]);
	free(list->items);
	*list = (struct run_list){ 0 };
}

int store_run_add(struct store *s, struct run *run, struct err *err)
{
	set_kind(run);
	free(run->boot_id);
	run->boot_id = xstrdup(clock_boot_id());
	if (sql_get(s, err, "SELECT max(number) FROM runs WHERE job_id = ?", "n<i", &run->number,
		    run->job_id))
		return -1;
	run->number++;
	if (rows_insert(s, &runs_table, run, err))
		return -1;
	run->id = sqlite3_last_insert_rowid(s->db);
	if (run_devices_add(s, run, err))
		return -1;
	/* A job that is given devices goes on from the rung that it reached. */
	return sql_run(s, NULL, err, "UPDATE jobs SET state = 'running', next_start_time_s = NULL,"
		       " passed_rungs = max(passed_rungs, rung) WHERE id = ?", "i", run->job_id);
}

int store_run_may_claim(struct store *s, int64_t id, bool *may, struct err *err)
{
	return sql_get(s, err,
		       "SELECT r.state = 'assigned' AND coalesce(r.stop_reason, 'none') = 'none'"
		       " AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.job_id = r.job_id"
		       "  AND o.state IN ('running', 'stopping'))"
		       " AND " SQL_DEVICES_ARE_FREE("r.id") " FROM runs r WHERE r.id = ?", "b<i",
		       may, id);
}

int put_claim(struct store *s, const struct told *t, struct err *err)
{
	const struct run *run = &t->run;

	if (sql_run(s, NULL, err, "UPDATE runs SET state = 'running', launch_time_s = ?,"
		    " launch_boot_s = ? WHERE id = ?", "ddi", run->launch_time_s,
		    run->launch_boot_s, run->id) ||
	    run_devices_set_in_use(s, run->id, true, err))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET runs = runs + 1, launches = launches + 1,"
		       " first_rank = 0, start_time_s = coalesce(start_time_s, ?)"
		       " WHERE id = (SELECT job_id FROM runs WHERE id = ?)", "di",
		       run->launch_time_s, run->id);
}

int store_run_claim(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *claimed, struct err *err)
{
	struct told t = { .run = { .id = id, .launch_time_s = clock_wall_s() } };
	int rc;

	*claimed = false;
	if (store_begin(s, err))
		return -1;
	t.run.launch_boot_s = isnan(now_boot_s) ? clock_boot_s() : now_boot_s;
	rc = store_run_may_claim(s, id, claimed, err) ||
	     (*claimed && (store_run_set_handle(s, id, handle, err) ||
			   journal_put(s, RECORD_CLAIM, &t, err)));
	/* The commit may be the first write that a full disk refuses. */
	rc = store_finish(s, rc, err);
	*claimed = *claimed && rc == 0;
	return rc;
}

/* Writes that the run is an orphan even if a profile has asked to end it (STOP_MEASURED) because
 * its launch took too long: the profile may not know yet that the supervisor was killed. */
int store_run_adopt(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *adopted, struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err,
			 "UPDATE runs SET state = 'stopping', handle = CAST(? AS BLOB),"
			 " stop_reason = CASE WHEN coalesce(stop_reason, 'none')"
			 " IN ('none', 'measured') THEN 'orphan' ELSE stop_reason END,"
			 " stop_boot_s = coalesce(stop_boot_s, ?)"
			 " WHERE id = ? AND state IN ('running', 'stopping')", "tdi", handle,
			 now_boot_s, id);

	*adopted = rc == 0 && changed == 1;
	return rc;
}

int store_run_set_handle(struct store *s, int64_t id, const char *handle, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET handle = CAST(? AS BLOB) WHERE id = ?", "ti",
		       handle, id);
}

/* The reason of more weight stays: a job that is cancelled while it is being preempted is
 * cancelled. */
int put_stop(struct store *s, const struct told *t, struct err *err)
{
	static const char weight_of[] =
		"CASE coalesce(%s, 'none') WHEN 'cancel' THEN 5 WHEN 'time-limit' THEN 4"
		" WHEN 'diverged' THEN 4"
		" WHEN 'hold' THEN 3 WHEN 'requeue' THEN 2 WHEN 'rung' THEN 2"
		" WHEN 'suspension' THEN 2 WHEN 'none' THEN 0"
		" ELSE 1 END";
	struct text sql = TEXT_INIT;
	int rc;

	text_add(&sql, "UPDATE runs SET stop_reason = ?1, stop_boot_s = coalesce(stop_boot_s, ?2)"
		       " WHERE id = ?3 AND state <> 'ended' AND ");
	text_addf(&sql, weight_of, "?1");
	text_add(&sql, " > ");
	text_addf(&sql, weight_of, "stop_reason");
	rc = sql_run(s, NULL, err, sql.data, "tdi", stop_reason_name(t->run.stop_reason),
		     t->run.stop_boot_s, t->run.id);
	text_release(&sql);
	return rc;
}

int store_run_request_stop(struct store *s, int64_t id, enum stop_reason reason, double now_boot_s,
			   struct err *err)
{
	return journal_put(s, RECORD_STOP, &(struct told){
		.run = { .id = id, .stop_reason = reason, .stop_boot_s = now_boot_s },
	}, err);
}

int store_runs_take_back_hold(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET stop_reason = 'requeue' WHERE job_id = ?"
		       " AND state <> 'ended' AND stop_reason = 'hold'", "i", job_id);
}

int store_run_stop_reason(struct store *s, int64_t id, enum stop_reason *reason,
			  enum run_state *state, struct err *err)
{
	struct run run;
	int rc;

	run_init(&run);
	run.state = RUN_ENDED;
	rc = rows_get(s, SOME_OF(runs_table, COLUMN_STOP), &run, err, "WHERE id = ?", "i", id);
	*reason = run.stop_reason;
	*state = run.state;
	return rc < 0 ? -1 : 0;
}

int store_run_set_wanted(struct store *s, int64_t id, const struct configuration *c,
			 double learning_rate_scale, struct err *err)
{
	struct run run = {
		.wanted = *c, .wanted_learning_rate_scale = learning_rate_scale,
		.wanted_boot_s = clock_boot_s(),
	};
	struct text condition = TEXT_INIT;
	int changed;

	text_addf(&condition, "state = 'running' AND replicas = %d", c->replicas);
	changed = rows_update(s, SOME_OF(runs_table, COLUMN_CHANGE), &run, id, condition.data, err);
	text_release(&condition);
	if (changed < 1)
		return changed;
	return sql_run(s, NULL, err, "UPDATE runs SET wanted_version = wanted_version + 1"
		       " WHERE id = ?", "i", id);
}

int store_run_read_wanted(struct store *s, struct run *run, struct err *err)
{
	char had[sizeof(run->cores)];
	int rc;

	memcpy(had, run->cores, sizeof(had));
	run->cores[0] = '\0';	/* an unknown value is not read */
	rc = rows_get(s, SOME_OF(runs_table, COLUMN_WANTED), run, err, "WHERE id = ?", "i",
		      run->id);
	if (rc != 1)
		memcpy(run->cores, had, sizeof(had));
	return rc < 0 ? -1 : 0;
}

int put_diagnosis(struct store *s, const struct told *t, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET diagnosis = ? WHERE id = ?", "ti", t->text,
		       t->run.id);
}

int store_run_set_diagnosis(struct store *s, int64_t id, const char *text, struct err *err)
{
	return journal_put(s, RECORD_DIAGNOSIS, &(struct told){ .run.id = id, .text = text }, err);
}

int put_stopping(struct store *s, const struct told *t, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET state = 'stopping'"
		       " WHERE id = ? AND state = 'running'", "i", t->run.id);
}

int store_run_set_stopping(struct store *s, int64_t id, struct err *err)
{
	return journal_put(s, RECORD_STOPPING, &(struct told){ .run.id = id }, err);
}

/* --- the code of a run --- */

int put_code(struct store *s, const struct told *t, struct err *err)
{
	const struct run *run = &t->run;

	if (sql_run(s, NULL, err, "UPDATE runs SET code_commit = ?, code_tree = ? WHERE id = ?",
		    "tti", run->code.commit, run->code.tree, run->id))
		return -1;
	return sql_run(s, NULL, err, "UPDATE commands SET first_commit = ?, first_tree = ?"
		       " WHERE job_id = ? AND first_tree IS NULL", "tti", run->code.commit,
		       run->code.tree, run->job_id);
}

int store_run_set_code(struct store *s, const struct run *run, struct err *err)
{
	return journal_put(s, RECORD_CODE, &(struct told){ .run = *run }, err);
}

int store_snapshot_is_needed(struct store *s, const char *dir, bool *needed, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM commands"
		       " WHERE snapshot_dir = CAST(? AS BLOB))", "b<t", needed, dir);
}

int store_job_leave_snapshot(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE commands SET snapshot_dir = NULL WHERE job_id = ?"
		       " AND snapshot_dir IS NOT NULL", "i", job_id);
}
