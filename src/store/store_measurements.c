/* store_measurements.c - what supervisors and profiles learn: progress, step times, gradient
 * statistics, kinds of devices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "rows.h"
#include "pollux/clock.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/siblings.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "journal.h"

/* --- observations --- */

#define ROW struct observation
static const struct store_column of_step_time[] = {
	C("r.job_id", INT64, job_id, KNOWN, COMPUTED),
	C("o.replicas", INT, configuration.replicas, KNOWN, COMPUTED),
	C("sum(o.n_steps * o.step_time_s) / sum(o.n_steps)", DOUBLE, step_time_s, KNOWN, COMPUTED),
};
static const struct store_column of_plan_size[] = {
	C("r.replicas", INT, configuration.replicas, KNOWN, COMPUTED),
	C("coalesce(o.local_batch_size, r.local_batch_size)", INT64,
	  configuration.local_batch_size, KNOWN, COMPUTED),
	C("coalesce(o.accumulation_steps, r.accumulation_steps)", INT,
	  configuration.accumulation_steps, KNOWN, COMPUTED),
	C("sum(o.step_time_s * o.n_steps) / sum(o.n_steps)", DOUBLE, step_time_s, UNKNOWN,
	  COMPUTED),
	C("max(r.peak_device_memory_bytes)", INT64, device_bytes, ZERO, COMPUTED),
	C("max(r.peak_memory_bytes)", INT64, host_bytes, ZERO, COMPUTED),
	/* OBSERVATION_NO_MEMORY is 1 */
	C("max(o.run_id IS NULL)", INT, outcome, KNOWN, COMPUTED),
};
static const struct store_table step_times_table = TABLE_OF("observations o", of_step_time),
	plan_sizes_table = TABLE_OF("runs r", of_plan_size);
#undef ROW

int put_progress(struct store *s, const struct told *t, struct err *err)
{
	const struct run_update *p = &t->update;
	const struct run *run = &t->run;

	if (rows_update(s, SOME_OF(runs_table, COLUMN_REPORT), run, run->id, "state <> 'ended'",
			err) < 0 ||
	    sql_run(s, NULL, err, "UPDATE jobs SET samples = coalesce(?, samples),"
		    " steps = coalesce(?, steps),"
		    " loss = iif(?3, ?4, loss), loss_is_nan = iif(?3, ?4 IS NULL, loss_is_nan),"
		    " epoch = coalesce(?, epoch), status_text = coalesce(?, status_text),"
		    " checkpoint_samples = coalesce(?, checkpoint_samples),"
		    " printed_total_steps = nullif(coalesce(?, printed_total_steps), 0),"
		    " reported_total_samples = nullif(coalesce(?, reported_total_samples), 0),"
		    " reported_total_steps = nullif(coalesce(?, reported_total_steps), 0),"
		    " total_epochs = nullif(coalesce(?, total_epochs), 0),"
		    " ends_by = coalesce(?, ends_by), optimizer = coalesce(?, optimizer),"
		    " position_is_least = iif(? < 0, position_is_least, ?),"
		    " resumes = iif(? < 0, resumes, ?),"
		    " saves_when_asked = coalesce(saves_when_asked, nullif(?, -1)),"
		    /* a Python of the job has loaded the helper that was offered */
		    " torch = iif(? AND torch IN (" TORCH_OFFERED "), 'auto', torch)"
		    " WHERE id = ?",
		    "ddiddtdddddttiiiiiii", run->last_samples, p->steps, (int64_t)p->has_loss,
		    p->loss, p->epoch, p->status_text, run->checkpoint_samples,
		    p->printed_total_steps, p->total_samples, p->total_steps, p->total_epochs,
		    p->end ? training_end_names.names[p->end] : NULL, p->optimizer,
		    (int64_t)p->position_is_least, (int64_t)p->position_is_least,
		    (int64_t)p->resumes, (int64_t)p->resumes, (int64_t)p->saves_when_asked,
		    (int64_t)(run->framework[0] != '\0'), run->job_id))
		return -1;
	if (p->parameters <= 0)
		return 0;
	return sql_run(s, NULL, err, "INSERT INTO workloads (workload, parameters)"
		       " SELECT workload, ? FROM jobs WHERE id = ?"
		       " ON CONFLICT DO UPDATE SET parameters = excluded.parameters"
		       " WHERE parameters IS NOT excluded.parameters", "di", (double)p->parameters,
		       run->job_id);
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
	int rc;

	if (p->observation)
		t.observation = *p->observation;
	t.observation.configuration = p->run->configuration;
	t.observation.update_time_s = clock_wall_s();
	if (p->gradient)
		t.gradient.window = *p->gradient;
	if (store_begin(s, err))
		return -1;
	rc = journal_put(s, RECORD_PROGRESS, &t, err) ||
	     (p->observation && journal_put(s, RECORD_OBSERVATION, &t, err)) ||
	     (p->gradient && journal_put(s, RECORD_GRADIENT, &t, err));
	return store_finish(s, rc, err);
}

int store_reports_of_job(struct store *s, int64_t job_id, int64_t *n, struct err *err)
{
	return sql_get(s, err, "SELECT sum(reports) FROM runs WHERE job_id = ?", "i<i", n, job_id);
}

int store_observations_of_job(struct store *s, int64_t job_id, struct observation_list *list,
			      struct err *err)
{
	return rows_list(s, ALL_OF(observations_table), list, err,
			 "JOIN runs ON runs.id = run_id WHERE job_id = ?" " ORDER BY run_id", "i",
			 job_id);
}

int store_observations_of_workload(struct store *s, const char *workload, const char *device_kind,
				   struct observation_list *list, struct err *err)
{
	return rows_list(s, ALL_OF(observations_table), list, err,
			 "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN " SQL_NEWEST_RUNS("?")
			 " AND device_kind = ?" " ORDER BY run_id DESC, update_time_s DESC LIMIT ?",
			 "tti", workload, device_kind, (int64_t)STORE_OBSERVATIONS_MAX);
}

int store_observation_get(struct store *s, const struct run *run, struct observation *o,
			  struct err *err)
{
	struct observation_list seen;
	int rc = rows_list(s, ALL_OF(observations_table), &seen, err,
			   "JOIN runs ON runs.id = run_id WHERE run_id = ?", "i", run->id);

	observation_init(o);
	for (int i = 0; i < seen.count; i++)
		if (seen.items[i].configuration.tier == run->configuration.tier &&
		    configuration_equal(&seen.items[i].configuration, &run->configuration))
			*o = seen.items[i];
	observation_list_release(&seen);
	return rc;
}

int store_typical_samples(struct store *s, const char *workload, double *samples, int *n_jobs,
			  struct err *err)
{
	struct siblings siblings = { 0 };
	sqlite3_stmt *q;
	int rc;

	*samples = (double)NAN;
	*n_jobs = 0;
	if (sql_query(s, &q, err, "SELECT samples FROM jobs WHERE workload = ? AND state = 'done'"
		      " AND profile = 0 AND interactive = 0 AND samples > 0"
		      " ORDER BY id DESC LIMIT 20", "t", workload))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		siblings_add(&siblings, sql_double(q, 0));
	sql_done(q);
	*n_jobs = siblings.n;
	if (siblings_spread(&siblings) <= SIBLINGS_USUAL)
		*samples = exp(siblings.mean);
	return rc < 0 ? -1 : 0;
}

int store_step_times(struct store *s, const char *workload, const char *device_kind,
		     struct observation_list *list, struct err *err)
{
	return rows_list(s, ALL_OF(step_times_table), list, err,
			 "CROSS JOIN runs r ON r.id = o.run_id" " WHERE o.run_id IN "
			 SQL_NEWEST_RUNS("?") " AND o.device_kind = ?"
			 " AND o.local_batch_size = 0 AND o.n_windows > 0 AND o.n_steps > 0"
			 " AND o.step_time_s > 0 GROUP BY r.job_id, o.replicas"
			 " ORDER BY max(o.run_id) DESC, o.replicas", "tt", workload, device_kind);
}

/* --- gradients --- */

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
	int rc = rows_list(s, ALL_OF(gradients_table), list, err, has_plan
		? "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN " OF_ALL_PLANS NEWEST
		: "CROSS JOIN runs ON runs.id = run_id WHERE run_id IN "
		  SQL_NEWEST_RUNS("?1") NEWEST, "ti", base, (int64_t)STORE_GRADIENTS_MAX);
	struct gradient_row *rows = list->items;

	free(base);
	for (int i = 0; i < list->count / 2; i++) {
		struct gradient_row row = rows[i];

		rows[i] = rows[list->count - 1 - i];
		rows[list->count - 1 - i] = row;
	}
	return rc;
}

int store_gradient_windows(struct store *s, int64_t run_id, int64_t *n, struct err *err)
{
	return sql_get(s, err, "SELECT coalesce(max(window), -1) + 1 FROM gradient_statistics"
		       " WHERE run_id = ?", "i<i", n, run_id);
}

void gradient_list_release(struct gradient_list *list)
{
	free(list->items);
	*list = (struct gradient_list){ 0 };
}

/* --- sizes of plans --- */

#define SIZES_MAX "64"

int store_plan_sizes(struct store *s, const char *workload, const char *device_kind,
		     struct observation_list *list, struct err *err)
{
	struct observation initial = { .configuration = configuration_make(1, 0, 1),
				       .step_time_s = (double)NAN };

	return rows_list(s, ALL_FROM(plan_sizes_table, &initial), list, err,
			 "LEFT JOIN observations o ON o.run_id = r.id AND o.n_windows > 0"
			 " AND o.step_time_s > 0 WHERE r.id IN " SQL_NEWEST_RUNS("?1")
			 " AND EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = r.id"
			 "  AND d.kind = ?2) AND (o.run_id IS NOT NULL OR r.out_of_memory = 1)"
			 " AND (r.forgotten & 2) = 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" " LIMIT "
			 SIZES_MAX, "tt", workload, device_kind);
}

/* --- processors --- */

int store_run_set_cores(struct store *s, int64_t id, const char *cores, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET cores = nullif(?, '') WHERE id = ?"
		       " AND state <> 'ended'", "ti", cores, id);
}

int store_run_read_cores(struct store *s, struct run *run, struct err *err)
{
	char cores[sizeof(run->cores)];
	bool found;

	if (sql_get(s, err, "SELECT 1, cores FROM runs WHERE id = ?", "bc<i", &found, cores,
		    sizeof(cores), run->id))
		return -1;
	if (found)
		memcpy(run->cores, cores, sizeof(cores));
	return 0;
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
	struct {
		struct stored_measurement *items;
		int count;
	} rows;
	int rc = rows_list(s, ALL_OF(device_measurements_table), &rows, err,
			   "WHERE device_kind = ? ORDER BY what, variant, devices, n, m, bytes",
			   "t", device_kind);

	*list = (struct device_measurement_list){
		.items = xcalloc((size_t)rows.count, sizeof(*list->items)),
	};
	for (int i = 0; i < rows.count; i++)
		if ((int)rows.items[i].measurement.what >= 0)
			list->items[list->count++] = rows.items[i].measurement;
	free(rows.items);
	return rc;
}

int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO workloads (workload, parameters) VALUES (?, ?)"
		       " ON CONFLICT DO UPDATE SET parameters = excluded.parameters"
		       " WHERE parameters IS NOT excluded.parameters", "td", workload, n);
}

int store_workload_get_parameters(struct store *s, const char *workload, double *n, struct err *err)
{
	return sql_get(s, err, "SELECT parameters FROM workloads WHERE workload = ?", "d<t", n,
		       workload);
}
