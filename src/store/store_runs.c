/* store_runs.c - launches: assigned, claimed, stopped, ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "sql.h"

#define WANTED_COLUMNS \
	"wanted_version, wanted_batch_size, wanted_local_batch_size, wanted_accumulation_steps," \
	" wanted_learning_rate_scale, wanted_boot_s"
#define RUN_COLUMNS \
	"id, job_id, number, state, replicas, accumulation_steps, batch_size, local_batch_size," \
	" learning_rate_scale, assigned_time_s, launch_time_s, end_time_s, assigned_boot_s," \
	" launch_boot_s, boot_id, duration_s, handle," \
	" stop_reason, stop_boot_s, outcome, exit_code, term_signal, diagnosis," \
	" first_samples, last_samples, checkpoint_samples, checkpoint_boot_s, step_time_s," \
	" first_step_s, stop_duration_s, lost_samples, lost_s, takes_configs, config_version," \
	" " WANTED_COLUMNS ", peak_memory_bytes, peak_device_memory_bytes, cpu_time_s, out_of_memory, step_source"

static int known(int parsed)
{
	return parsed < 0 ? 0 : parsed;
}

static const char *raw_text(sqlite3_stmt *q, int column)
{
	return (const char *)sqlite3_column_text(q, column);
}

static void read_identity(sqlite3_stmt *q, struct run *run)
{
	run->id = sql_int(q, 0, 0);
	run->job_id = sql_int(q, 1, 0);
	run->number = (int)sql_int(q, 2, 0);
	run->state = (enum run_state)known(run_state_parse(raw_text(q, 3)));
	run->configuration.replicas = (int)sql_int(q, 4, 0);
	run->configuration.accumulation_steps = (int)sql_int(q, 5, 1);
	run->configuration.local_batch_size = sql_int(q, 7, 0);
	run->learning_rate_scale = sql_double(q, 8);
	run->assigned_time_s = sql_double(q, 9);
	run->launch_time_s = sql_double(q, 10);
	run->end_time_s = sql_double(q, 11);
	run->assigned_boot_s = sql_double(q, 12);
	run->launch_boot_s = sql_double(q, 13);
	run->boot_id = sql_text(q, 14);
	run->duration_s = sql_double(q, 15);
	run->handle = sql_text(q, 16);
}

static void read_end(sqlite3_stmt *q, struct run *run)
{
	run->stop_reason = (enum stop_reason)known(stop_reason_parse(raw_text(q, 17)));
	run->stop_boot_s = sql_double(q, 18);
	run->outcome = (enum run_outcome)known(run_outcome_parse(raw_text(q, 19)));
	run->exit_code = (int)sql_int(q, 20, -1);
	run->term_signal = (int)sql_int(q, 21, -1);
	run->diagnosis = sql_text(q, 22);
	run->first_samples = sql_double(q, 23);
	run->last_samples = sql_double(q, 24);
	run->checkpoint_samples = sql_double(q, 25);
	run->checkpoint_boot_s = sql_double(q, 26);
	run->step_time_s = sql_double(q, 27);
	run->first_step_s = sql_double(q, 28);
	run->stop_duration_s = sql_double(q, 29);
	run->lost_samples = sql_double(q, 30);
	run->lost_s = sql_double(q, 31);
}

static void read_wanted(sqlite3_stmt *q, int c, struct run *run)
{
	int64_t batch_size;

	run->wanted_version = (int)sql_int(q, c++, 0);
	run->wanted.replicas = run->configuration.replicas;
	batch_size = sql_int(q, c++, 0);
	run->wanted.local_batch_size = sql_int(q, c++, 0);
	run->wanted.accumulation_steps = (int)sql_int(q, c++, 1);
	if (batch_size != configuration_batch_size(&run->wanted))	/* written by hand */
		run->wanted.local_batch_size = 0;
	run->wanted_learning_rate_scale = sql_double(q, c++);
	run->wanted_boot_s = sql_double(q, c);
}

static int read_devices(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc, n = 0;

	run->devices = xcalloc((size_t)run->configuration.replicas, sizeof(*run->devices));
	if (sql_query(s, &q, err, "SELECT device, kind, binding, cores FROM run_devices"
		      " WHERE run_id = ? ORDER BY position", "i", run->id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1 && n < run->configuration.replicas) {
		struct device *d = &run->devices[n++];

		snprintf(d->id, sizeof(d->id), "%s", raw_text(q, 0));
		snprintf(d->kind, sizeof(d->kind), "%s", raw_text(q, 1));
		snprintf(d->binding, sizeof(d->binding), "%s", raw_text(q, 2));
		d->cores = (int)sql_int(q, 3, 1);
		d->usable = true;
		d->now = DEVICE_READING_UNKNOWN;
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

static int read_run(struct store *s, sqlite3_stmt *q, struct run *run, struct err *err)
{
	run_init(run);
	read_identity(q, run);
	read_end(q, run);
	run->takes_configs = sql_int(q, 32, 0) != 0;
	run->config_version = (int)sql_int(q, 33, 0);
	read_wanted(q, 34, run);
	run->peak_memory_bytes = sql_int(q, 40, 0);
	run->peak_device_memory_bytes = sql_int(q, 41, 0);
	run->cpu_time_s = sql_double(q, 42);
	run->out_of_memory = sql_int(q, 43, 0) != 0;
	snprintf(run->step_source, sizeof(run->step_source), "%s",
		 raw_text(q, 44) ? raw_text(q, 44) : "");
	return read_devices(s, run, err);
}

int store_run_get(struct store *s, int64_t id, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	run_init(run);
	if (sql_query(s, &q, err, "SELECT " RUN_COLUMNS " FROM runs WHERE id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1 && read_run(s, q, run, err))
		rc = -1;
	sql_done(q);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such run: %lld", (long long)id);
	return rc == 1 ? 0 : -1;
}

static int read_list(struct store *s, sqlite3_stmt *q, struct run_list *list, struct err *err)
{
	int rc;

	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xreallocarray(list->items, (size_t)list->count + 1,
					    sizeof(*list->items));
		if (read_run(s, q, &list->items[list->count++], err)) {
			rc = -1;
			break;
		}
	}
	sql_done(q);
	if (rc < 0)
		run_list_release(list);
	return rc;
}

int store_runs_active(struct store *s, struct run_list *list, struct err *err)
{
	sqlite3_stmt *q;

	*list = (struct run_list){ 0 };
	if (sql_query(s, &q, err,
		      "SELECT " RUN_COLUMNS " FROM runs WHERE state <> 'ended' ORDER BY id", ""))
		return -1;
	return read_list(s, q, list, err);
}

int store_runs_of_job(struct store *s, int64_t job_id, struct run_list *list, struct err *err)
{
	sqlite3_stmt *q;

	*list = (struct run_list){ 0 };
	if (sql_query(s, &q, err,
		      "SELECT " RUN_COLUMNS " FROM runs WHERE job_id = ? ORDER BY number", "i", job_id))
		return -1;
	return read_list(s, q, list, err);
}

void run_list_release(struct run_list *list)
{
	for (int i = 0; i < list->count; i++)
		run_release(&list->items[i]);
	free(list->items);
	*list = (struct run_list){ 0 };
}

static int add_devices(struct store *s, const struct run *run, struct err *err)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		const struct device *d = &run->devices[i];

		if (sql_run(s, NULL, err, "INSERT INTO run_devices (run_id, position, device, kind,"
			    " binding, cores) VALUES (?, ?, ?, ?, ?, ?)", "iittti", run->id,
			    (int64_t)i, d->id, d->kind, d->binding, (int64_t)d->cores))
			return -1;
	}
	return 0;
}

static int next_number(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT coalesce(max(number), 0) + 1 FROM runs WHERE job_id = ?",
		      "i", run->job_id))
		return -1;
	rc = sql_row(s, q, err);
	run->number = (int)sql_int(q, 0, 1);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_run_add(struct store *s, struct run *run, struct err *err)
{
	if (next_number(s, run, err) ||
	    sql_run(s, NULL, err, "INSERT INTO runs (job_id, number, state, replicas,"
		    " accumulation_steps, batch_size, local_batch_size, learning_rate_scale,"
		    " boot_id, assigned_time_s, assigned_boot_s)"
		    " VALUES (?, ?, 'assigned', ?, ?, ?, ?, ?, ?, ?, ?)", "iiiinndtdd", run->job_id,
		    (int64_t)run->number, (int64_t)run->configuration.replicas, (int64_t)run->configuration.accumulation_steps,
		    configuration_batch_size(&run->configuration), run->configuration.local_batch_size, run->learning_rate_scale, run->boot_id,
		    run->assigned_time_s, run->assigned_boot_s))
		return -1;
	run->id = sqlite3_last_insert_rowid(s->db);
	if (add_devices(s, run, err))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET state = 'running', next_start_time_s = NULL"
		       " WHERE id = ?", "i", run->job_id);
}

/* True where neither the job nor a device of the run is in use by another. */
int store_run_may_claim(struct store *s, int64_t id, bool *may, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err,
		      "SELECT r.state = 'assigned'"
		      " AND coalesce(r.stop_reason, 'none') = 'none'"
		      " AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.job_id = r.job_id"
		      "  AND o.state IN ('running', 'stopping'))"
		      " AND NOT EXISTS (SELECT 1 FROM run_devices mine JOIN run_devices used"
		      "  ON used.device = mine.device AND used.in_use = 1 WHERE mine.run_id = r.id)"
		      " FROM runs r WHERE r.id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	*may = rc == 1 && sqlite3_column_int(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

static int claim(struct store *s, int64_t id, const char *handle, double now_boot_s,
		 struct err *err)
{
	double now = clock_wall_s();

	if (sql_run(s, NULL, err, "UPDATE runs SET state = 'running', handle = CAST(? AS BLOB),"
		    " launch_time_s = ?, launch_boot_s = ? WHERE id = ?", "tddi", handle,
		    now, now_boot_s, id) ||
	    sql_run(s, NULL, err, "UPDATE run_devices SET in_use = 1 WHERE run_id = ?", "i", id))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET runs = runs + 1, launches = launches + 1,"
		       " start_time_s = coalesce(start_time_s, ?)"
		       " WHERE id = (SELECT job_id FROM runs WHERE id = ?)", "di", now, id);
}

int store_run_claim(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *claimed, struct err *err)
{
	*claimed = false;
	if (store_begin(s, err))
		return -1;
	if (isnan(now_boot_s))
		now_boot_s = clock_boot_s();
	if (store_run_may_claim(s, id, claimed, err) ||
	    (*claimed && claim(s, id, handle, now_boot_s, err))) {
		store_rollback(s);
		*claimed = false;
		return -1;
	}
	return store_commit(s, err);
}

int store_run_adopt(struct store *s, int64_t id, const char *handle, double now_boot_s,
		    bool *adopted, struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err,
			 "UPDATE runs SET state = 'stopping', handle = CAST(? AS BLOB),"
			 " stop_reason = CASE coalesce(stop_reason, 'none') WHEN 'none'"
			 " THEN 'orphan' ELSE stop_reason END,"
			 " stop_boot_s = coalesce(stop_boot_s, ?)"
			 " WHERE id = ? AND state IN ('running', 'stopping')", "tdi", handle, now_boot_s, id);

	*adopted = rc == 0 && changed == 1;
	return rc;
}

int store_run_set_handle(struct store *s, int64_t id, const char *handle, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET handle = CAST(? AS BLOB) WHERE id = ?", "ti",
		       handle, id);
}

/* The weightier reason stays: a job cancelled while it is being preempted is cancelled. */
int store_run_request_stop(struct store *s, int64_t id, enum stop_reason reason, double now_boot_s,
			   struct err *err)
{
	static const char weight_of[] =
		"CASE coalesce(%s, 'none') WHEN 'cancel' THEN 5 WHEN 'time-limit' THEN 4"
		" WHEN 'hold' THEN 3 WHEN 'requeue' THEN 2 WHEN 'none' THEN 0 ELSE 1 END";
	struct text sql = TEXT_INIT;
	int rc;

	text_add(&sql, "UPDATE runs SET stop_reason = ?1, stop_boot_s = coalesce(stop_boot_s, ?2)"
		       " WHERE id = ?3 AND state <> 'ended' AND ");
	text_addf(&sql, weight_of, "?1");
	text_add(&sql, " > ");
	text_addf(&sql, weight_of, "stop_reason");
	rc = sql_run(s, NULL, err, sql.data, "tdi", stop_reason_name(reason), now_boot_s, id);
	text_release(&sql);
	return rc;
}

int store_run_stop_reason(struct store *s, int64_t id, enum stop_reason *reason,
			  enum run_state *state, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*reason = STOP_NONE;
	*state = RUN_ENDED;
	if (sql_query(s, &q, err, "SELECT stop_reason, state FROM runs WHERE id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		*reason = (enum stop_reason)known(stop_reason_parse(raw_text(q, 0)));
		*state = (enum run_state)known(run_state_parse(raw_text(q, 1)));
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_run_set_wanted(struct store *s, int64_t id, const struct configuration *c,
			 double learning_rate_scale, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET wanted_version = wanted_version + 1,"
		       " wanted_batch_size = ?, wanted_local_batch_size = ?,"
		       " wanted_accumulation_steps = ?, wanted_learning_rate_scale = ?,"
		       " wanted_boot_s = ?"
		       " WHERE id = ? AND state = 'running' AND replicas = ?", "iiiddii",
		       configuration_batch_size(c), c->local_batch_size, (int64_t)c->accumulation_steps,
		       learning_rate_scale, clock_boot_s(), id, (int64_t)c->replicas);
}

int store_run_read_wanted(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT " WANTED_COLUMNS " FROM runs WHERE id = ?", "i", run->id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		read_wanted(q, 0, run);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_run_set_stopping(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET state = 'stopping'"
		       " WHERE id = ? AND state = 'running'", "i", id);
}
