/* repair_fill.c - fills a new store with what can be read of a damaged one. */
#include "database.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "pollux/mem.h"
#include "pollux/store.h"
#include "pollux/text.h"
#include "sql.h"

/* --- one table --- */

enum reading { READ_ALL, READ_STOPPED };

struct copy {
	struct store *old, *new;
	/* "id, weight", "?, 1" and, where the old table has no weight, "id"; owned, as is the
	 * key */
	char *name, *columns, *values, *selected;
	char *key;			/* an integer by which rows are sought; NULL: none */
	sqlite3_stmt *insert;
	int64_t last;			/* the greatest key that was read on the way up */
	int64_t copied;
};

/* --- statements --- */

static bool has_column(struct store *s, const char *table, const char *column)
{
	struct err ignored;
	int64_t has = 0;

	return sql_ask(s, &has, &ignored, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", "tt",
		       table, column) == 0 && has;
}

/* The row's number, or the first column of the primary key. */
static char *find_key(struct store *s, const char *table, struct err *err)
{
	char *sql = xasprintf("SELECT rowid FROM %s LIMIT 1", table), *key = NULL;
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK)
		key = xstrdup("rowid");
	sqlite3_finalize(q);
	free(sql);
	if (key || sql_query(s, &q, err, "SELECT name FROM pragma_table_info(?)"
			     " WHERE pk = 1 AND type = 'INTEGER'", "t", table))
		return key;
	if (sql_row(s, q, err) == 1)
		key = sql_text(q, 0);
	sql_done(q);
	return key;
}

/* What a job gets for a value that it must have, where the damage took the whole column: the value
 * that submit gives where nothing was said. A job whose state is lost is held. */
static const struct stand_in {
	const char *column, *value;
} stand_ins[] = {
	{ "state", "'held'" }, { "name", "'?'" }, { "workload", "'?'" }, { "submit_time_s", "0" },
	{ "min_replicas", "1" }, { "max_replicas", "1" }, { "weight", "1" },
	{ "preemption", "'saved'" }, { "retries", "0" }, { "stop_signal", "15" },
	{ "grace_s", "60" },
};

static const char *stand_in_for(const char *table, const char *column)
{
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++)
		if (!strcmp(table, "jobs") && !strcmp(column, stand_ins[i].column))
			return stand_ins[i].value;
	return NULL;
}

static void add_item(struct text *t, const char *item)
{
	text_addf(t, "%s%s", t->length ? ", " : "", item);
}

static int name_columns(struct copy *c, struct err *err)
{
	struct text columns = TEXT_INIT, values = TEXT_INIT, selected = TEXT_INIT;
	sqlite3_stmt *q;
	int rc;

	if (sql_query(c->new, &q, err, "SELECT name FROM pragma_table_info(?)", "t", c->name))
		return -1;
	while ((rc = sql_row(c->new, q, err)) == 1) {
		char *column = sql_text(q, 0);
		bool has = has_column(c->old, c->name, column);
		const char *value = has ? "?" : stand_in_for(c->name, column);

		if (value) {
			add_item(&columns, column);
			add_item(&values, value);
		}
		if (has)
			add_item(&selected, column);
		free(column);
	}
	sql_done(q);
	c->columns = text_detach(&columns);
	c->values = text_detach(&values);
	c->selected = text_detach(&selected);
	return rc;
}

static int prepare_insert(struct copy *c, struct err *err)
{
	char *sql = xasprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", c->name, c->columns,
			      c->values);
	int rc = sqlite3_prepare_v2(c->new->db, sql, -1, &c->insert, NULL);

	free(sql);
	return rc == SQLITE_OK ? 0 : sql_error(c->new, err, "write");
}

/* --- rows --- */

/* Counts a row as unread if the new store refuses it because the damage made it invalid. */
static int put_row(struct copy *c, sqlite3_stmt *row, struct err *err)
{
	int rc;

	sqlite3_reset(c->insert);
	for (int i = 1; i < sqlite3_column_count(row); i++)
		sqlite3_bind_value(c->insert, i, sqlite3_column_value(row, i));
	rc = sqlite3_step(c->insert);
	if (rc == SQLITE_DONE)
		c->copied += sqlite3_changes(c->new->db);
	else if ((rc & 0xff) != SQLITE_CONSTRAINT && (rc & 0xff) != SQLITE_MISMATCH)
		return sql_error(c->new, err, "write");
	return 0;
}

/* Copies the rows whose keys lie between the two, exclusive. */
static int copy_span(struct copy *c, int64_t above, int64_t below, bool down, enum reading *reading,
		     struct err *err)
{
	const char *key = c->key ? c->key : "NULL";
	struct text sql = TEXT_INIT;
	sqlite3_stmt *q = NULL;
	int rc, failed = 0;

	text_addf(&sql, "SELECT %s, %s FROM %s", key, c->selected, c->name);
	if (c->key)
		text_addf(&sql, " WHERE %s > %lld AND %s < %lld ORDER BY %s%s", key,
			  (long long)above, key, (long long)below, key, down ? " DESC" : "");
	rc = sqlite3_prepare_v2(c->old->db, sql.data, -1, &q, NULL);
	if (rc == SQLITE_OK)
		while (!failed && (rc = sqlite3_step(q)) == SQLITE_ROW) {
			failed = put_row(c, q, err);
			if (!down)
				c->last = sqlite3_column_int64(q, 0);
		}
	*reading = rc == SQLITE_DONE ? READ_ALL : READ_STOPPED;
	sqlite3_finalize(q);
	text_release(&sql);
	return failed;
}

/* Finds the first key from here on that can be read. False: there is none; *ends: no row
 * follows. */
static bool find_row(struct copy *c, int64_t from, int64_t *key, bool *ends)
{
	char *sql = xasprintf("SELECT %s FROM %s WHERE %s >= %lld ORDER BY %s LIMIT 1", c->key,
			      c->name, c->key, (long long)from, c->key);
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(c->old->db, sql, -1, &q, NULL);

	free(sql);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(q);
	*ends = rc == SQLITE_DONE;
	if (rc == SQLITE_ROW)
		*key = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc == SQLITE_ROW;
}

/* Finds a key behind the damage, which ends somewhere beyond the last row that was read. Looks
 * ahead in steps that double. */
static bool find_behind(struct copy *c, int64_t *key)
{
	bool ends = false;

	for (int64_t step = 1; !ends && step < INT64_MAX / 4; step *= 2)
		if (find_row(c, c->last + step, key, &ends))
			return true;
	return false;
}

static int copy_rows(struct copy *c, enum reading *all, struct err *err)
{
	enum reading reading;
	int64_t key;

	if (copy_span(c, -1, INT64_MAX, false, all, err))
		return -1;
	for (reading = *all; reading == READ_STOPPED && c->key && find_behind(c, &key);) {
		enum reading back;

		if (copy_span(c, c->last, key, true, &back, err))
			return -1;
		c->last = key;
		if (copy_span(c, key - 1, INT64_MAX, false, &reading, err))
			return -1;
	}
	return 0;
}

static int copy_table(struct store *old, struct store *new, const char *name,
		      struct repaired_table *t, struct err *err)
{
	struct copy c = { .old = old, .new = new, .name = xstrdup(name), .last = -1 };
	char *count = xasprintf("SELECT count(*) FROM %s", name);
	enum reading all = READ_STOPPED;
	int64_t n = 0;
	struct err ignored;
	int rc;

	*t = (struct repaired_table){ .name = xstrdup(name), .unread = -1 };
	c.key = find_key(new, name, err);
	rc = name_columns(&c, err);
	if (rc == 0 && *c.selected)
		rc = prepare_insert(&c, err) || copy_rows(&c, &all, err) ? -1 : 0;
	t->copied = c.copied;
	if (sql_ask(old, &n, &ignored, count, "") == 0 && n >= c.copied && *c.selected)
		t->unread = n - c.copied;
	if (t->unread == 0 && all == READ_STOPPED)
		t->unread = -1;
	sqlite3_finalize(c.insert);
	free(count);
	free(c.name);
	free(c.key);
	free(c.columns);
	free(c.values);
	free(c.selected);
	return rc;
}

/* --- all tables --- */

/* Adds the first column of each row of the query to the list. */
static int read_texts(struct store *s, struct strings *texts, const char *sql, const char *value,
		      struct err *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err, sql, value ? "t" : "", value);

	while (rc == 0 && (rc = sql_row(s, q, err)) == 1) {
		char *text = sql_text(q, 0);

		strings_add(texts, text);
		free(text);
		rc = 0;
	}
	sql_done(q);
	return rc;
}

static int copy_tables(struct store *old, struct store *new, struct store_repair *r,
		       struct err *err)
{
	struct strings names = { 0 };
	int rc = read_texts(new, &names, "SELECT name FROM sqlite_schema WHERE type = 'table'"
			    " AND name NOT LIKE 'sqlite_%' ORDER BY rowid", NULL, err);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		r->items = xgrow(r->items, r->count, sizeof(*r->items));
		rc = copy_table(old, new, names.items[i], &r->items[r->count++], err);
	}
	strings_release(&names);
	return rc;
}

/* The numbers of lost jobs are not used again, because their checkpoints may still be there. */
static int keep_numbers(struct store *old, struct store *new, const struct paths *paths,
			struct err *err)
{
	struct err ignored;
	sqlite3_stmt *q;
	int rc = 0;

	if (sql_query(old, &q, &ignored, "SELECT name, seq FROM sqlite_sequence", "") == 0) {
		while (rc == 0 && sql_row(old, q, &ignored) == 1) {
			char *name = sql_text(q, 0);

			rc = store_raise_number(new, name, sql_int(q, 1, 0), err);
			free(name);
		}
		sql_done(q);
	}
	return rc ? rc : store_number_past_leftovers(new, paths, err);
}

/* --- what belongs to what was lost --- */

static int drop_orphans_of(struct store *new, struct repaired_table *t, int *dropped,
			   struct err *err)
{
	struct strings deletions = { 0 };
	int rc = read_texts(new, &deletions,
			    "SELECT 'DELETE FROM ' || ?1 || ' WHERE ' || \"from\" ||"
			    " ' NOT IN (SELECT ' || \"to\" || ' FROM ' || \"table\" || ')'"
			    " FROM pragma_foreign_key_list(?1)", t->name, err);

	for (size_t i = 0; rc == 0 && i < deletions.count; i++) {
		int n = 0;

		rc = sql_run(new, &n, err, deletions.items[i], "");
		t->orphans += n;
		*dropped += n;
	}
	strings_release(&deletions);
	return rc;
}

static int drop_orphans(struct store *new, struct store_repair *r, struct err *err)
{
	for (int dropped = 1; dropped > 0;) {
		dropped = 0;
		for (int i = 0; i < r->count; i++)
			if (drop_orphans_of(new, &r->items[i], &dropped, err))
				return -1;
	}
	return 0;
}

int repair_fill(struct store *old, struct store *new, const struct paths *paths,
		struct store_repair *r, struct err *err)
{
	struct strings faults = { 0 };
	char version[80];
	int rc;

	sqlite3_snprintf(sizeof(version), version, "PRAGMA application_id = %d;"
			 "PRAGMA user_version = %d", STORE_APPLICATION_ID, schema_version());
	if (repair_run(new, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE", err) ||
	    repair_run(new, schema_text, err) || repair_run(new, version, err) ||
	    copy_tables(old, new, r, err) ||
	    keep_numbers(old, new, paths, err) || drop_orphans(new, r, err) ||
	    repair_settle_jobs(new, r, err) ||
	    repair_keep_identity(new, paths, &r->identity, err) ||
	    repair_run(new, "COMMIT", err))
		return -1;
	rc = store_check(new, &faults, err);
	if (rc == 0 && faults.count)
		rc = err_set(err, EX_SOFTWARE, "the new store is not sound: %s", faults.items[0]);
	/* The log has to be copied into the file, since only the file is renamed, and sqlite3_close
	 * does not report a full disk. */
	if (rc == 0 && sqlite3_wal_checkpoint_v2(new->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
						 NULL) != SQLITE_OK)
		rc = sql_error(new, err, "write");
	strings_release(&faults);
	return rc;
}
