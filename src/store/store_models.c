/* store_models.c - fitted models, and whether there is anything new to fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/text.h"
#include "measured.h"
#include "rows.h"

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

static void read_basis(const char *letters, struct fit_result *fit)
{
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		fit->basis[i] = read_letter(&letters);
	fit->tier_basis[TIER_UNKNOWN] = FIT_TIED;
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++)
		fit->tier_basis[t] = read_letter(&letters);
}

int store_model_kind(struct store *s, const char *workload, const char *preferred, char **kind,
		     struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*kind = NULL;
	if (sql_query(s, &q, err, "SELECT device_kind FROM models WHERE workload = ?1"
		      " ORDER BY device_kind IS ?2 DESC, n_steps DESC, device_kind LIMIT 1", "tt",
		      workload, preferred))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*kind = sql_text(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_model_get(struct store *s, const char *workload, const char *device_kind,
		    struct model_row *model, bool *found, struct err *err)
{
	const struct row_columns values = { .table = &models_table, .without = COLUMN_KEY };
	struct stored_model row = { .workload = NULL };
	int rc = rows_get(s, values, &row, err, "WHERE workload = ? AND device_kind = ?", "tt",
			  workload, device_kind);

	*found = rc == 1;
	if (*found) {
		read_basis(row.basis, &row.model.fit);
		*model = row.model;
	}
	return rc < 0 ? -1 : 0;
}

static bool tiers_are_known(const struct fit_result *fit)
{
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++)
		if (fit->tier_basis[t] != FIT_TIED)
			return true;
	return false;
}

int store_model_set(struct store *s, const char *workload, const char *device_kind,
		    const struct model_row *m, struct err *err)
{
	struct stored_model row = { workload, device_kind, "", *m };

	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		row.basis[i] = basis_letters[m->fit.basis[i]];
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS && tiers_are_known(&m->fit); t++)
		row.basis[N_THROUGHPUT_PARAMS - 1 + t] = basis_letters[m->fit.tier_basis[t]];
	return rows_put(s, &models_table, &row, "true", err);
}

static void read_stamp(sqlite3_stmt *q, struct workload_stamp *stamp)
{
	stamp->workload = sql_text(q, 0);
	double parameters = sql_double(q, 4), measured_s = sql_double(q, 5);
	struct text key = TEXT_INIT;

	text_addf(&key, "%lld:%lld:%lld", (long long)sql_int(q, 1, 0), (long long)sql_int(q, 2, 0),
		  (long long)sql_int(q, 3, 0));
	/* A prior needs the number of parameters and the measurements. */
	if (!isnan(parameters) && !isnan(measured_s))
		text_addf(&key, ":%.9g:%.3f", parameters, measured_s);
	snprintf(stamp->observations_key, sizeof(stamp->observations_key), "%s", key.data);
	text_release(&key);
}

#define STAMPS(base, names) \
	"SELECT w.workload, count(*), sum(o.n_windows), sum(o.n_steps)," \
	" (SELECT parameters FROM workloads WHERE workload = " base ")," \
	" (SELECT max(measured_time_s) FROM device_measurements WHERE device_kind = ?1)" \
	" FROM (" names ") w CROSS JOIN observations o ON o.run_id IN " \
	SQL_NEWEST_RUNS("w.workload") " AND o.device_kind = ?1 GROUP BY w.workload"
#define ACTIVE "state IN ('queued', 'running')"
#define OF_JOBS "SELECT DISTINCT workload FROM jobs WHERE " ACTIVE
#define OF_PLANS \
	"SELECT DISTINCT r.workload FROM (SELECT DISTINCT workload FROM jobs" \
	" INDEXED BY jobs_with_plans WHERE plans IS NOT NULL AND " ACTIVE ") j" \
	" CROSS JOIN runs r ON " SQL_OF_PLANS("r.workload", "j.workload")

/* The keys do not use the times of writing, because the wall clock may be set back. */
int store_workload_stamps(struct store *s, const char *device_kind, bool plans,
			  struct workload_stamp_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*list = (struct workload_stamp_list){ 0 };
	if (sql_query(s, &q, err, plans
		      ? STAMPS(SQL_BASE("w.workload"), OF_JOBS " UNION ALL " OF_PLANS)
		      : STAMPS("w.workload", OF_JOBS), "t", device_kind))
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
