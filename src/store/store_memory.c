/* store_memory.c - which sizes of a workload did not fit into memory, which failed otherwise, and
 * which worked. */
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "rows.h"

static int read_trials(struct store *s, sqlite3_stmt *q, const struct store_table *table,
		       struct memory_trial **trials, int *n, struct err *err)
{
	struct read_rows all = rows_read_all(s, q, (struct row_columns){ .table = table }, NULL,
					     err);

	*trials = all.items;
	*n = all.count;
	return all.rc;
}

int store_workload_has_runs(struct store *s, const char *workload, bool *has, struct err *err)
{
	int64_t answer = 0;
	int rc = sql_ask(s, &answer, err, "SELECT 1 FROM runs WHERE workload = ? LIMIT 1", "t",
			 workload);

	*has = rc == 0 && answer;
	return rc;
}

/* True (in SQL) for a run on devices of a kind. */
#define ON_DEVICE_KIND \
	"EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = runs.id AND d.kind = ?)"

/* Reads the few runs that ran out of memory, by an index. */
static int read_ran_out(struct store *s, const char *workload, const char *device_kind,
			struct memory_bounds *b, struct err *err)
{
	sqlite3_stmt *q;

	if (rows_query(s, &q, err, ALL_OF(tried_table),
		       "WHERE workload = ? AND out_of_memory = 1 AND (forgotten & 2) = 0"
		       " AND local_batch_size > 0 AND "
		       ON_DEVICE_KIND " ORDER BY id DESC LIMIT " SQL_NUMBER(STORE_RUNS_MAX), "tt",
		       workload, device_kind))
		return -1;
	return read_trials(s, q, &tried_table, &b->ran_out, &b->n_ran_out, err);
}

static int read_measured(struct store *s, const char *workload, const char *device_kind,
			 struct memory_trial **trials, int *n, struct err *err)
{
	sqlite3_stmt *q;

	if (rows_query(s, &q, err, ALL_OF(measured_table),
		       "WHERE run_id IN " SQL_NEWEST_RUNS("?") " AND device_kind = ?"
		       " AND local_batch_size > 0 GROUP BY replicas, local_batch_size"
		       " ORDER BY max(run_id) DESC", "tt", workload, device_kind))
		return -1;
	return read_trials(s, q, &measured_table, trials, n, err);
}

/* Reads from one run whether its devices share memory. All runs agree, since devices of one kind
 * have one backend. */
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

/* If a profile failed as a whole, its command fails at any size: its runs say nothing of sizes. */
static int read_failed(struct store *s, const char *workload, const char *device_kind,
		       struct failed_sizes *f, struct err *err)
{
	sqlite3_stmt *q;

	if (rows_query(s, &q, err, ALL_OF(tried_table),
		       "CROSS JOIN jobs ON jobs.id = runs.job_id WHERE runs.id IN "
		       SQL_NEWEST_RUNS("?") " AND runs.outcome IN ('failed', 'completed')"
		       " AND runs.out_of_memory = 0 AND runs.forgotten = 0"
		       " AND runs.local_batch_size > 0"
		       " AND jobs.profile = 1 AND jobs.state <> 'failed' AND " ON_DEVICE_KIND
		       " AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.run_id = runs.id AND"
		       " o.n_windows > 0)", "tt", workload, device_kind))
		return -1;
	return read_trials(s, q, &tried_table, &f->failed, &f->n_failed, err);
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

int store_ran_out_list(struct store *s, struct ran_out_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct ran_out_list){ .items = NULL };
	if (sql_query(s, &q, err, "SELECT DISTINCT runs.job_id, run_devices.kind,"
		      " coalesce(runs.plan, '') FROM runs"
		      " JOIN jobs ON jobs.id = runs.job_id"
		      " JOIN run_devices ON run_devices.run_id = runs.id"
		      " WHERE runs.out_of_memory = 1 AND runs.state = 'ended'"
		      " AND (runs.forgotten & 2) = 0 AND jobs.state IN ('queued', 'running')", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		struct ran_out *item;

		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		item = &list->items[list->count++];
		item->job_id = sqlite3_column_int64(q, 0);
		snprintf(item->kind, sizeof(item->kind), "%s",
			 (const char *)sqlite3_column_text(q, 1));
		snprintf(item->plan, sizeof(item->plan), "%s",
			 (const char *)sqlite3_column_text(q, 2));
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}
