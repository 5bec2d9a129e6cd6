/* store_models.c - what is known of a workload: its models, the sizes that fitted or failed, what
 * restarts cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"
#include "sql.h"

/* --- models --- */

static const char basis_letters[] = {
	[FIT_FROM_DATA] = 'd', [FIT_FROM_PENALTY] = 'p', [FIT_TIED] = 't',
	[FIT_FROM_PRIOR] = 'k',		/* by the kernels that were measured */
};

static enum fit_basis read_letter(const char **letters)
{
	const char *at = **letters ? memchr(basis_letters, *(*letters)++, sizeof(basis_letters))
				   : NULL;

	return at ? (enum fit_basis)(at - basis_letters) : FIT_TIED;
}

int store_model_get(struct store *s, const char *workload, const char *device_kind,
		    struct model_row *model, bool *found, struct err *err)
{
	const struct row_columns values = { .table = &models_table, .without = COLUMN_KEY };
	struct stored_model row = { .workload = NULL };
	struct fit_result *fit = &row.model.fit;
	const char *letters = row.basis;
	int rc = rows_get(s, values, &row, err, "WHERE workload = ? AND device_kind = ?", "tt",
			  workload, device_kind);

	*found = rc == 1;
	if (rc != 1)
		return rc;
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		fit->basis[i] = read_letter(&letters);
	fit->tier_basis[TIER_UNKNOWN] = FIT_TIED;
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++)
		fit->tier_basis[t] = read_letter(&letters);
	*model = row.model;
	return 0;
}

int store_model_set(struct store *s, const char *workload, const char *device_kind,
		    const struct model_row *m, struct err *err)
{
	struct stored_model row = { workload, device_kind, "", *m };
	bool known = false;

	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		row.basis[i] = basis_letters[m->fit.basis[i]];
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++)
		known |= m->fit.tier_basis[t] != FIT_TIED;
	for (int t = TIER_FAST; known && t < CONFIGURATION_TIERS; t++)
		row.basis[N_THROUGHPUT_PARAMS - 1 + t] = basis_letters[m->fit.tier_basis[t]];
	return rows_put(s, &models_table, &row, "true", err);
}

#define STAMPS(base, names) \
	"SELECT w.workload, count(*), sum(o.n_windows), sum(o.n_steps)," \
	" (SELECT parameters FROM workloads WHERE workload = " base ")," \
	" (SELECT max(measured_time_s) FROM device_measurements WHERE device_kind = ?1)" \
	" FROM (" names ") w CROSS JOIN observations o ON o.run_id IN " \
	SQL_NEWEST_RUNS("w.workload") " AND o.device_kind = ?1 GROUP BY w.workload"
#define ACTIVE "state IN ('queued', 'running')"
#define OF_ONE \
	"SELECT ?2 AS workload UNION SELECT DISTINCT r.workload FROM runs r" \
	" WHERE " SQL_OF_PLANS("r.workload", "?2")
#define OF_JOBS "SELECT DISTINCT workload FROM jobs WHERE " ACTIVE
#define OF_PLANS \
	"SELECT DISTINCT r.workload FROM (SELECT DISTINCT workload FROM jobs" \
	" INDEXED BY jobs_with_plans WHERE plans IS NOT NULL AND " ACTIVE ") j" \
	" CROSS JOIN runs r ON " SQL_OF_PLANS("r.workload", "j.workload")

/* The keys do not use the times of writing, because the wall clock may be set back. A prior needs
 * the number of parameters and the measurements. */
int store_workload_stamps(struct store *s, const char *device_kind, bool plans, const char *only,
			  struct workload_stamp_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct workload_stamp_list){ 0 };
	if (only ? sql_query(s, &q, err, STAMPS(SQL_BASE("w.workload"), OF_ONE), "tt", device_kind,
			     only)
		 : sql_query(s, &q, err, plans
			     ? STAMPS(SQL_BASE("w.workload"), OF_JOBS " UNION ALL " OF_PLANS)
			     : STAMPS("w.workload", OF_JOBS), "t", device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		double parameters = sql_double(q, 4), measured_s = sql_double(q, 5);
		struct text key = TEXT_INIT;
		struct workload_stamp *stamp;

		text_addf(&key, "%lld:%lld:%lld", (long long)sql_int(q, 1, 0),
			  (long long)sql_int(q, 2, 0), (long long)sql_int(q, 3, 0));
		if (!isnan(parameters) && !isnan(measured_s))
			text_addf(&key, ":%.9g:%.3f", parameters, measured_s);
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		stamp = &list->items[list->count++];
		stamp->workload = sql_text(q, 0);
		snprintf(stamp->observations_key, sizeof(stamp->observations_key), "%s", key.data);
		text_release(&key);
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

/* --- memory --- */

/* True (in SQL) for a run on devices of a kind. */
#define ON_DEVICE_KIND \
	"EXISTS (SELECT 1 FROM run_devices d WHERE d.run_id = runs.id AND d.kind = ?)"

/* Queries of sizes on devices of a kind. */
static const struct trials {
	const struct store_table *table;
	const char *rest;
} ran_out = {
	&tried_table, "WHERE workload = ? AND out_of_memory = 1"
	" AND (forgotten & 2) = 0 AND local_batch_size > 0 AND " ON_DEVICE_KIND
	" ORDER BY id DESC LIMIT " SQL_NUMBER(STORE_RUNS_MAX)
}, failed = {
	&tried_table, "CROSS JOIN jobs ON jobs.id = runs.job_id"
	" WHERE runs.id IN " SQL_NEWEST_RUNS("?") " AND runs.outcome IN ('failed', 'completed')"
	" AND runs.out_of_memory = 0 AND runs.forgotten = 0 AND runs.local_batch_size > 0"
	" AND jobs.profile = 1 AND jobs.state <> 'failed' AND " ON_DEVICE_KIND
	" AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.run_id = runs.id"
	"  AND o.n_windows > 0)"
}, measured = {
	&measured_table, "WHERE run_id IN " SQL_NEWEST_RUNS("?") " AND device_kind = ?"
	" AND local_batch_size > 0 GROUP BY replicas, local_batch_size ORDER BY max(run_id) DESC"
};

static int read_trials(struct store *s, const struct trials *of, const char *workload,
		       const char *device_kind, struct observation_list *list, struct err *err)
{
	return rows_list(s, (struct row_columns){ .table = of->table }, list, err, of->rest, "tt",
			 workload, device_kind);
}

int store_workload_has_runs(struct store *s, const char *workload, bool *has, struct err *err)
{
	return sql_get(s, err, "SELECT 1 FROM runs WHERE workload = ? LIMIT 1", "b<t", has,
		       workload);
}

/* The few runs that ran out of memory are found by an index. One of them tells whether its devices
 * share memory, since devices of one kind have one backend. */
int store_memory_bounds(struct store *s, const char *workload, const char *device_kind,
			struct memory_bounds *b, struct err *err)
{
	const struct device_backend *backend = NULL;
	struct observation_list tried, fitted = { 0 };
	char device[DEVICE_ID_SIZE] = "";
	int rc = read_trials(s, &ran_out, workload, device_kind, &tried, err);

	if (rc == 0 && tried.count > 0)
		rc = sql_get(s, err, "SELECT device FROM run_devices WHERE run_id = ? LIMIT 1",
			     "c<i", device, sizeof(device), tried.items[0].run_id) ||
		     read_trials(s, &measured, workload, device_kind, &fitted, err) ? -1 : 0;
	if (*device)
		backend = device_backend_of(device);
	*b = (struct memory_bounds){
		.ran_out = tried.items, .n_ran_out = tried.count,
		.fitted = fitted.items, .n_fitted = fitted.count,
		.shared = backend && backend->shares_memory,
	};
	if (rc)
		memory_bounds_release(b);
	else
		memory_bounds_settle(b);
	return rc;
}

/* If a profile failed as a whole, its command fails at any size: its runs say nothing of sizes. */
int store_failed_sizes(struct store *s, const char *workload, const char *device_kind,
		       struct failed_sizes *f, struct err *err)
{
	struct observation_list tried, worked = { 0 };
	int rc = read_trials(s, &failed, workload, device_kind, &tried, err);

	if (rc == 0 && tried.count > 0)
		rc = read_trials(s, &measured, workload, device_kind, &worked, err);
	*f = (struct failed_sizes){
		.failed = tried.items, .n_failed = tried.count,
		.worked = worked.items, .n_worked = worked.count,
	};
	if (rc)
		failed_sizes_release(f);
	else
		failed_sizes_settle(f);
	return rc;
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
		sql_chars(q, 1, item->kind, sizeof(item->kind));
		sql_chars(q, 2, item->plan, sizeof(item->plan));
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

/* --- restarts --- */

#define RESTARTS 20

/* Reads the medians of at most RESTARTS rows: of the first column, and of the second where not
 * NULL. */
static int read_medians(struct store *s, const char *sql, const char *workload, double medians[2],
			struct err *err)
{
	double times[2][RESTARTS];
	sqlite3_stmt *q;
	int rc = 0, n[2] = { 0, 0 };

	if (sql_query(s, &q, err, sql, "ti", workload, (int64_t)RESTARTS))
		return -1;
	while (n[0] < RESTARTS && (rc = sql_row(s, q, err)) == 1) {
		times[0][n[0]++] = sql_double(q, 0);
		times[1][n[1]] = sql_double(q, 1);
		n[1] += !isnan(times[1][n[1]]);
	}
	sql_done(q);
	for (int i = 0; i < 2; i++)
		medians[i] = median_of(times[i], n[i]);
	return rc < 0 ? -1 : 0;
}

/* Pairs are a stopped run, and the next run of its job that reported a step: *pair is the median of
 * their restarts. Without such a pair, halves has the separate medians of starts and of stops. */
static int read_restarts(struct store *s, const char *workload, double *pair, double halves[2],
			 struct err *err)
{
	static const char pairs[] =
		"SELECT a.stop_duration_s + b.first_step_s, NULL FROM runs b CROSS JOIN runs a"
		" ON a.id ="
		" (SELECT id FROM runs WHERE job_id = b.job_id AND number < b.number"
		"  AND launch_time_s IS NOT NULL ORDER BY number DESC LIMIT 1)"
		" WHERE b.id IN " SQL_NEWEST_RUNS("?")
		" AND b.first_step_s IS NOT NULL AND a.stop_duration_s IS NOT NULL"
		" ORDER BY b.id DESC LIMIT ?";
	static const char starts[] =
		"SELECT first_step_s, stop_duration_s FROM runs WHERE id IN " SQL_NEWEST_RUNS("?")
		" AND first_step_s IS NOT NULL"
		" ORDER BY id DESC LIMIT ?";

	if (read_medians(s, pairs, workload, halves, err))
		return -1;
	*pair = halves[0];
	return isnan(*pair) ? read_medians(s, starts, workload, halves, err) : 0;
}

int store_restart_cost(struct store *s, const char *workload, double *seconds, struct err *err)
{
	double halves[2];

	if (read_restarts(s, workload, seconds, halves, err))
		return -1;
	if (isnan(*seconds))
		*seconds = isnan(halves[1]) ? halves[0] : halves[0] + halves[1];
	return 0;
}

int store_restart_was_timed(struct store *s, const char *workload, bool *timed, struct err *err)
{
	double seconds, halves[2];
	int rc = read_restarts(s, workload, &seconds, halves, err);

	*timed = rc == 0 && !(isnan(seconds) && isnan(halves[1]));
	return rc;
}
