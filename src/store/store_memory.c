/* store_memory.c - which sizes of a workload did not fit into memory, which failed otherwise, and
 * which worked. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "sql.h"

static int read_trials(struct store *s, sqlite3_stmt *q, struct memory_trial **trials, int *n,
		       struct err *err)
{
	int rc;

	while ((rc = sql_row(s, q, err)) == 1) {
		*trials = xreallocarray(*trials, (size_t)*n + 1, sizeof(**trials));
		(*trials)[(*n)++] = (struct memory_trial){
			.run_id = sql_int(q, 0, 0), .n_windows = sql_int(q, 3, 0),
			.configuration = {
				.replicas = (int)sql_int(q, 1, 1),
				.local_batch_size = sql_int(q, 2, 0),
			},
		};
	}
	sql_done(q);
	return rc;
}

/* By the index of those that ran out, of which there are few. */
static int read_ran_out(struct store *s, const char *workload, const char *device_kind,
			struct memory_bounds *b, struct err *err)
{
	sqlite3_stmt *q;

	if (sql_query(s, &q, err, "SELECT r.id, r.replicas, r.local_batch_size, 0 FROM runs r"
		      " WHERE r.workload = ? AND r.out_of_memory = 1 AND r.local_batch_size > 0"
		      " AND EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = r.id AND d.kind"
		      " = ?)"
		      " ORDER BY r.id DESC LIMIT " SQL_NUMBER(STORE_RUNS_MAX), "tt", workload,
		      device_kind))
		return -1;
	return read_trials(s, q, &b->ran_out, &b->n_ran_out, err);
}

static int read_measured(struct store *s, const char *workload, const char *device_kind,
			 struct memory_trial **trials, int *n, struct err *err)
{
	sqlite3_stmt *q;

	if (sql_query(s, &q, err, "SELECT max(o.run_id) AS newest, o.replicas, o.local_batch_size,"
		      " sum(o.n_windows) FROM observations o"
		      " WHERE o.run_id IN " SQL_NEWEST_RUNS("?")
		      " AND o.device_kind = ? AND o.local_batch_size > 0"
		      " GROUP BY o.replicas, o.local_batch_size ORDER BY newest DESC", "tt",
		      workload,
		      device_kind))
		return -1;
	return read_trials(s, q, trials, n, err);
}

/* Devices of one kind are of one backend. */
static int read_shared(struct store *s, struct memory_bounds *b, struct err *err)
{
	const struct device_backend *backend = NULL;
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT device FROM run_devices WHERE run_id = ? LIMIT 1", "i",
		      b->ran_out[0].run_id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		backend = device_backend_of((const char *)sqlite3_column_text(q, 0));
	sql_done(q);
	b->shared = backend && backend->shares_memory;
	return rc < 0 ? -1 : 0;
}

int store_memory_bounds(struct store *s, const char *workload, const char *device_kind,
			struct memory_bounds *b, struct err *err)
{
	*b = (struct memory_bounds){ 0 };
	if (read_ran_out(s, workload, device_kind, b, err) ||
	    (b->n_ran_out > 0 &&
	     (read_shared(s, b, err) ||
	      read_measured(s, workload, device_kind, &b->fitted, &b->n_fitted, err)))) {
		memory_bounds_release(b);
		return -1;
	}
	memory_bounds_settle(b);
	return 0;
}

/* Where the profile itself failed, its command does at any size. */
static int read_failed(struct store *s, const char *workload, const char *device_kind,
		       struct failed_sizes *f, struct err *err)
{
	sqlite3_stmt *q;

	if (sql_query(s, &q, err, "SELECT r.id, r.replicas, r.local_batch_size, 0 FROM runs r"
		      " CROSS JOIN jobs j ON j.id = r.job_id WHERE r.id IN " SQL_NEWEST_RUNS("?")
		      " AND r.outcome IN ('failed', 'completed') AND r.out_of_memory = 0"
		      " AND r.local_batch_size > 0 AND j.profile = 1 AND j.state <> 'failed'"
		      " AND EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = r.id AND d.kind"
		      " = ?)"
		      " AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.run_id = r.id AND"
		      " o.n_windows > 0)",
		      "tt", workload, device_kind))
		return -1;
	return read_trials(s, q, &f->failed, &f->n_failed, err);
}

int store_failed_sizes(struct store *s, const char *workload, const char *device_kind,
		       struct failed_sizes *f, struct err *err)
{
	*f = (struct failed_sizes){ 0 };
	if (read_failed(s, workload, device_kind, f, err) ||
	    (f->n_failed > 0 &&
	     read_measured(s, workload, device_kind, &f->worked, &f->n_worked, err))) {
		failed_sizes_release(f);
		return -1;
	}
	failed_sizes_settle(f);
	return 0;
}
