/* store_dependencies.c - which jobs wait for which. */
#include <stdlib.h>

#include "columns.h"
#include "job_rows.h"
#include "rows.h"

const char *const after_rule_names[N_AFTER_RULES] = {
	[AFTER_END] = "end", [AFTER_OK] = "ok", [AFTER_NOT_OK] = "notok", [AFTER_ANY] = "any",
};

int dependencies_exist(struct store *s, const struct dependency_list *after, struct err *err)
{
	for (int i = 0; i < after->count; i++) {
		const struct dependency *d = &after->items[i];
		int64_t n = d->after_group_id ? d->after_group_id : d->after_id;
		bool there;

		if (sql_get(s, err, d->after_group_id
			    ? "SELECT EXISTS (SELECT 1 FROM jobs WHERE group_id = ?)"
			    : "SELECT count(*) FROM jobs WHERE id = ?", "b<i", &there, n))
			return -1;
		if (!there)
			return err_set(err, EX_NOINPUT, "option '--after': no such %s: %lld",
				       d->after_group_id ? "group" : "job", (long long)n);
	}
	return 0;
}

int dependencies_add(struct store *s, int64_t id, const struct dependency_list *after,
		     struct err *err)
{
	for (int i = 0; i < after->count; i++) {
		const struct dependency *d = &after->items[i];
		const char *sql = d->after_group_id
			? "INSERT OR REPLACE INTO dependencies (job_id, after_id, rule)"
			  " SELECT ?1, id, ?3 FROM jobs WHERE group_id = ?2 AND id != ?1"
			: "INSERT OR REPLACE INTO dependencies (job_id, after_id, rule)"
			  " VALUES (?1, ?2, ?3)";

		if (sql_run(s, NULL, err, sql, "iit", id,
			    d->after_group_id ? d->after_group_id : d->after_id,
			    after_rule_names[d->rule]))
			return -1;
	}
	return 0;
}

/* *other: a job that this one is to wait for, and that itself waits for this one, directly or
 * through other jobs that have not ended; 0: none. */
static int find_circle(struct store *s, int64_t id, int64_t *other, struct err *err)
{
	return sql_get(s, err,
		"SELECT min(first.after_id) FROM dependencies first WHERE first.job_id = ?1"
		" AND ?1 IN"
		" (WITH RECURSIVE earlier (id) AS (VALUES (first.after_id) UNION"
		"  SELECT d.after_id FROM earlier e JOIN jobs j ON j.id = e.id"
		"   AND j.state IN ('queued', 'held', 'running')"
		"   JOIN dependencies d ON d.job_id = e.id)"
		"  SELECT id FROM earlier)", "i<i", other, id);
}

int store_job_set_dependencies(struct store *s, int64_t id, const struct dependency_list *after,
			       struct err *err)
{
	int64_t other;

	if (dependencies_exist(s, after, err) ||
	    sql_run(s, NULL, err, "DELETE FROM dependencies WHERE job_id = ?", "i", id) ||
	    dependencies_add(s, id, after, err) || find_circle(s, id, &other, err))
		return -1;
	if (other == id)
		return err_set(err, EX_FAILED, "job %lld would wait for itself", (long long)id);
	if (other)
		return err_set(err, EX_FAILED, "job %lld cannot come after job %lld, which "
			       "waits for it", (long long)id, (long long)other);
	return 0;
}

int store_dependents_cancelled(struct store *s, int64_t id, struct id_list *ids, struct err *err)
{
	return sql_ids(s, ids, err, "WITH RECURSIVE back (id) AS (VALUES (?1) UNION"
		       " SELECT j.id FROM back b CROSS JOIN jobs a ON a.id = b.id"
		       "  CROSS JOIN dependencies d ON d.after_id = a.id"
		       "  CROSS JOIN jobs j ON j.id = d.job_id"
		       "  WHERE j.state = 'cancelled' AND j.cancelled_for IS NOT NULL"
		       "  AND ((d.rule = 'ok' AND a.state <> 'done') OR (d.rule = 'notok'"
		       "   AND a.state NOT IN ('failed', 'cancelled', 'timeout'))))"
		       " SELECT id FROM back WHERE id <> ?1 ORDER BY id", "i", id);
}

/* Jobs of a circle cannot all come after smaller numbers. */
int store_dependencies_check(struct store *s, const struct id_list *ids, struct err *err)
{
	int64_t other;
	bool backward;

	if (sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM dependencies d"
		    " JOIN jobs j ON j.id = d.job_id WHERE d.after_id > d.job_id"
		    " AND j.state IN ('queued', 'held'))", "b<", &backward))
		return -1;
	for (int i = 0; backward && i < ids->count; i++) {
		long long id = ids->items[i];

		if (find_circle(s, id, &other, err))
			return -1;
		if (other)
			return err_set(err, EX_FAILED, "job %lld would come after job %lld, which "
				       "waits for it; 'pollux again %lld' submits another like it",
				       id, (long long)other, id);
	}
	return 0;
}

static int compare_dependencies(const void *a, const void *b)
{
	const struct dependency *x = a, *y = b;

	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	return (x->after_id > y->after_id) - (x->after_id < y->after_id);
}

#define ROW struct dependency
static const struct field_names rule_names = { after_rule_names, N_AFTER_RULES, AFTER_END };
static const struct store_column of_dependency[] = {
	C("j.id", INT64, job_id, KNOWN, COMPUTED),
	C("d.after_id", INT64, after_id, KNOWN, COMPUTED),
	NAMES("d.rule", rule, KNOWN, rule_names, COMPUTED),
	NAMES("a.state", after_state, KNOWN, job_state_names, COMPUTED),
	C("a.end_time_s", DOUBLE, after_end_time_s, UNKNOWN, COMPUTED),
};
static const struct store_columns dependency_columns = COLUMNS(of_dependency);
/* CROSS JOIN keeps SQLite from reading the dependencies of ended jobs. */
static const struct store_table dependencies_table = {
	"jobs j CROSS JOIN dependencies d ON d.job_id = j.id CROSS JOIN jobs a"
	" ON a.id = d.after_id", sizeof(ROW), { { .columns = &dependency_columns } },
};
#undef ROW

static int list_dependencies(struct store *s, const char *rest, struct dependency_list *list,
			     struct err *err)
{
	int rc = rows_list(s, ALL_OF(dependencies_table), list, err, rest, "");

	if (list->count)
		qsort(list->items, (size_t)list->count, sizeof(*list->items), compare_dependencies);
	return rc;
}

int store_dependencies_list(struct store *s, struct dependency_list *list, struct err *err)
{
	return list_dependencies(s, "WHERE j.state IN ('queued', 'held')", list, err);
}

int store_dependencies_all(struct store *s, struct dependency_list *list, struct err *err)
{
	return list_dependencies(s, "", list, err);
}

void dependency_list_release(struct dependency_list *list)
{
	free(list->items);
	*list = (struct dependency_list){ 0 };
}
