/* repair_fill.c - fills a new store with what can be read of a damaged one. */
#include <stdlib.h>

#include "copy_table.h"
#include "pollux/mem.h"
#include "pollux/store_check.h"
#include "pollux/text.h"
#include "repair_fill.h"
#include "repair_lost.h"
#include "schema.h"
#include "sql.h"
#include "store_identity.h"

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
