/* store_journal.c - the rows of a run for another store, and what comes back in the journal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/store_journal.h"
#include "pollux/store_runs.h"
#include "journal.h"
#include "rows.h"

/* --- rows of a run --- */

static void add_column(sqlite3_stmt *q, int i, struct text *values)
{
	struct journal_value v = { .type = 'n' };

	switch (sqlite3_column_type(q, i)) {
	case SQLITE_INTEGER:
		v.type = 'i';
		v.integer = sqlite3_column_int64(q, i);
		break;
	case SQLITE_FLOAT:
		v.type = 'd';
		v.number = sqlite3_column_double(q, i);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		v.type = sqlite3_column_type(q, i) == SQLITE_TEXT ? 't' : 'b';
		v.bytes = sqlite3_column_blob(q, i);
		v.n = (size_t)sqlite3_column_bytes(q, i);
		if (!v.bytes)
			v.bytes = "";
		break;
	default:
		break;
	}
	journal_add_value(values, &v);
}

static void add_row(sqlite3_stmt *q, const char *table, struct text *items)
{
	struct text sql = TEXT_INIT, values = TEXT_INIT;
	int n = sqlite3_column_count(q);

	text_addf(&sql, "INSERT OR REPLACE INTO %s (", table);
	for (int i = 0; i < n; i++)
		text_addf(&sql, "%s%s", i ? ", " : "", sqlite3_column_name(q, i));
	text_add(&sql, ") VALUES (");
	for (int i = 0; i < n; i++) {
		text_add(&sql, i ? ", ?" : "?");
		add_column(q, i, &values);
	}
	text_add(&sql, ")");
	journal_add_statement(items, sql.data, &values, n);
	text_release(&sql);
	text_release(&values);
}

/* The rows in the order in which rows refer to each other. */
static const struct {
	const char *table, *condition;
} parts[] = {
	{ "settings", "name = 'store_id' AND ?1" },
	{ "job_groups", "id = (SELECT group_id FROM jobs JOIN runs ON runs.job_id = jobs.id"
			" WHERE runs.id = ?1)" },
	{ "jobs", "id = (SELECT job_id FROM runs WHERE id = ?1)" },
	{ "environments", "id = (SELECT environment_id FROM commands WHERE job_id ="
			  " (SELECT job_id FROM runs WHERE id = ?1))" },
	{ "commands", "job_id = (SELECT job_id FROM runs WHERE id = ?1)" },
	{ "job_metrics", "job_id = (SELECT job_id FROM runs WHERE id = ?1)" },
	{ "curve_points", "job_id = (SELECT job_id FROM runs WHERE id = ?1)" },
	{ "rung_results", "job_id = (SELECT job_id FROM runs WHERE id = ?1)" },
	{ "runs", "id = ?1 OR (job_id = (SELECT job_id FROM runs WHERE id = ?1)"
		  " AND state = 'ended')" },
	{ "run_devices", "run_id = ?1" },
};

static int add_part(struct store *s, const char *table, const char *condition, int64_t run_id,
		    struct text *items, struct err *err)
{
	char *sql = xasprintf("SELECT * FROM %s WHERE %s", table, condition);
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err, sql, "i", run_id);

	free(sql);
	if (rc)
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		add_row(q, table, items);
	sql_done(q);
	return rc;
}

int store_run_rows(struct store *s, int64_t run_id, struct text *record, struct err *err)
{
	struct text items = TEXT_INIT;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = add_part(s, parts[i].table, parts[i].condition, run_id, &items, err);
	if (rc == 0)
		journal_add_record(record, &items);
	text_release(&items);
	return rc;
}

/* --- statements --- */

static int bind_value(sqlite3_stmt *q, int i, const struct journal_value *v)
{
	switch (v->type) {
	case 'i': return sqlite3_bind_int64(q, i, v->integer);
	case 'd': return sqlite3_bind_double(q, i, v->number);
	case 't': return sqlite3_bind_text64(q, i, v->bytes, v->n, SQLITE_STATIC, SQLITE_UTF8);
	case 'b': return sqlite3_bind_blob64(q, i, v->bytes, v->n, SQLITE_STATIC);
	default: return sqlite3_bind_null(q, i);
	}
}

static int malformed(struct err *err)
{
	return err_set(err, EX_DATAERR, "the journal of the run is malformed");
}

/* Only rows are written by a journal. */
static bool is_allowed(const char *sql)
{
	return text_starts_with(sql, "INSERT ") || text_starts_with(sql, "UPDATE ") ||
	       text_starts_with(sql, "DELETE ");
}

static int run_item(struct store *s, const struct journal_item *item, const char *end,
		    struct err *err)
{
	char *sql = xasprintf("%.*s", (int)item->sql_length, item->sql);
	const char *p = item->values;
	struct journal_value v;
	sqlite3_stmt *q = NULL;
	int rc = is_allowed(sql) ? sql_query(s, &q, err, sql, "") : malformed(err);

	free(sql);
	for (int i = 1; rc == 0 && i <= item->n_values; i++)
		if (journal_value(&p, end, &v) != 1 || bind_value(q, i, &v) != SQLITE_OK)
			rc = malformed(err);
	if (rc == 0)
		rc = sql_row(s, q, err) < 0 ? -1 : 0;
	sql_done(q);
	return rc;
}

/* The run's own row has by now all that its supervisor wrote, but for how it is to end. */
static int end_run(struct store *s, int64_t run_id, const struct journal_item *item,
		   struct err *err)
{
	char *reason = xasprintf("%.*s", (int)item->reason_length, item->reason);
	struct run run;
	int rc = store_run_get(s, run_id, &run, err);

	if (rc == 0) {
		run.stop_reason = (enum stop_reason)stop_reason_parse(reason);
		if (isfinite(item->stop_boot_s))
			run.stop_boot_s = item->stop_boot_s;
		run.stands_at_samples = item->stands_at_samples;
		rc = run_end_in_transaction(s, &run, err);
	}
	run_release(&run);
	free(reason);
	return rc;
}

static int run_items(struct store *s, int64_t run_id, const char *items, size_t n, struct err *err)
{
	const char *p = items, *end = items + n;
	struct journal_item item;
	int found;

	while ((found = journal_item(&p, end, &item)) == 1)
		if (item.sql ? run_item(s, &item, end, err)
		    : run_id ? end_run(s, run_id, &item, err) : malformed(err))
			return -1;

	return found < 0 ? malformed(err) : 0;
}

int store_rows_put(struct store *s, const char *record, size_t n, struct err *err)
{
	const char *items;
	size_t n_items, size;

	if (journal_record(record, n, &items, &n_items, &size) != JOURNAL_WHOLE)
		return malformed(err);
	if (store_begin(s, err))
		return -1;
	if (run_items(s, 0, items, n_items, err)) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
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
		       " WHERE job_id = ? AND checkpoint_dir IS NULL", "ti",
		       checkpoint_dir, job_id);
}

/* --- the journal --- */

int store_journal_place(struct store *s, int64_t run_id, int64_t *place, struct err *err)
{
	return sql_ask(s, place, err, "SELECT journal_bytes FROM runs WHERE id = ?", "i", run_id);
}

struct record {
	const char *items;
	size_t n;			/* bytes of the items */
	size_t size;			/* bytes of the record in the journal */
	int64_t place;			/* in the journal */
};

enum what_to_do { TAKE_RECORD, PASS_OVER, LEAVE_RECORD };

/* In the transaction that is to take the record. A run that was ended here stays as it is. */
static int look_at_run(struct store *s, int64_t run_id, int64_t place, enum what_to_do *what,
		       struct err *err)
{
	int64_t active, now;

	if (sql_ask(s, &active, err, "SELECT state <> 'ended' FROM runs WHERE id = ?", "i",
		    run_id) ||
	    store_journal_place(s, run_id, &now, err))
		return -1;
	*what = !active ? PASS_OVER : now == place ? TAKE_RECORD : LEAVE_RECORD;
	return 0;
}

/* The handle is the engine's, not the one by which the supervisor's machine finds the run. */
static int take_record(struct store *s, int64_t run_id, const struct record *r, struct err *err)
{
	struct run run;
	int rc;

	if (store_run_get(s, run_id, &run, err))
		return -1;
	rc = run_items(s, run_id, r->items, r->n, err) ||
	     store_run_set_handle(s, run_id, run.handle, err) ||
	     sql_run(s, NULL, err, "UPDATE runs SET journal_bytes = coalesce(journal_bytes, 0) + ?"
		     " WHERE id = ?", "ii", (int64_t)r->size, run_id) ? -1 : 0;
	run_release(&run);
	return rc;
}

static int take_at_its_place(struct store *s, int64_t run_id, const struct record *r,
			     enum what_to_do *what, struct err *err)
{
	if (store_begin(s, err))
		return -1;
	if (look_at_run(s, run_id, r->place, what, err) ||
	    (*what == TAKE_RECORD && take_record(s, run_id, r, err))) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

int store_journal_take(struct store *s, int64_t run_id, const struct journal_part *part,
		       size_t *taken, struct err *err)
{
	enum what_to_do what = TAKE_RECORD;
	enum journal_found found;
	struct record r;

	*taken = 0;
	while ((found = journal_record(part->bytes + *taken, part->n - *taken, &r.items, &r.n,
				       &r.size)) == JOURNAL_WHOLE) {
		r.place = part->place + (int64_t)*taken;
		if (take_at_its_place(s, run_id, &r, &what, err))
			return -1;
		if (what == LEAVE_RECORD)
			return 0;
		*taken += r.size;
	}
	return found == JOURNAL_DAMAGED ? malformed(err) : 0;
}
