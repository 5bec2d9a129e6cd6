/* store_select.c - selects jobs: one query for all commands that take jobs; which jobs wait for
 * which. */
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "rows.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"

/* As job_is_paused(). */
#define PAUSED "(state = 'queued' AND rung > passed_rungs)"

/* For each use, the condition that a job has to meet. */
static const char *const uses[N_JOB_USES] = {
	[USE_ANY] = "1",
	[USE_CANCEL] = "state IN ('queued', 'held', 'running')",
	[USE_HOLD] = "state IN ('queued', 'running') AND NOT held AND profile = 0"
		     " AND interactive = 0",
	[USE_RELEASE] = ("(state = 'held' OR held OR " PAUSED
			 " OR (state = 'running' AND EXISTS (SELECT 1 FROM runs r"
			 " WHERE r.job_id = jobs.id AND r.state <> 'ended'"
			 " AND r.stop_reason = 'hold')))"),
	[USE_EDIT] = "state IN ('queued', 'held', 'running') AND profile = 0 AND interactive = 0",
	[USE_FIRST] = "state IN ('queued', 'held') AND profile = 0 AND interactive = 0",
	[USE_CLEAR] = "state NOT IN ('queued', 'held', 'running') AND NOT cleared",
	[USE_REQUEUE] = "state NOT IN ('queued', 'held') AND NOT held AND profile = 0"
			" AND interactive = 0",
};

/* Translates a pattern of the shell for SQLite, which negates a set of characters by '^' instead of
 * '!'. */
static char *glob_of(const char *pattern)
{
	char *glob = pattern ? xstrdup(pattern) : NULL;

	for (char *p = glob; p && (p = strstr(p, "[!")); p++)
		p[1] = '^';
	return glob;
}

#define IS(column, name, glob) \
	" AND (" name " IS NULL OR " column " = " name " OR " column " GLOB " glob ")"

int store_jobs_select(struct store *s, const struct job_query *query, struct id_list *ids,
		      struct err *err)
{
	char *called = glob_of(query->called), *name = glob_of(query->name),
	     *workload = glob_of(query->workload);
	char *sql = xasprintf("SELECT id FROM jobs WHERE id BETWEEN coalesce(?1, 1)"
			      " AND coalesce(?2, 9223372036854775807)"
			      IS("name", "?3", "?4")
			      " AND (?5 IS NULL OR instr(?5, ',' || " SQL_STATE("jobs") " || ',')"
			      "  OR (instr(?5, ',paused,') AND " PAUSED "))"
			      IS("name", "?6", "?7") IS("workload", "?8", "?9")
			      " AND (?10 IS NULL OR submit_time_s >= ?10 OR end_time_s >= ?10)"
			      " AND (?11 IS NULL OR id = (SELECT max(id) FROM jobs))"
			      " AND (?12 IS NULL OR group_id = ?12)"
			      " AND %s ORDER BY id", uses[query->use]);
	int rc = 0;

	*ids = (struct id_list){ 0 };
	if (s->db)
		rc = sql_ids(s, ids, err, sql, "nntttttttdnn", query->first_id, query->last_id,
			     query->called, called, query->states, query->name, name,
			     query->workload, workload, query->since_wall_s,
			     (int64_t)query->newest, query->group_id);
	free(sql);
	free(called);
	free(name);
	free(workload);
	return rc;
}

void id_list_add(struct id_list *ids, int64_t id)
{
	ids->items = xgrow(ids->items, ids->count, sizeof(*ids->items));
	ids->items[ids->count++] = id;
}

void id_list_release(struct id_list *ids)
{
	free(ids->items);
	*ids = (struct id_list){ 0 };
}

/* The run with the largest id started last. A job without a reason was just submitted: no pass has
 * looked at it. */
int store_job_ran_last(struct store *s, const struct id_list *ids, bool or_starts, int64_t *id,
		       struct err *err)
{
	struct id_list started;
	int rc = sql_ids(s, &started, err, "SELECT job_id FROM (SELECT job_id, 0 AS is_new, id FROM"
			 "  runs WHERE launch_time_s IS NOT NULL OR (?1 AND state = 'assigned')"
			 " UNION ALL SELECT id, 1, id FROM jobs"
			 "  WHERE ?1 AND state = 'queued' AND reason = '' AND runs = 0)"
			 " ORDER BY is_new DESC, id DESC", "i", (int64_t)or_starts);

	*id = 0;
	for (int i = 0; *id == 0 && i < started.count; i++)
		for (int k = 0; k < ids->count; k++)
			if (ids->items[k] == started.items[i])
				*id = started.items[i];
	id_list_release(&started);
	return rc;
}

int store_job_is_set_aside(struct store *s, int64_t id, bool *is, struct err *err)
{
	return sql_get(s, err, "SELECT " SQL_IS_SET_ASIDE("jobs") " FROM jobs WHERE id = ?",
		       "b<i", is, id);
}

#define ROW struct job_directory
static const struct store_column of_directory[] = {
	C("j.id", INT64, job_id, KNOWN, COMPUTED),
	C("CAST(c.checkpoint_dir AS TEXT)", TEXT, path, KNOWN, COMPUTED),
	C("CAST(c.checkpoint_glob AS TEXT)", TEXT, glob, ZERO, COMPUTED),
	NAMES(SQL_STATE("j"), state, KNOWN, job_state_names, COMPUTED),
	C(SQL_IS_SET_ASIDE("j"), BOOL, set_aside, KNOWN, COMPUTED),
};
static const struct store_table directories_table =
	TABLE_OF("jobs j CROSS JOIN commands c ON c.job_id = j.id", of_directory);
#undef ROW

static int list_directories(struct store *s, const char *which, struct job_directory_list *list,
			    struct err *err)
{
	return rows_list(s, ALL_OF(directories_table), list, err, which, "");
}

#define DECLARED "WHERE c.checkpoint_dir IS NOT NULL AND "

int store_checkpoint_dirs(struct store *s, struct job_directory_list *list, struct err *err)
{
	return list_directories(s, DECLARED "j.state = 'queued' ORDER BY j.id", list, err);
}

int store_checkpoint_dirs_in_use(struct store *s, struct job_directory_list *list,
				 struct err *err)
{
	return list_directories(s, DECLARED "j.state IN ('queued', 'held', 'running')"
				" AND j.profile = 0 ORDER BY j.id", list, err);
}

void job_directory_list_release(struct job_directory_list *list)
{
	rows_release(&directories_table, list->items, list->count);
	*list = (struct job_directory_list){ 0 };
}

/* A job with the rule "any" may start while others of its list still run. */
int store_jobs_in_turn_with(struct store *s, int64_t id, struct id_list *ids, struct err *err)
{
	return sql_ids(s, ids, err, "WITH RECURSIVE"
		       " sure (job_id, after_id) AS MATERIALIZED"
		       "  (SELECT job_id, after_id FROM dependencies WHERE rule <> 'any'),"
		       " earlier (id) AS (SELECT after_id FROM sure WHERE job_id = ?1 UNION"
		       "  SELECT after_id FROM earlier JOIN sure ON job_id = id),"
		       " later (id) AS (SELECT job_id FROM sure WHERE after_id = ?1 UNION"
		       "  SELECT job_id FROM later JOIN sure ON after_id = id)"
		       " SELECT id FROM earlier UNION SELECT id FROM later ORDER BY id", "i", id);
}

/* --- which jobs wait for which --- */

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
	NAMES(SQL_STATE("a"), after_state, KNOWN, job_state_names, COMPUTED),
	C(SQL_IS_SET_ASIDE("a"), BOOL, after_set_aside, KNOWN, COMPUTED),
	C("a.end_time_s", DOUBLE, after_end_time_s, UNKNOWN, COMPUTED),
};
/* CROSS JOIN keeps SQLite from reading the dependencies of ended jobs. */
static const struct store_table dependencies_table =
	TABLE_OF("jobs j CROSS JOIN dependencies d ON d.job_id = j.id CROSS JOIN jobs a"
		 " ON a.id = d.after_id", of_dependency);
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
