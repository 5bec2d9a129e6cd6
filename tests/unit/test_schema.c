/* test_schema.c - a new store is what the steps would have made of an empty file.
 *
 * With SCHEMA_NOW=FILE this program writes what the steps make to FILE: `make schema-now`. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/text.h"
#include "store/schema.h"
#include "tap.h"

#define OBJECTS "sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"

static sqlite3 *empty(void)
{
	sqlite3 *db = NULL;

	is_int(sqlite3_open(":memory:", &db), SQLITE_OK, "an empty file");
	return db;
}

static void run(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		printf("# %s\n", message);
	ok(!message, "SQL is taken");
	sqlite3_free(message);
}

static sqlite3 *by_steps(void)
{
	sqlite3 *db = empty();

	for (int version = 1; version <= schema_version(); version++) {
		char *sql = schema_step(version);

		run(db, sql);
		free(sql);
	}
	return db;
}

/* All rows of the query, a line for each; the caller releases the text. */
static struct text rows(sqlite3 *db, const char *sql)
{
	struct text t = TEXT_INIT;
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		printf("# %s\n", sqlite3_errmsg(db));
	while (statement && sqlite3_step(statement) == SQLITE_ROW)
		text_addf(&t, "%s\n", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return t;
}

/* One SQL text as lines of a C string. */
static void write_string(FILE *f, const char *sql)
{
	while (*sql) {
		size_t n = strcspn(sql, "\n"), most = n > 84 ? 84 : n;

		while (most < n && most > 0 && sql[most - 1] != ' ')
			most--;
		if (most == 0)
			most = n;
		fputs("\t\"", f);
		for (size_t i = 0; i < most; i++) {
			if (sql[i] == '"' || sql[i] == '\\')
				fputc('\\', f);
			fputc(sql[i], f);
		}
		sql += most;
		if (*sql == '\n')
			sql++;
		fputs(*sql ? "\"\n" : ";\"\n", f);
	}
}

static void write_now(sqlite3 *db, const char *path)
{
	FILE *f = fopen(path, "w");
	sqlite3_stmt *statement = NULL;

	if (!f || sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE " OBJECTS
				     " ORDER BY rowid", -1, &statement, NULL) != SQLITE_OK) {
		perror(path);
		exit(1);
	}
	fputs("/* schema_now.c - what all steps of schema.c make of an empty file. Written by\n"
	      " * `make schema-now`; not to be edited. */\n"
	      "#include \"schema.h\"\n\n"
	      "const char schema_now[] =\n", f);
	while (sqlite3_step(statement) == SQLITE_ROW)
		write_string(f, (const char *)sqlite3_column_text(statement, 0));
	fputs("\t\"\";\n", f);
	sqlite3_finalize(statement);
	fclose(f);
}

static void test_same(sqlite3 *steps)
{
	static const char *const queries[] = {
		"SELECT type || ' ' || name || ' ' || tbl_name || ' ' || sql FROM sqlite_schema"
		" WHERE " OBJECTS " ORDER BY rowid",
		"SELECT t.name || '.' || i.cid || ' ' || i.name || ' ' || i.type || ' ' ||"
		" i.\"notnull\" || ' ' || ifnull(i.dflt_value, '-') || ' ' || i.pk"
		" FROM sqlite_schema t JOIN pragma_table_info(t.name) i"
		" WHERE t.type = 'table' ORDER BY 1",
	};
	sqlite3 *new = empty();

	run(new, schema_now);
	for (int i = 0; i < 2; i++) {
		struct text want = rows(steps, queries[i]), got = rows(new, queries[i]);

		ok(want.length > 1000 && !strcmp(want.data, got.data),
		   "a new store is what the steps make (else: make schema-now)");
		text_release(&want);
		text_release(&got);
	}
	sqlite3_close(new);
}

/* Rows that steps write into an empty file would have to be written to a new store, too. */
static void test_no_rows(sqlite3 *steps)
{
	struct text tables = rows(steps, "SELECT name FROM sqlite_schema WHERE type = 'table'"
				  " AND " OBJECTS);

	for (char *name = strtok(tables.data, "\n"); name; name = strtok(NULL, "\n")) {
		char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", name);
		struct text n = rows(steps, sql);

		is_str(n.data, "0\n", "steps leave a new table without rows");
		text_release(&n);
		sqlite3_free(sql);
	}
	text_release(&tables);
}

int main(void)
{
	sqlite3 *steps = by_steps();

	if (getenv("SCHEMA_NOW"))
		write_now(steps, getenv("SCHEMA_NOW"));
	else
		test_same(steps);
	test_no_rows(steps);
	sqlite3_close(steps);
	return done();
}
