/* store_models.c - fitted models, and whether there is anything new to fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/text.h"
#include "sql.h"

static const char basis_letters[] = {
	[FIT_FROM_DATA] = 'd', [FIT_FROM_PENALTY] = 'p', [FIT_TIED] = 't',
	[FIT_FROM_PRIOR] = 'k',		/* from the kernels that were measured */
};

static void read_basis(const char *letters, struct fit_result *fit)
{
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++) {
		const char *at = *letters ? memchr(basis_letters, *letters++, sizeof(basis_letters))
					  : NULL;

		fit->basis[i] = at ? (enum fit_basis)(at - basis_letters) : FIT_TIED;
	}
}

static enum fit_stop read_stop(const char *name)
{
	for (int i = FIT_NOTHING; i <= FIT_MAX_REACHED; i++)
		if (!strcmp(fit_stop_name((enum fit_stop)i), name))
			return (enum fit_stop)i;
	return FIT_NOTHING;
}

static void read_model(sqlite3_stmt *q, struct model_row *m)
{
	double params[N_THROUGHPUT_PARAMS];
	char *basis = sql_text(q, 7), *stop = sql_text(q, 8), *key = sql_text(q, 15);

	*m = (struct model_row){ 0 };
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		params[i] = sql_double(q, i);
	memcpy(&m->fit.params, params, sizeof(params));
	read_basis(basis, &m->fit);
	m->fit.stop = read_stop(stop);
	m->fit.objective = sql_double(q, 9);
	m->fit.rmse_grad = sql_double(q, 10);
	m->fit.rmse_step = sql_double(q, 11);
	m->fit.n_observations = (int)sql_int(q, 12, 0);
	m->n_steps = sql_int(q, 13, 0);
	m->max_replicas = (int)sql_int(q, 14, 0);
	m->max_local_batch_size = sql_int(q, 17, 0);
	snprintf(m->observations_key, sizeof(m->observations_key), "%s", key);
	m->fit_time_s = sql_double(q, 16);
	free(basis);
	free(stop);
	free(key);
}

int store_model_get(struct store *s, const char *workload, const char *device_kind,
		    struct model_row *model, bool *found, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*found = false;
	if (sql_query(s, &q, err, "SELECT alpha_grad, beta_grad, alpha_sync_local, beta_sync_local,"
		      " alpha_sync_node, beta_sync_node, gamma, basis, stop, objective, rmse_grad,"
		      " rmse_step, n_observations, n_steps, max_replicas, observations_key,"
		      " fit_time_s, max_local_batch_size FROM models WHERE workload = ? AND"
		      " device_kind = ?", "tt",
		      workload, device_kind))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		read_model(q, model);
		*found = true;
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_model_set(struct store *s, const char *workload, const char *device_kind,
		    const struct model_row *m, struct err *err)
{
	const struct throughput_params *p = &m->fit.params;
	char basis[N_THROUGHPUT_PARAMS + 1];

	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		basis[i] = basis_letters[m->fit.basis[i]];
	basis[N_THROUGHPUT_PARAMS] = '\0';
	return sql_run(s, NULL, err, "INSERT OR REPLACE INTO models (workload, device_kind,"
		       " alpha_grad,"
		       " beta_grad, alpha_sync_local, beta_sync_local, alpha_sync_node,"
		       " beta_sync_node, gamma, basis, stop, objective, rmse_grad, rmse_step,"
		       " n_observations, n_steps, max_replicas, observations_key, fit_time_s,"
		       " max_local_batch_size)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		       "ttdddddddttdddiiitdi", workload, device_kind, p->alpha_grad, p->beta_grad,
		       p->alpha_sync_local, p->beta_sync_local, p->alpha_sync_node,
		       p->beta_sync_node, p->gamma, basis, fit_stop_name(m->fit.stop),
		       m->fit.objective, m->fit.rmse_grad, m->fit.rmse_step,
		       (int64_t)m->fit.n_observations, m->n_steps, (int64_t)m->max_replicas,
		       m->observations_key, m->fit_time_s, m->max_local_batch_size);
}

static void read_stamp(sqlite3_stmt *q, struct workload_stamp *stamp)
{
	stamp->workload = sql_text(q, 0);
	double parameters = sql_double(q, 4), measured_s = sql_double(q, 5);
	struct text key = TEXT_INIT;

	text_addf(&key, "%lld:%lld:%lld", (long long)sql_int(q, 1, 0), (long long)sql_int(q, 2, 0),
		  (long long)sql_int(q, 3, 0));
	/* What makes a prior, once both are there. */
	if (!isnan(parameters) && !isnan(measured_s))
		text_addf(&key, ":%.9g:%.3f", parameters, measured_s);
	snprintf(stamp->observations_key, sizeof(stamp->observations_key), "%s", key.data);
	text_release(&key);
}

/* Times of writing would not do: the wall clock may be set back. */
int store_workload_stamps(struct store *s, const char *device_kind,
			  struct workload_stamp_list *list,
			  struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct workload_stamp_list){ 0 };
	if (sql_query(s, &q, err, "SELECT w.workload, count(*), sum(o.n_windows), sum(o.n_steps),"
		      " (SELECT parameters FROM workloads WHERE workload = w.workload),"
		      " (SELECT max(measured_time_s) FROM device_measurements WHERE device_kind"
		      " = ?1)"
		      " FROM (SELECT DISTINCT workload FROM jobs WHERE state IN ('queued',"
		      " 'running')) w"
		      " CROSS JOIN observations o ON o.run_id IN " SQL_NEWEST_RUNS("w.workload")
		      " AND o.device_kind = ?1 GROUP BY w.workload", "t", device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		read_stamp(q, &list->items[list->count++]);
	}
	sql_done(q);
	return rc;
}

void workload_stamp_list_release(struct workload_stamp_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->items[i].workload);
	free(list->items);
	*list = (struct workload_stamp_list){ 0 };
}
