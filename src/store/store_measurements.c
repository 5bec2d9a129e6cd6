/* store_measurements.c - what supervisors learn: progress, step times, gradient statistics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "rows.h"

static int write_job(struct store *s, const struct run_update *p, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET samples = coalesce(?, samples),"
		       " steps = coalesce(?, steps), loss = coalesce(?, loss),"
		       " epoch = coalesce(?, epoch), status_text = coalesce(?, status_text),"
		       " checkpoint_samples = coalesce(?, checkpoint_samples),"
		       " printed_total_steps = nullif(coalesce(?, printed_total_steps), 0),"
		       " reported_total_samples = coalesce(?, reported_total_samples),"
		       " reported_total_steps = coalesce(?, reported_total_steps),"
		       " total_epochs = coalesce(?, total_epochs), resumes = max(resumes, ?)"
		       " WHERE id = ?",
		       "ddddtdddddii", p->run->last_samples, p->steps, p->loss, p->epoch,
		       p->status_text, p->run->checkpoint_samples, p->printed_total_steps,
		       p->total_samples, p->total_steps, p->total_epochs, (int64_t)p->resumes,
		       p->run->job_id);
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

static int write_observation(struct store *s, const struct run_update *p, struct err *err)
{
	const struct observation *o = p->observation;
	const struct run *r = p->run;
	const struct configuration *c = &r->configuration;

	if (!o)
		return 0;
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO observations (run_id, device_kind,"
		       " nodes, replicas, local_batch_size, accumulation_steps, n_steps, n_windows,"
		       " n_dropped, n_outliers, step_time_s, step_time_sd_s, step_time_min_s,"
		       " sync_time_s, update_time_s)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "itiiiiiiiiddddd",
		       r->id, c->kind, (int64_t)c->nodes, (int64_t)c->replicas,
		       c->local_batch_size, (int64_t)c->accumulation_steps, o->n_steps,
		       o->n_windows, o->n_dropped, o->n_outliers, o->step_time_s,
		       o->step_time_sd_s, o->step_time_min_s,
		       o->sync_time_s, clock_wall_s());
}

static int write_gradient(struct store *s, const struct run_update *p, struct err *err)
{
	const struct gradient_window *g = p->gradient;

	if (!g)
		return 0;
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO gradient_statistics (run_id, window,"
		       " batch_size, accumulation_steps, first_samples, last_samples, n,"
		       " sum_grad_sqr,"
		       " sum_grad_var, m2_grad_sqr, m2_grad_var, entries, cross_grad)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iinnddiddddid",
		       p->run->id,
		       (int64_t)g->window, configuration_batch_size(&g->configuration),
		       (int64_t)g->configuration.accumulation_steps,
		       g->first_samples, g->last_samples, g->n, g->sum_grad_sqr, g->sum_grad_var,
		       g->m2_grad_sqr, g->m2_grad_var, g->entries, g->cross_grad);
}

int store_run_update(struct store *s, const struct run_update *p, struct err *err)
{
	if (store_begin(s, err))
		return -1;
	if (rows_update(s, (struct row_columns){ &runs_table, COLUMN_REPORT }, p->run, p->run->id,
			"state <> 'ended'", err) < 0 ||
	    write_job(s, p, err) || write_observation(s, p, err) ||
	    write_gradient(s, p, err) || write_parameters(s, p, err)) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

#define OBSERVATION_COLUMNS \
	"o.run_id, o.device_kind, o.nodes, o.replicas, o.local_batch_size, o.accumulation_steps," \
	" o.n_steps, o.n_windows, o.n_dropped, o.n_outliers, o.step_time_s, o.step_time_sd_s," \
	" o.step_time_min_s, o.sync_time_s, o.update_time_s, r.job_id"

static void read_observation(sqlite3_stmt *q, struct observation_row *row)
{
	const char *kind = (const char *)sqlite3_column_text(q, 1);

	*row = (struct observation_row){
		.run_id = sql_int(q, 0, 0), .job_id = sql_int(q, 15, 0),
		.update_time_s = sql_double(q, 14),
		.configuration = {
			.replicas = (int)sql_int(q, 3, 1), .local_batch_size = sql_int(q, 4, 0),
			.accumulation_steps = (int)sql_int(q, 5, 1), .nodes = (int)sql_int(q, 2, 1),
		},
		.observation = {
			.n_steps = sql_int(q, 6, 0), .n_windows = sql_int(q, 7, 0),
			.n_dropped = sql_int(q, 8, 0), .n_outliers = sql_int(q, 9, 0),
			.step_time_s = sql_double(q, 10), .step_time_sd_s = sql_double(q, 11),
			.step_time_min_s = sql_double(q, 12), .sync_time_s = sql_double(q, 13),
		},
	};
	snprintf(row->configuration.kind, sizeof(row->configuration.kind), "%s", kind);
}

static int read_observations(struct store *s, sqlite3_stmt *q, struct observation_list *list,
			     struct err *err)
{
	int rc;

	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		read_observation(q, &list->items[list->count++]);
	}
	sql_done(q);
	if (rc < 0)
		observation_list_release(list);
	return rc;
}

int store_reports_of_job(struct store *s, int64_t job_id, int64_t *n, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*n = 0;
	if (sql_query(s, &q, err, "SELECT sum(reports) FROM runs WHERE job_id = ?", "i", job_id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*n = sql_int(q, 0, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_observations_of_job(struct store *s, int64_t job_id, struct observation_list *list,
			      struct err *err)
{
	sqlite3_stmt *q;

	*list = (struct observation_list){ 0 };
	if (sql_query(s, &q, err, "SELECT " OBSERVATION_COLUMNS " FROM observations o"
		      " JOIN runs r ON r.id = o.run_id WHERE r.job_id = ? ORDER BY o.run_id", "i",
		      job_id))
		return -1;
	return read_observations(s, q, list, err);
}

int store_observations_of_workload(struct store *s, const char *workload, const char *device_kind,
				   struct observation_list *list, struct err *err)
{
	sqlite3_stmt *q;

	*list = (struct observation_list){ 0 };
	if (sql_query(s, &q, err, "SELECT " OBSERVATION_COLUMNS " FROM observations o"
		      " CROSS JOIN runs r ON r.id = o.run_id"
		      " WHERE o.run_id IN " SQL_NEWEST_RUNS("?")
		      " AND o.device_kind = ? ORDER BY o.run_id DESC, o.update_time_s DESC LIMIT ?",
		      "tti", workload, device_kind, (int64_t)STORE_OBSERVATIONS_MAX))
		return -1;
	return read_observations(s, q, list, err);
}

int store_observation_get(struct store *s, const struct run *run, struct observation *o,
			  struct err *err)
{
	struct observation_row row;
	sqlite3_stmt *q;
	int rc;

	observation_init(o);
	if (sql_query(s, &q, err, "SELECT " OBSERVATION_COLUMNS " FROM observations o"
		      " JOIN runs r ON r.id = o.run_id WHERE o.run_id = ? AND o.replicas = ?"
		      " AND o.local_batch_size = ? AND o.accumulation_steps = ?", "iiii", run->id,
		      (int64_t)run->configuration.replicas, run->configuration.local_batch_size,
		      (int64_t)run->configuration.accumulation_steps))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		read_observation(q, &row);
		*o = row.observation;
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

void observation_list_release(struct observation_list *list)
{
	free(list->items);
	*list = (struct observation_list){ 0 };
}

int store_typical_samples(struct store *s, const char *workload, double *samples, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*samples = (double)NAN;
	if (sql_query(s, &q, err, "SELECT avg(samples), avg(samples * samples) FROM"
		      " (SELECT samples FROM jobs WHERE workload = ? AND state = 'done' AND"
		      " profile = 0"
		      " AND samples > 0 ORDER BY id DESC LIMIT 20)", "t", workload))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		double mean = sql_double(q, 0), variance = sql_double(q, 1) - mean * mean;

		if (variance <= mean * mean / 4)
			*samples = mean;
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_step_times(struct store *s, const char *workload, const char *device_kind,
		     struct step_time_list *list,
		     struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct step_time_list){ 0 };
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
		list->items[list->count++] = (struct step_time){
			.job_id = sql_int(q, 0, 0), .replicas = (int)sql_int(q, 1, 1),
			.seconds = sql_double(q, 2),
		};
	}
	sql_done(q);
	if (rc < 0)
		step_time_list_release(list);
	return rc;
}

void step_time_list_release(struct step_time_list *list)
{
	free(list->items);
	*list = (struct step_time_list){ 0 };
}
