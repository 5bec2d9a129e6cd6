/* rows.c - statements from the tables of columns. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "rows.h"

static void add_name(struct text *sql, const struct column_walk *w)
{
	const char *prefix = w->table->parts[w->part].prefix;

	text_add(sql, prefix ? prefix : "");
	text_add(sql, w->column->field.name);
}

/* "a = ?, b = ?, c = ?" if that comes after each name. */
static void add_names(struct text *sql, struct column_walk w, const char *after)
{
	for (const char *separator = ""; column_next(&w); separator = ", ") {
		text_add(sql, separator);
		add_name(sql, &w);
		text_add(sql, after);
	}
}

struct column_walk row_walk(struct row_columns columns)
{
	return (struct column_walk){
		.table = columns.table, .flags = columns.flags, .without = columns.without,
	};
}

/* Prepares "SELECT runs.id, runs.job_id FROM runs", then rest: other tables of the query may have
 * columns of these names. NULL: *err is set. */
static sqlite3_stmt *select_rows(struct store *s, struct row_columns columns, struct err *err,
				 const char *rest, const char *types, va_list *ap)
{
	struct column_walk w = row_walk(columns);
	struct text sql = TEXT_INIT;
	sqlite3_stmt *q;

	for (const char *before = "SELECT "; column_next(&w); before = ", ") {
		const char *owner = w.table->parts[w.part].owner;

		text_add(&sql, before);
		if (!(w.column_flags & COLUMN_COMPUTED))
			text_addf(&sql, "%s.", owner ? owner : w.table->name);
		add_name(&sql, &w);
	}
	text_addf(&sql, " FROM %s %s", columns.table->name, rest);
	sql_vquery(s, &q, err, sql.data, types, ap);
	text_release(&sql);
	return q;
}

/* --- one value --- */

static int bind_integer(sqlite3_stmt *q, int i, const struct column_walk *w, int64_t value)
{
	const struct field *f = &w->column->field;
	bool unknown = (f->unknown == FIELD_UNKNOWN_ZERO && value == 0) ||
		       (f->unknown == FIELD_UNKNOWN_NEGATIVE && value < 0);

	if (unknown && !(w->column_flags & COLUMN_NOT_NULL))
		return sqlite3_bind_null(q, i);
	if (f->type == FIELD_NAME)
		return sqlite3_bind_text(q, i, f->names->names[value], -1, SQLITE_STATIC);
	return sqlite3_bind_int64(q, i, value);
}

/* SQLITE_STATIC: the row stays until the statement is done. */
static int bind_text(sqlite3_stmt *q, int i, const struct column_walk *w, const char *value)
{
	if (!value && (w->column->field.unknown == FIELD_KNOWN ||
		       (w->column_flags & COLUMN_NOT_NULL)))
		value = "";
	if (!value)
		return sqlite3_bind_null(q, i);
	if (w->column_flags & COLUMN_BLOB)
		return sqlite3_bind_blob64(q, i, value, strlen(value), SQLITE_STATIC);
	return sqlite3_bind_text(q, i, value, -1, SQLITE_STATIC);
}

static int bind_field(sqlite3_stmt *q, int i, const struct column_walk *w, const void *row)
{
	const void *member = (const char *)row + w->offset;
	const char *text = member;
	const struct strings *list = member;
	struct text packed = TEXT_INIT;
	int rc;

	switch (w->column->field.type) {
	case FIELD_INT:
	case FIELD_NAME:
	case FIELD_SIGNAL: return bind_integer(q, i, w, *(const int *)member);
	case FIELD_INT64: return bind_integer(q, i, w, *(const int64_t *)member);
	case FIELD_BOOL: return bind_integer(q, i, w, *(const bool *)member);
	case FIELD_TEXT: return bind_text(q, i, w, *(char *const *)member);
	case FIELD_CHARS: return bind_text(q, i, w, *text ? text : NULL);
	case FIELD_BATCH_SIZE: return bind_integer(q, i, w, configuration_batch_size(member));
	case FIELD_STRINGS: break;
	case FIELD_DOUBLE:
	case FIELD_NONE: return sqlite3_bind_double(q, i, *(const double *)member);
	}
	if (list->count == 0 && w->column->field.unknown == FIELD_UNKNOWN_ZERO)
		return sqlite3_bind_null(q, i);
	strings_pack(list, &packed);
	rc = sqlite3_bind_blob64(q, i, packed.data, packed.length, SQLITE_TRANSIENT);
	text_release(&packed);
	return rc;
}

int row_parse_name(const struct field_names *list, const char *name)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->names[i], name))
			return i;
	return list->otherwise;
}

/* Some tables have no local batch size: it is computed from the batch size. Other tables hold the
 * batch size only for people who look into the store. A wanted configuration whose numbers
 * contradict each other, as a person may have written it, is ignored. */
void row_read_batch_size(int64_t batch_size, const struct column_walk *w, struct configuration *c)
{
	int64_t parts = (int64_t)configuration_workers(c) * c->accumulation_steps;

	if ((w->column_flags & COLUMN_WANTED) && batch_size != configuration_batch_size(c))
		c->local_batch_size = 0;
	else if (c->local_batch_size == 0 && parts > 0)
		c->local_batch_size = batch_size / parts;
}

static void read_field(sqlite3_stmt *q, int i, const struct column_walk *w, void *row)
{
	const struct field *f = &w->column->field;
	sqlite3_value *value = sqlite3_column_value(q, i);
	void *member = (char *)row + w->offset;

	if (sqlite3_value_type(value) == SQLITE_NULL) {
		if (f->type == FIELD_TEXT && f->unknown == FIELD_KNOWN)
			*(char **)member = xstrdup("");
		return;
	}
	switch (f->type) {
	case FIELD_INT:
	case FIELD_SIGNAL: *(int *)member = sqlite3_value_int(value); break;
	case FIELD_INT64: *(int64_t *)member = sqlite3_value_int64(value); break;
	case FIELD_BOOL: *(bool *)member = sqlite3_value_int(value) != 0; break;
	case FIELD_DOUBLE: *(double *)member = sqlite3_value_double(value); break;
	case FIELD_TEXT: *(char **)member = sql_text(q, i); break;
	case FIELD_CHARS:
		snprintf(member, f->size, "%s", (const char *)sqlite3_value_text(value));
		break;
	case FIELD_NAME:
		*(int *)member = row_parse_name(f->names, (const char *)sqlite3_value_text(value));
		break;
	case FIELD_STRINGS:
		strings_unpack(member, sqlite3_value_blob(value),
			       (size_t)sqlite3_value_bytes(value));
		break;
	case FIELD_BATCH_SIZE: row_read_batch_size(sqlite3_value_int64(value), w, member); break;
	case FIELD_NONE: break;
	}
}

/* --- rows --- */

void rows_read(sqlite3_stmt *q, struct row_columns columns, void *row)
{
	struct column_walk w = row_walk(columns);

	for (int i = 0; column_next(&w); i++)
		read_field(q, i, &w, row);
}

void rows_release(const struct store_table *table, void *rows, int n)
{
	for (int i = 0; i < n; i++)
		row_release(table, (char *)rows + (size_t)i * table->size);
	free(rows);
}

int rows_get(struct store *s, struct row_columns columns, void *row, struct err *err,
	     const char *rest, const char *types, ...)
{
	sqlite3_stmt *q;
	va_list ap;
	int rc;

	va_start(ap, types);
	q = select_rows(s, columns, err, rest, types, &ap);
	va_end(ap);
	if (!q)
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		rows_read(q, columns, row);
	sql_done(q);
	return rc;
}

int rows_list(struct store *s, struct row_columns columns, void *list, struct err *err,
	      const char *rest, const char *types, ...)
{
	struct rows {
		void *items;
		int count;
	} all = { NULL, 0 };
	const size_t list_size = offsetof(struct rows, count) + sizeof(int);
	size_t size = columns.table->size;
	struct column_walk *walks = NULL;	/* so that no row is read by a walk of its own */
	char *first;
	sqlite3_stmt *q;
	va_list ap;
	int n = 0, rc;

	memcpy(list, &all, list_size);
	va_start(ap, types);
	q = select_rows(s, columns, err, rest, types, &ap);
	va_end(ap);
	if (!q)
		return -1;
	first = xcalloc(1, size);
	if (columns.initial)
		memcpy(first, columns.initial, size);
	else
		row_init(columns.table, first);
	for (struct column_walk w = row_walk(columns); column_next(&w); walks[n++] = w)
		walks = xgrow(walks, n, sizeof(*walks));
	while ((rc = sql_row(s, q, err)) == 1) {
		char *row;

		all.items = xgrow(all.items, all.count, size);
		row = (char *)all.items + (size_t)all.count++ * size;
		memcpy(row, first, size);
		for (int i = 0; i < n; i++)
			read_field(q, i, &walks[i], row);
	}
	sql_done(q);
	free(first);
	free(walks);
	if (rc == 0)
		memcpy(list, &all, list_size);
	else
		rows_release(columns.table, all.items, all.count);
	return rc;
}

/* Runs the statement with the columns bound in their order and, unless id is 0, the id last. */
static int run_bound(struct store *s, const char *sql, struct column_walk w, const void *row,
		     int64_t id, struct err *err)
{
	sqlite3_stmt *q;
	int rc = SQLITE_OK, i = 1;

	if (sql_query(s, &q, err, sql, ""))
		return -1;
	while (rc == SQLITE_OK && column_next(&w))
		rc = bind_field(q, i++, &w, row);
	if (rc == SQLITE_OK && id)
		rc = sqlite3_bind_int64(q, i, id);
	rc = rc == SQLITE_OK ? sql_row(s, q, err) : sql_error(s, err, "use the store");
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

static void add_insert(struct text *sql, struct column_walk all)
{
	text_addf(sql, "INSERT INTO %s (", all.table->name);
	add_names(sql, all, "");
	text_add(sql, ") VALUES (");
	for (const char *mark = "?"; column_next(&all); mark = ", ?")
		text_add(sql, mark);
	text_add(sql, ")");
}

int rows_insert(struct store *s, const struct store_table *table, const void *row, struct err *err)
{
	struct column_walk all = { .table = table, .without = COLUMN_GIVEN };
	struct text sql = TEXT_INIT;
	int rc;

	add_insert(&sql, all);
	rc = run_bound(s, sql.data, all, row, 0, err);
	text_release(&sql);
	return rc;
}

int rows_put(struct store *s, const struct store_table *table, const void *row,
	     const char *condition, struct err *err)
{
	struct column_walk all = { .table = table, .without = COLUMN_GIVEN };
	struct column_walk others = { .table = table, .without = COLUMN_GIVEN | COLUMN_KEY };
	struct text sql = TEXT_INIT;
	const char *separator = " ON CONFLICT DO UPDATE SET";
	int rc;

	for (add_insert(&sql, all); column_next(&others); separator = ",")
		text_addf(&sql, "%s %s = excluded.%s", separator, others.column->field.name,
			  others.column->field.name);
	text_addf(&sql, " WHERE %s", condition);
	rc = run_bound(s, sql.data, all, row, 0, err);
	text_release(&sql);
	return rc;
}

int rows_update(struct store *s, struct row_columns columns, const void *row, int64_t id,
		const char *condition, struct err *err)
{
	struct text sql = TEXT_INIT;
	int rc;

	text_addf(&sql, "UPDATE %s SET ", columns.table->name);
	add_names(&sql, row_walk(columns), " = ?");
	text_addf(&sql, " WHERE id = ? AND %s", condition);
	rc = run_bound(s, sql.data, row_walk(columns), row, id, err);
	text_release(&sql);
	return rc ? -1 : sqlite3_changes(s->db);
}
