/* store_measurements.c - what supervisors and profiles learn: progress, step times, gradient
 * statistics, kinds of devices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measured.h"
#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "journal.h"

/* --- observations --- */

static int write_job(struct store *s, const struct run_update *p, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET samples = coalesce(?, samples),"
		       " steps = coalesce(?, steps),"
		       " loss = iif(?3, ?4, loss), loss_is_nan = iif(?3, ?4 IS NULL, loss_is_nan),"
		       " epoch = coalesce(?, epoch), status_text = coalesce(?, status_text),"
		       " checkpoint_samples = coalesce(?, checkpoint_samples),"
		       " printed_total_steps = nullif(coalesce(?, printed_total_steps), 0),"
		       " reported_total_samples = coalesce(?, reported_total_samples),"
		       " reported_total_steps = coalesce(?, reported_total_steps),"
		       " total_epochs = coalesce(?, total_epochs),"
		       " ends_by = coalesce(?, ends_by), optimizer = coalesce(?, optimizer),"
		       " resumes = iif(? < 0, resumes, ?),"
		       " saves_when_asked = coalesce(saves_when_asked, nullif(?, -1))"
		       " WHERE id = ?",
		       "ddiddtdddddttiiii", p->run->last_samples, p->steps, (int64_t)p->has_loss,
		       p->loss, p->epoch,
		       p->status_text, p->run->checkpoint_samples, p->printed_total_steps,
		       p->total_samples, p->total_steps, p->total_epochs,
		       p->end ? training_end_names.names[p->end] : NULL, p->optimizer,
		       (int64_t)p->resumes, (int64_t)p->resumes,
		       (int64_t)p->saves_when_asked, p->run->job_id);
}

static int write_parameters(struct store *s, const struct run_update *p, struct err *err)
{
	if (p->parameters <= 0)
		return 0;
	return sql_run(s, NULL, err, "INSERT INTO workloads (workload, parameters)"
		       " SELECT workload, ? FROM jobs WHERE id = ?"
		       " ON CONFLICT DO UPDATE SET parameters = excluded.parameters"
		       " WHERE parameters IS NOT excluded.parameters", "di", (double)p->parameters,
		       p->run->job_id);
}

int put_progress(struct store *s, const struct told *t, struct err *err)
{
	struct run_update p = t->update;

	p.run = &t->run;
	if (rows_update(s, SOME_OF(runs_table, COLUMN_REPORT), p.run, p.run->id,
			"state <> 'ended'", err) < 0)
		return -1;
	return write_job(s, &p, err) || write_parameters(s, &p, err) ? -1 : 0;
}

int put_observation(struct store *s, const struct told *t, struct err *err)
{
	struct observation row = t->observation;

	row.run_id = t->run.id;
	return rows_put(s, &observations_table, &row, "true", err);
}

int put_gradient(struct store *s, const struct told *t, struct err *err)
{
	struct gradient_row row = t->gradient;

	row.run_id = t->run.id;
	return rows_put(s, &gradients_table, &row, "true", err);
}

int store_run_update(struct store *s, const struct run_update *p, struct err *err)
{
	struct told t = { .run = *p->run, .update = *p };

	if (p->observation)
		t.observation = *p->observation;
	t.observation.configuration = p->run->configuration;
	t.observation.update_time_s = clock_wall_s();
	if (p->gradient)
		t.gradient.window = *p->gradient;
	if (store_begin(s, err))
		return -1;
	if (journal_put(s, RECORD_PROGRESS, &t, err) ||
	    (p->observation && journal_put(s, RECORD_OBSERVATION, &t, err)) ||
	    (p->gradient && journal_put(s, RECORD_GRADIENT, &t, err))) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

int store_reports_of_job(struct store *s, int64_t job_id, int64_t *n, struct err *err)
{
	return sql_ask(s, n, err, "SELECT sum(reports) FROM runs WHERE job_id = ?", "i", job_id);
}

static int read_observations(struct store *s, sqlite3_stmt *q, struct observation_list *list,
			     struct err *err)
{
	struct read_rows all = rows_read_all(s, q, ALL_OF(observations_table), NULL, err);

	*list = (struct observation_list){ all.items, all.count };
	if (all.rc)
		observation_list_release(list);
	return all.rc;
}

int store_observations_of_job(struct store *s, int64_t job_id, struct observation_list *list,
			      struct err *err)
{
	sqlite3_stmt *q;

	*list = (struct observation_list){ 0 };
	if (rows_query(s, &q, err, ALL_OF(observations_table),
		       "JOIN runs ON runs.id = run_id WHERE job_id = ? ORDER BY run_id", "i",
		       job_id))
		return -1;
	return read_observations(s, q, list, err);
}

int store_observations_of_workload(struct store *s, const char *workload, const char *device_kind,
				   struct observation_list *list, struct err *err)
{
	sqlite3_stmt *q;

	*list = (struct observation_list){ 0 };
	if (rows_query(s, &q, err, ALL_OF(observations_table),
		       "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN "
		       SQL_NEWEST_RUNS("?") " AND device_kind = ?"
		       " ORDER BY run_id DESC, update_time_s DESC LIMIT ?", "tti", workload,
		       device_kind, (int64_t)STORE_OBSERVATIONS_MAX))
		return -1;
	return read_observations(s, q, list, err);
}

int store_observation_get(struct store *s, const struct run *run, struct observation *o,
			  struct err *err)
{
	struct observation_list list;
	sqlite3_stmt *q;

	observation_init(o);
	if (rows_query(s, &q, err, ALL_OF(observations_table),
		       "JOIN runs ON runs.id = run_id WHERE run_id = ?", "i", run->id) ||
	    read_observations(s, q, &list, err))
		return -1;
	for (int i = 0; i < list.count; i++)
		if (list.items[i].configuration.tier == run->configuration.tier &&
		    configuration_equal(&list.items[i].configuration, &run->configuration))
			*o = list.items[i];
	observation_list_release(&list);
	return 0;
}

int store_typical_samples(struct store *s, const char *workload, double *samples, int *n_jobs,
			  struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*samples = (double)NAN;
	*n_jobs = 0;
	if (sql_query(s, &q, err, "SELECT avg(samples), avg(samples * samples), count(*) FROM"
		      " (SELECT samples FROM jobs WHERE workload = ? AND state = 'done' AND"
		      " profile = 0"
		      " AND samples > 0 ORDER BY id DESC LIMIT 20)", "t", workload))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		double mean = sql_double(q, 0), variance = sql_double(q, 1) - mean * mean;

		if (variance <= mean * mean / 4)
			*samples = mean;
		*n_jobs = (int)sql_int(q, 2, 0);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_step_times(struct store *s, const char *workload, const char *device_kind,
		     struct observation_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct observation_list){ 0 };
	if (sql_query(s, &q, err, "SELECT r.job_id, o.replicas, sum(o.n_steps * o.step_time_s) /"
		      " sum(o.n_steps),"
		      " max(o.run_id) AS newest"
		      " FROM observations o CROSS JOIN runs r ON r.id = o.run_id"
		      " WHERE o.run_id IN " SQL_NEWEST_RUNS("?")
		      " AND o.device_kind = ? AND o.local_batch_size = 0"
		      " AND o.n_windows > 0 AND o.n_steps > 0 AND o.step_time_s > 0"
		      " GROUP BY r.job_id, o.replicas ORDER BY newest DESC, o.replicas", "tt",
		      workload, device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = (struct observation){
			.job_id = sql_int(q, 0, 0),
			.configuration.replicas = (int)sql_int(q, 1, 1),
			.step_time_s = sql_double(q, 2),
		};
	}
	sql_done(q);
	if (rc < 0)
		observation_list_release(list);
	return rc;
}

/* --- gradients --- */

static void reverse(struct gradient_row *rows, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct gradient_row row = rows[i];

		rows[i] = rows[n - 1 - i];
		rows[n - 1 - i] = row;
	}
}

/* The noise scale does not depend on the plan. */
#define OF_ALL_PLANS \
	"(SELECT n.id FROM runs n WHERE n.workload = ?1 OR (" SQL_OF_PLANS("n.workload", "?1") ")" \
	" ORDER BY n.id DESC LIMIT " SQL_NUMBER(STORE_RUNS_MAX) ")"
#define NEWEST " ORDER BY run_id DESC, window DESC LIMIT ?2"

int store_gradients_of_workload(struct store *s, const char *workload, struct gradient_list *list,
				struct err *err)
{
	bool has_plan = strstr(workload, PLAN_SEPARATOR) != NULL;
	char *base = execution_plan_base(workload);
	struct read_rows all;
	sqlite3_stmt *q;
	int rc;

	*list = (struct gradient_list){ 0 };
	rc = rows_query(s, &q, err, ALL_OF(gradients_table), has_plan
			? "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN " OF_ALL_PLANS NEWEST
			: "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN "
			  SQL_NEWEST_RUNS("?1") NEWEST, "ti", base, (int64_t)STORE_GRADIENTS_MAX);
	if (rc) {
		free(base);
		return -1;
	}
	all = rows_read_all(s, q, ALL_OF(gradients_table), NULL, err);
	free(base);		/* bound to the query until here */
	*list = (struct gradient_list){ all.items, all.count };
	if (all.rc)
		gradient_list_release(list);
	reverse(list->items, list->count);
	return all.rc;
}

int store_gradient_windows(struct store *s, int64_t run_id, int64_t *n, struct err *err)
{
	return sql_ask(s, n, err, "SELECT coalesce(max(window), -1) + 1 FROM gradient_statistics"
		       " WHERE run_id = ?", "i", run_id);
}

void gradient_list_release(struct gradient_list *list)
{
	free(list->items);
	*list = (struct gradient_list){ 0 };
}

/* --- sizes of plans --- */

#define SIZES_MAX "64"

static struct observation read_size(sqlite3_stmt *q)
{
	return (struct observation){
		.configuration = configuration_make((int)sql_int(q, 0, 1), sql_int(q, 1, 0),
						    (int)sql_int(q, 2, 1)),
		.step_time_s = sql_double(q, 3),
		.device_bytes = sql_int(q, 4, 0), .host_bytes = sql_int(q, 5, 0),
		.outcome = sql_int(q, 6, 0) ? OBSERVATION_NO_MEMORY : OBSERVATION_MEASURED,
	};
}

int store_plan_sizes(struct store *s, const char *workload, const char *device_kind,
		     struct observation_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct observation_list){ .items = NULL };
	if (sql_query(s, &q, err, "SELECT r.replicas,"
		      " coalesce(o.local_batch_size, r.local_batch_size) AS m,"
		      " coalesce(o.accumulation_steps, r.accumulation_steps) AS a,"
		      " sum(o.step_time_s * o.n_steps) / sum(o.n_steps),"
		      " max(r.peak_device_memory_bytes), max(r.peak_memory_bytes),"
		      " max(o.run_id IS NULL) FROM runs r LEFT JOIN observations o"
		      " ON o.run_id = r.id AND o.n_windows > 0 AND o.step_time_s > 0"
		      " WHERE r.id IN " SQL_NEWEST_RUNS("?1") " AND EXISTS (SELECT 1 FROM"
		      " run_devices d WHERE d.run_id = r.id AND d.kind = ?2)"
		      " AND (o.run_id IS NOT NULL OR r.out_of_memory = 1)"
		      " AND (r.forgotten & 2) = 0"
		      " GROUP BY r.replicas, m, a ORDER BY r.replicas, m, a LIMIT " SIZES_MAX, "tt",
		      workload, device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = read_size(q);
	}
	sql_done(q);
	return rc;
}

/* --- processors --- */

int store_run_set_cores(struct store *s, int64_t id, const char *cores, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET cores = nullif(?, '') WHERE id = ?"
		       " AND state <> 'ended'", "ti", cores, id);
}

int store_run_read_cores(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT coalesce(cores, '') FROM runs WHERE id = ?", "i",
		      run->id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		snprintf(run->cores, sizeof(run->cores), "%s",
			 (const char *)sqlite3_column_text(q, 0));
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

/* --- kinds of devices --- */

int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err)
{
	struct stored_measurement row = { .measured_time_s = time_s };

	snprintf(row.device_kind, sizeof(row.device_kind), "%s", device_kind);
	for (int i = 0; i < list->count; i++) {
		row.measurement = list->items[i];
		if (rows_put(s, &device_measurements_table, &row, "excluded.steady >= steady", err))
			return -1;
	}
	return 0;
}

/* Drops measurements of another version of pollux that this version does not know. */
int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err)
{
	const struct stored_measurement *rows;
	struct read_rows all;
	sqlite3_stmt *q;

	*list = (struct device_measurement_list){ 0 };
	if (rows_query(s, &q, err, ALL_OF(device_measurements_table),
		       "WHERE device_kind = ? ORDER BY what, variant, devices, n, m, bytes", "t",
		       device_kind))
		return -1;
	all = rows_read_all(s, q, ALL_OF(device_measurements_table), NULL, err);
	rows = all.items;
	list->items = xcalloc((size_t)all.count, sizeof(*list->items));
	for (int i = 0; all.rc == 0 && i < all.count; i++)
		if ((int)rows[i].measurement.what >= 0)
			list->items[list->count++] = rows[i].measurement;
	free(all.items);
	return all.rc;
}

int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO workloads (workload, parameters) VALUES (?, ?)"
		       " ON CONFLICT DO UPDATE SET parameters = excluded.parameters"
		       " WHERE parameters IS NOT excluded.parameters", "td", workload, n);
}

int store_workload_get_parameters(struct store *s, const char *workload, double *n, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*n = (double)NAN;
	if (sql_query(s, &q, err, "SELECT parameters FROM workloads WHERE workload = ?", "t",
		      workload))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*n = sql_double(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}
