/* store_check.c - SQLite's own check of the store, and whose file it is. */
#include "pollux/store.h"

#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "pollux/mem.h"
#include "sql.h"

#define FAULTS_MAX 20

/* What one store lists, rows (of what, name), and what confirms it in the other; else "what" verb
 * "name" is a fault. */
struct comparison {
	const char *list, *question, *verb;
};

static int compare(struct store *of_one, struct store *other, const struct comparison *c,
		   struct strings *faults, struct err *err)
{
	sqlite3_stmt *q;
	int64_t has;
	int rc = sql_query(of_one, &q, err, c->list, "");

	while (rc == 0 && (rc = sql_row(of_one, q, err)) == 1) {
		char *of = sql_text(q, 0), *name = sql_text(q, 1), *fault = NULL;

		rc = sql_ask(other, &has, err, c->question, "tt", of, name);
		if (rc == 0 && !has)
			fault = xasprintf("%s %s '%s'", of, c->verb, name);
		if (fault && faults->count < FAULTS_MAX)
			strings_add(faults, fault);
		free(of);
		free(name);
		free(fault);
	}
	sql_done(q);
	return rc;
}

/* A column as a table declares it: another type or key makes commands fail as its absence does. */
#define COLUMN "c.name || ' ' || c.type || iif(c.\"notnull\", ' NOT NULL', '')" \
	" || iif(c.pk, ' PRIMARY KEY', '')"
#define COLUMNS(what) "SELECT t.name, " what " FROM sqlite_schema AS t," \
	" pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"

static const struct comparison missing[] = {
	{ "SELECT 'the store', name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
	  " ORDER BY rowid",
	  "SELECT count(*) FROM sqlite_schema WHERE ?1 <> '' AND name = ?2", "has no" },
	{ COLUMNS(COLUMN) " ORDER BY t.rowid, c.cid",
	  "SELECT count(*) FROM pragma_table_xinfo(?1) AS c WHERE " COLUMN " = ?2", "has no" },
};

/* Other tables, and columns that may be empty, are in nobody's way. */
static const struct comparison obstacles[] = {
	{ "SELECT 'the store', name FROM sqlite_schema WHERE type = 'trigger'"
	  " OR (type = 'index' AND sql LIKE 'CREATE UNIQUE%')",
	  "SELECT count(*) FROM sqlite_schema WHERE ?1 <> '' AND name = ?2", "is hindered by" },
	{ COLUMNS("c.name") " AND c.\"notnull\" AND c.dflt_value IS NULL",
	  "SELECT ?1 NOT IN (SELECT name FROM sqlite_schema)"
	  " OR ?2 IN (SELECT name FROM pragma_table_xinfo(?1))", "is hindered by" },
};

static int find_missing(struct store *s, struct store *fresh, struct strings *faults,
			struct err *err)
{
	return compare(fresh, s, &missing[0], faults, err) ||
	       compare(fresh, s, &missing[1], faults, err) ? -1 : 0;
}

static int find_obstacles(struct store *s, struct store *fresh, struct strings *faults,
			  struct err *err)
{
	return compare(s, fresh, &obstacles[0], faults, err) ||
	       compare(s, fresh, &obstacles[1], faults, err) ? -1 : 0;
}

/* A store that SQLite finds sound may lack what every command asks for, or refuse what it
 * writes. */
static int check_schema(struct store *s, struct strings *faults, struct err *err)
{
	struct store fresh;
	int64_t version = 0;
	int rc = sql_ask(s, &version, err, "PRAGMA user_version", "");

	if (rc || version != schema_version())
		return rc;	/* an older store is brought up to date when it is opened */
	if (schema_fresh(&fresh, err))
		return -1;
	rc = find_missing(s, &fresh, faults, err) || find_obstacles(s, &fresh, faults, err);
	schema_forget(&fresh);
	return rc ? -1 : 0;
}

static int check_pages(struct store *s, struct strings *faults, struct err *err)
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

int store_check(struct store *s, struct strings *faults, struct err *err)
{
	return check_pages(s, faults, err) || check_schema(s, faults, err) ? -1 : 0;
}

bool store_is_foreign(const struct paths *paths)
{
	struct store s = { .turn = TURN_NONE };
	int64_t application = 0, version = 0, tables = 0, has_45 = 0;
	struct err ignored;
	bool known = sql_open(paths->store, SQLITE_OPEN_READONLY, &s.db, &ignored) == 0 &&
		     sql_ask(&s, &application, &ignored, "PRAGMA application_id", "") == 0 &&
		     sql_ask(&s, &version, &ignored, "PRAGMA user_version", "") == 0 &&
		     sql_ask(&s, &tables, &ignored, "SELECT count(*) FROM sqlite_schema",
			     "") == 0 &&
		     sql_ask(&s, &has_45, &ignored, "SELECT count(*) FROM"
			     " pragma_table_info('jobs') WHERE name = 'launch'", "") == 0;

	sql_forget(&s);
	sqlite3_close(s.db);
	return known && tables > 0 &&
	       (application != STORE_APPLICATION_ID ||
		version > schema_version() || (version < SCHEMA_OLDEST && !has_45));
}

int store_has_job(struct store *s, int64_t id, bool *has, struct err *err)
{
	int64_t answer;

	if (sql_ask(s, &answer, err, "SELECT 1 FROM jobs WHERE id = ?", "i", id))
		return -1;
	*has = answer == 1;
	return 0;
}

int store_last_job(struct store *s, int64_t *id, struct err *err)
{
	return sql_ask(s, id, err, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'", "");
}

int store_count_jobs(struct store *s, int64_t *n, struct err *err)
{
	return sql_ask(s, n, err, "SELECT count(*) FROM jobs", "");
}
