/* repair_fill.c - fills a new store with what can be read of a damaged one. */
#include "database.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/file.h"
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

/* What a job gets for a value that it must have, where the damage took the whole column: the value
 * that submit gives where nothing was said. A job whose state is lost is held. */
static const struct {
	const char *column, *value;
} stand_ins[] = {
	{ "state", "'held'" }, { "name", "'?'" }, { "workload", "'?'" }, { "submit_time_s", "0" },
	{ "min_replicas", "1" }, { "max_replicas", "1" }, { "weight", "1" },
	{ "preemption", "'saved'" }, { "retries", "0" }, { "stop_signal", "15" },
	{ "grace_s", "60" },
};

/* What the new table gets for a column: a value of the old one, or what stands in for it; NULL:
 * its default. */
static const char *value_for(const struct copy *c, const char *column, bool has)
{
	if (has)
		return "?";
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++)
		if (!strcmp(c->name, "jobs") && !strcmp(column, stand_ins[i].column))
			return stand_ins[i].value;
	return NULL;
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
		const char *value;
		struct err ignored;
		bool has;

		sql_get(c->old, &ignored, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?",
			"b<tt", &has, c->name, column);
		value = value_for(c, column, has);
		if (value) {
			text_addf(&columns, "%s%s", columns.length ? ", " : "", column);
			text_addf(&values, "%s%s", values.length ? ", " : "", value);
		}
		if (has)
			text_addf(&selected, "%s%s", selected.length ? ", " : "", column);
		free(column);
	}
	sql_done(q);
	c->columns = text_detach(&columns);
	c->values = text_detach(&values);
	c->selected = text_detach(&selected);
	return rc;
}

/* The row's number, or the first column of the primary key. */
static int find_key(struct copy *c, struct err *err)
{
	char *sql = xasprintf("SELECT rowid FROM %s LIMIT 1", c->name);
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(c->new->db, sql, -1, &q, NULL) == SQLITE_OK)
		c->key = xstrdup("rowid");
	sqlite3_finalize(q);
	free(sql);
	return c->key ? 0 : sql_get(c->new, err, "SELECT name FROM pragma_table_info(?)"
				    " WHERE pk = 1 AND type = 'INTEGER'", "t<t", &c->key, c->name);
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

/* Finds a key behind the damage, which ends somewhere beyond the last row that was read. Looks
 * ahead in steps that double. */
static bool find_behind(struct copy *c, int64_t *key)
{
	int rc = SQLITE_OK;

	for (int64_t step = 1; rc != SQLITE_ROW && rc != SQLITE_DONE && step < INT64_MAX / 4;
	     step *= 2) {
		char *sql = xasprintf("SELECT %s FROM %s WHERE %s >= %lld ORDER BY %s LIMIT 1",
				      c->key, c->name, c->key, (long long)c->last + step, c->key);
		sqlite3_stmt *q = NULL;

		rc = sqlite3_prepare_v2(c->old->db, sql, -1, &q, NULL);
		if (rc == SQLITE_OK)
			rc = sqlite3_step(q);
		if (rc == SQLITE_ROW)
			*key = sqlite3_column_int64(q, 0);
		sqlite3_finalize(q);
		free(sql);
	}
	return rc == SQLITE_ROW;
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
	int64_t n;
	struct err ignored;
	int rc;

	*t = (struct repaired_table){ .name = xstrdup(name), .unread = -1 };
	rc = find_key(&c, err) || name_columns(&c, err) ? -1 : 0;
	if (rc == 0 && *c.selected) {
		char *insert = xasprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", name,
					 c.columns, c.values);

		if (sqlite3_prepare_v2(new->db, insert, -1, &c.insert, NULL) != SQLITE_OK)
			rc = sql_error(new, err, "write");
		else
			rc = copy_rows(&c, &all, err);
		free(insert);
	}
	t->copied = c.copied;
	if (sql_get(old, &ignored, count, "i<", &n) == 0 && n >= c.copied && c.selected &&
	    *c.selected)
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

/* --- what belongs to what was lost --- */

static int drop_orphans(struct store *new, struct store_repair *r, struct err *err)
{
	int rc = 0;

	for (int dropped = 1; dropped > 0;) {
		dropped = 0;
		for (int i = 0; rc == 0 && i < r->count; i++) {
			struct strings deletions = { 0 };

			rc = read_texts(new, &deletions, "SELECT 'DELETE FROM ' || ?1 || ' WHERE '"
					" || \"from\" || ' NOT IN (SELECT ' || \"to\" || ' FROM '"
					" || \"table\" || ')' FROM pragma_foreign_key_list(?1)",
					r->items[i].name, err);
			for (size_t k = 0; rc == 0 && k < deletions.count; k++) {
				int n = 0;

				rc = sql_run(new, &n, err, deletions.items[k], "");
				r->items[i].orphans += n;
				dropped += n;
			}
			strings_release(&deletions);
		}
	}
	return rc;
}

/* --- what stands in place of rows that were lost --- */

static int run(struct store *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK
		? 0 : sql_error(s, err, "write");
}

/* Ends runs and fails jobs that passes could not go on with: a run without its devices (a suspended
 * run has none), a running job without a run, a waiting job without a command or without its
 * environment. The environment gets a row without variables, so that no later environment gets its
 * number. */
static int settle_jobs(struct store *new, const struct store_repair *r, struct err *err)
{
	bool lost = true;

	for (int i = 0; i < r->count; i++)
		if (!strcmp(r->items[i].name, "run_devices"))
			lost = r->items[i].unread != 0;
	if (lost && run(new, "UPDATE runs SET state = 'ended', outcome = 'lost'"
			" WHERE state <> 'ended' AND replicas > 0"
			" AND id NOT IN (SELECT run_id FROM run_devices)",
			err))
		return -1;
	return run(new,
		   "UPDATE jobs SET state = 'queued' WHERE state = 'running' AND NOT EXISTS"
		   " (SELECT 1 FROM runs WHERE job_id = jobs.id AND state <> 'ended');"
		   "UPDATE jobs SET state = 'failed',"
		   " reason = 'its command was lost with the damaged store' WHERE state IN"
		   " ('queued', 'held') AND id NOT IN (SELECT job_id FROM commands);"
		   "INSERT INTO environments (id, names_only, env)"
		   " SELECT DISTINCT environment_id, 1, x'' FROM commands"
		   " WHERE environment_id NOT IN (SELECT id FROM environments);"
		   "UPDATE jobs SET state = 'failed', reason = 'its environment was lost with the"
		   " damaged store: pollux requeue --take-env ' || id || ' gives the job another'"
		   " WHERE state IN ('queued', 'held') AND id IN (SELECT job_id FROM commands"
		   "  JOIN environments e ON e.id = environment_id WHERE e.names_only)", err);
}

#define CLAIM_SIZE 128

/* A file logs/JOB.store has "NAME TIME", or "NAME" alone if an earlier pollux wrote it. */
static bool read_claim(const struct paths *paths, const char *file, char claim[CLAIM_SIZE])
{
	char *path = xasprintf("%s/logs/%s", paths->dir, file);
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n = fd >= 0 ? read(fd, claim, CLAIM_SIZE - 1) : 0;

	if (fd >= 0)
		close(fd);
	free(path);
	claim[n > 0 ? n : 0] = '\0';
	n = (ssize_t)strspn(claim, "0123456789abcdef");
	return n == 32 && (claim[n] == '\0' || claim[n] == ' ');
}

static int name_by_jobs(struct store *new, const struct paths *paths, char **name, struct err *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(new, &q, err, "SELECT id || '.store', submit_time_s FROM jobs"
			   " ORDER BY id DESC", "");

	while (rc == 0 && !*name && (rc = sql_row(new, q, err)) == 1) {
		char *file = sql_text(q, 0), *time = xasprintf("%.6f", sql_double(q, 1));
		char claim[CLAIM_SIZE];

		if (read_claim(paths, file, claim) && claim[32] && !strcmp(claim + 33, time))
			*name = xasprintf("%.32s", claim);
		free(file);
		free(time);
		rc = 0;
	}
	sql_done(q);
	return rc;
}

/* NULL: no file names a store, or two files name different ones. */
static char *only_name(const struct paths *paths)
{
	char *path = xasprintf("%s/logs", paths->dir), *name = NULL;
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool differ = false;

	while (dir && !differ && (entry = readdir(dir))) {
		const char *suffix = strrchr(entry->d_name, '.');
		char claim[CLAIM_SIZE];

		if (!suffix || strcmp(suffix, ".store") != 0 ||
		    !read_claim(paths, entry->d_name, claim))
			continue;
		differ = name && strncmp(name, claim, 32) != 0;
		name = name ? name : xasprintf("%.32s", claim);
	}
	if (dir)
		closedir(dir);
	free(path);
	if (differ) {
		free(name);
		name = NULL;
	}
	return name;
}

/* If the store's name was lost, takes the name from the files logs/JOB.store: the one in the file
 * of a job that was submitted at the time in that file, else the only name in all files. Without a
 * name there makes a new one. */
static int keep_identity(struct store *new, const struct paths *paths,
			 enum repaired_identity *kept, struct err *err)
{
	char *name;
	int rc = store_setting_get(new, "store_id", &name, err);

	*kept = IDENTITY_COPIED;
	if (rc || name) {
		free(name);
		return rc;
	}
	rc = name_by_jobs(new, paths, &name, err);
	if (rc == 0 && !name)
		name = only_name(paths);
	*kept = name ? IDENTITY_FROM_LOGS : IDENTITY_NEW;
	if (rc == 0 && name)
		rc = store_setting_set(new, "store_id", name, err);
	else if (rc == 0)
		rc = store_identity(new, &name, err);
	free(name);
	return rc;
}

/* The numbers of lost jobs are not used again, because their checkpoints may still be there. */
int repair_fill(struct store *old, struct store *new, const struct paths *paths,
		struct store_repair *r, struct err *err)
{
	struct strings names = { 0 }, faults = { 0 };
	struct err ignored;
	sqlite3_stmt *q;
	int rc = run(new, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE", err) ||
		 run(new, schema_text, err) ||
		 read_texts(new, &names, "SELECT name FROM sqlite_schema WHERE type = 'table'"
			    " AND name NOT LIKE 'sqlite_%' ORDER BY rowid", NULL, err);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		r->items = xgrow(r->items, r->count, sizeof(*r->items));
		rc = copy_table(old, new, names.items[i], &r->items[r->count++], err);
	}
	strings_release(&names);
	if (rc == 0 &&
	    sql_query(old, &q, &ignored, "SELECT name, seq FROM sqlite_sequence", "") == 0) {
		while (rc == 0 && sql_row(old, q, &ignored) == 1) {
			char *name = sql_text(q, 0);

			rc = store_raise_number(new, name, sql_int(q, 1, 0), err);
			free(name);
		}
		sql_done(q);
	}
	if (rc || store_number_past_leftovers(new, paths, err) || drop_orphans(new, r, err) ||
	    settle_jobs(new, r, err) || keep_identity(new, paths, &r->identity, err) ||
	    run(new, "COMMIT", err))
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
