/* store_cores.c - the processors that runs are bound to. */
#include <stdio.h>

#include "pollux/store_runs.h"
#include "sql.h"

int store_run_set_cores(struct store *s, int64_t id, const char *cores, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE runs SET cores = nullif(?, '') WHERE id = ?"
		       " AND state <> 'ended'", "ti", cores, id);
}

int store_run_read_cores(struct store *s, struct run *run, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT coalesce(cores, '') FROM runs WHERE id = ?", "i",
		      run->id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		snprintf(run->cores, sizeof(run->cores), "%s",
			 (const char *)sqlite3_column_text(q, 0));
	sql_done(q);
	return rc < 0 ? -1 : 0;
}
