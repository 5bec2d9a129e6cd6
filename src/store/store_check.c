/* store_check.c - SQLite's own check of the store, and whose file it is. */
#include "pollux/store_check.h"

#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "sql.h"

int store_check(struct store *s, struct strings *faults, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "PRAGMA quick_check(10)", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		char *fault = sql_text(q, 0);

		if (strcmp(fault, "ok") != 0)
			strings_add(faults, fault);
		free(fault);
	}
	sql_done(q);
	return rc;
}

bool store_is_foreign(const struct paths *paths)
{
	struct store s = { .turn = TURN_NONE };
	int64_t application = 0, version = 0, tables = 0;
	struct err ignored;
	int opened = sqlite3_open_v2(paths->store, &s.db, SQLITE_OPEN_READONLY, NULL);
	bool known = opened == SQLITE_OK &&
		     sql_ask(&s, &application, &ignored, "PRAGMA application_id", "") == 0 &&
		     sql_ask(&s, &version, &ignored, "PRAGMA user_version", "") == 0 &&
		     sql_ask(&s, &tables, &ignored, "SELECT count(*) FROM sqlite_schema", "") == 0;

	sql_forget(&s);
	sqlite3_close(s.db);
	return known && tables > 0 &&
	       (application != STORE_APPLICATION_ID || version > schema_version());
}

int store_has_job(struct store *s, int64_t id, bool *has, struct err *err)
{
	int64_t answer;

	if (sql_ask(s, &answer, err, "SELECT 1 FROM jobs WHERE id = ?", "i", id))
		return -1;
	*has = answer == 1;
	return 0;
}

int store_count_jobs(struct store *s, int64_t *n, struct err *err)
{
	return sql_ask(s, n, err, "SELECT count(*) FROM jobs", "");
}
