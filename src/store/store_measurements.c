/* store_measurements.c - what supervisors learn: progress, step times, gradient statistics. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "rows.h"

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

static int write_observation(struct store *s, const struct run_update *p, struct err *err)
{
	struct observation_row row = {
		.run_id = p->run->id, .configuration = p->run->configuration,
		.update_time_s = clock_wall_s(),
	};

	if (!p->observation)
		return 0;
	row.observation = *p->observation;
	return rows_put(s, &observations_table, &row, "true", err);
}

static int write_gradient(struct store *s, const struct run_update *p, struct err *err)
{
	struct gradient_row row = { .run_id = p->run->id };

	if (!p->gradient)
		return 0;
	row.window = *p->gradient;
	return rows_put(s, &gradients_table, &row, "true", err);
}

int store_run_update(struct store *s, const struct run_update *p, struct err *err)
{
	if (store_begin(s, err))
		return -1;
	if (rows_update(s, SOME_OF(runs_table, COLUMN_REPORT), p->run, p->run->id,
			"state <> 'ended'", err) < 0 ||
	    write_job(s, p, err) || write_observation(s, p, err) ||
	    write_gradient(s, p, err) || write_parameters(s, p, err)) {
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
			*o = list.items[i].observation;
	observation_list_release(&list);
	return 0;
}

void observation_list_release(struct observation_list *list)
{
	free(list->items);
	*list = (struct observation_list){ 0 };
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
