/* store_check.c - SQLite's own check of the store, and whose file it is. */
#include "pollux/store.h"

#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "sql.h"

#define FAULTS_MAX 20

/* A column as a table declares it: another type or key makes commands fail as its absence does. */
#define COLUMN "c.name || ' ' || c.type || iif(c.\"notnull\", ' NOT NULL', '')" \
	" || iif(c.pk, ' PRIMARY KEY', '')"
#define FAULT(of, verb, name) of " || ' " verb " ''' || " name " || ''''"
#define NAMES(verb) "SELECT " FAULT("'the store'", verb, "name") ", '', name FROM sqlite_schema"
#define COLUMNS(verb, what) "SELECT " FAULT("t.name", verb, what) ", t.name, " what \
	" FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c" \
	" WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"

/* What a new store has and this one lacks, and what hinders in this one: other tables, and columns
 * that may be empty, are in nobody's way. */
static const struct comparison {
	bool hinders;
	const char *list, *question;
} comparisons[] = {
	{ false, NAMES("has no") " WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid",
	  SCHEMA_HAS_NAME },
	{ false, COLUMNS("has no", COLUMN) " ORDER BY t.rowid, c.cid",
	  "SELECT count(*) FROM pragma_table_xinfo(?1) AS c WHERE " COLUMN " = ?2" },
	{ true, NAMES("is hindered by") " WHERE type = 'trigger'"
	  " OR (type = 'index' AND sql LIKE 'CREATE UNIQUE%')", SCHEMA_HAS_NAME },
	{ true, COLUMNS("is hindered by", "c.name") " AND c.\"notnull\" AND c.dflt_value IS NULL",
	  "SELECT ?1 NOT IN (SELECT name FROM sqlite_schema)"
	  " OR ?2 IN (SELECT name FROM pragma_table_xinfo(?1))" },
};

/* A store that SQLite finds sound may lack what every command asks for, or refuse what it
 * writes. */
int store_check(struct store *s, struct strings *faults, struct err *err)
{
	struct store fresh;
	sqlite3_stmt *q;
	int64_t version;
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
	if (rc || sql_get(s, err, "PRAGMA user_version", "i<", &version))
		return -1;
	if (version != schema_version())
		return 0;	/* an older store is brought up to date when it is opened */
	if (schema_fresh(&fresh, err))
		return -1;
	for (size_t i = 0; rc == 0 && i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const struct comparison *c = &comparisons[i];

		rc = schema_compare(c->hinders ? s : &fresh, c->hinders ? &fresh : s, c->list,
				    c->question, faults, err);
	}
	sql_close(&fresh);
	while (faults->count > FAULTS_MAX) {
		free(faults->items[--faults->count]);
		faults->items[faults->count] = NULL;
	}
	return rc;
}

bool store_is_foreign(const struct paths *paths)
{
	struct store s = { .turn = TURN_NONE };
	int64_t application, version = 0, tables = 0;
	bool has_45 = false;
	struct err ignored;
	bool known = sql_open(paths->store, SQLITE_OPEN_READONLY, &s.db, &ignored) == 0 &&
		     sql_get(&s, &ignored, "PRAGMA application_id", "i<", &application) == 0 &&
		     sql_get(&s, &ignored, "PRAGMA user_version", "i<", &version) == 0 &&
		     sql_get(&s, &ignored, "SELECT count(*), EXISTS (SELECT 1 FROM"
			     " pragma_table_info('jobs') WHERE name = 'launch') FROM sqlite_schema",
			     "ib<", &tables, &has_45) == 0;

	sql_close(&s);
	return known && tables > 0 &&
	       (application != STORE_APPLICATION_ID ||
		version > schema_version() || (version < SCHEMA_OLDEST && !has_45));
}

int store_has_job(struct store *s, int64_t id, bool *has, struct err *err)
{
	return sql_get(s, err, "SELECT 1 FROM jobs WHERE id = ?", "b<i", has, id);
}

int store_last_job(struct store *s, int64_t *id, struct err *err)
{
	return sql_get(s, err, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'", "i<", id);
}

int store_count_jobs(struct store *s, int64_t *n, struct err *err)
{
	return sql_get(s, err, "SELECT count(*) FROM jobs", "i<", n);
}
