/* run_rows.c - the store of a supervisor on another machine: a few rows of the whole store. */
#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_journal.h"
#include "database.h"

/* Which rows of a table; ?1 is the run. In the order in which rows refer to each other. */
#define OF_JOB "(SELECT job_id FROM runs WHERE id = ?1)"
static const struct part {
	const char *table, *condition;
} parts[] = {
	{ "settings", "name = 'store_id' AND ?1" },
	{ "job_groups", "id = (SELECT group_id FROM jobs WHERE id = " OF_JOB ")" },
	{ "jobs", "id = " OF_JOB },
	{ "environments", "id = (SELECT environment_id FROM commands WHERE job_id = " OF_JOB ")" },
	{ "commands", "job_id = " OF_JOB },
	{ "job_metrics", "job_id = " OF_JOB },
	{ "curve_points", "job_id = " OF_JOB },
	{ "rung_results", "job_id = " OF_JOB },
	{ "runs", "id = ?1 OR (job_id = " OF_JOB " AND state = 'ended')" },
	{ "run_devices", "run_id = ?1" },
};

/* The columns are those of the part: the whole store, of an older pollux once, may have others. */
static int copy_rows(struct store *s, struct store *part, const struct part *p, int64_t run_id,
		     struct err *err)
{
	struct text insert = TEXT_INIT;
	char *columns, *select;
	sqlite3_stmt *q, *put = NULL;
	int rc;

	if (sql_get(part, err, "SELECT group_concat(name, ', ') FROM pragma_table_info(?)", "t<t",
		    &columns, p->table))
		return -1;
	select = xasprintf("SELECT %s FROM %s WHERE %s", columns, p->table, p->condition);
	rc = sql_query(s, &q, err, select, "i", run_id);
	text_addf(&insert, "INSERT INTO %s (%s) VALUES (", p->table, columns);
	for (int i = 0; rc == 0 && i < sqlite3_column_count(q); i++)
		text_add(&insert, i ? ", ?" : "?");
	text_add(&insert, ")");
	while (rc == 0 && (rc = sql_row(s, q, err)) == 1) {
		rc = sql_query(part, &put, err, insert.data, "");
		for (int i = 0; rc == 0 && i < sqlite3_column_count(q); i++)
			sqlite3_bind_value(put, i + 1, sqlite3_column_value(q, i));
		if (rc == 0)
			rc = sql_row(part, put, err);
		sql_done(put);
	}
	sql_done(q);
	text_release(&insert);
	free(select);
	free(columns);
	return rc;
}

int store_run_rows(struct store *s, int64_t run_id, struct text *content, struct err *err)
{
	sqlite3_int64 n = 0;
	unsigned char *bytes = NULL;
	struct store part;
	int rc = 0;

	if (schema_fresh(&part, err))
		return -1;
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = copy_rows(s, &part, &parts[i], run_id, err);
	if (rc == 0)
		bytes = sqlite3_serialize(part.db, "main", &n, 0);
	if (bytes)
		text_add_bytes(content, bytes, (size_t)n);
	else if (rc == 0)
		rc = err_set(err, EX_OSERR, "no memory for a part of the store");
	sqlite3_free(bytes);
	sql_close(&part);
	return rc;
}

int store_open_rows(struct store *s, const struct paths *paths, const char *content, size_t n,
		    struct err *err)
{
	bool is_old = n > 1 && !memcmp(content, "J ", 2);
	struct taken taken;

	if (!is_old && file_replace(paths->store, content, n, err))
		return -1;
	if (store_open(s, paths, STORE_WRITE, err))
		return -1;
	if (!is_old)
		return 0;
	if (store_begin(s, err) == 0) {
		taken = old_journal_take(s, 0, content, n, err);
		if (taken.found != JOURNAL_WHOLE)
			taken.rc = err_set(err, EX_DATAERR, "the rows of the run are malformed");
		if (store_finish(s, taken.rc, err) == 0)
			return 0;
	}
	store_close(s);
	return -1;
}

int store_job_position_is_old(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET position_doubt = ? WHERE id = ?", "ii",
		       (int64_t)POSITION_OLD, job_id);
}

int store_command_place(struct store *s, int64_t job_id, const char *checkpoint_dir,
			struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE commands SET checkpoint_dir = CAST(? AS BLOB)"
		       " WHERE job_id = ? AND checkpoint_dir IS NULL", "ti", checkpoint_dir,
		       job_id);
}
