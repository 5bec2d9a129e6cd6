/* rows.c - statements from the tables of columns. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pollux/mem.h"
#include "rows.h"

/* "a, b, c"; with " = ?" after each "a = ?, b = ?, c = ?"; without names only what comes after. */
static void add_list(struct text *sql, struct column_walk w, bool names, const char *after)
{
	for (const char *separator = ""; column_next(&w); separator = ", ") {
		text_add(sql, separator);
		text_add(sql, names ? w.column->field.name : "");
		text_add(sql, after);
	}
}

static struct column_walk walk(struct row_columns columns)
{
	return (struct column_walk){ .table = columns.table, .flags = columns.flags };
}

int rows_query(struct store *s, sqlite3_stmt **q, struct err *err, struct row_columns columns,
	       const char *rest, const char *types, ...)
{
	struct text sql = TEXT_INIT;
	va_list ap;
	int rc;

	text_add(&sql, "SELECT ");
	add_list(&sql, walk(columns), true, "");
	text_addf(&sql, " FROM %s %s", columns.table->name, rest);
	va_start(ap, types);
	rc = sql_vquery(s, q, err, sql.data, types, &ap);
	va_end(ap);
	text_release(&sql);
	return rc;
}

/* --- one value --- */

static int bind_integer(sqlite3_stmt *q, int i, const struct store_column *c, int64_t value)
{
	bool unknown = (c->field.unknown == FIELD_UNKNOWN_ZERO && value == 0) ||
		       (c->field.unknown == FIELD_UNKNOWN_NEGATIVE && value < 0);

	if (unknown && !(c->flags & COLUMN_NOT_NULL))
		return sqlite3_bind_null(q, i);
	if (c->field.type == FIELD_NAME)
		return sqlite3_bind_text(q, i, c->field.names->names[value], -1, SQLITE_STATIC);
	return sqlite3_bind_int64(q, i, value);
}

/* SQLITE_STATIC: the row stays until the statement is done. */
static int bind_text(sqlite3_stmt *q, int i, const struct store_column *c, const char *value)
{
	if (!value && c->field.unknown == FIELD_KNOWN)
		value = "";
	if (!value)
		return sqlite3_bind_null(q, i);
	if (c->flags & COLUMN_BLOB)
		return sqlite3_bind_blob(q, i, value, (int)strlen(value), SQLITE_STATIC);
	return sqlite3_bind_text(q, i, value, -1, SQLITE_STATIC);
}

static int bind_strings(sqlite3_stmt *q, int i, const struct strings *list)
{
	struct text packed = TEXT_INIT;
	int rc;

	strings_pack(list, &packed);
	rc = sqlite3_bind_blob64(q, i, packed.data, packed.length, SQLITE_TRANSIENT);
	text_release(&packed);
	return rc;
}

static int bind_field(sqlite3_stmt *q, int i, const struct store_column *c, const void *member)
{
	const char *text = member;
	double number;

	switch (c->field.type) {
	case FIELD_INT:
	case FIELD_NAME:
	case FIELD_SIGNAL: return bind_integer(q, i, c, *(const int *)member);
	case FIELD_INT64: return bind_integer(q, i, c, *(const int64_t *)member);
	case FIELD_BOOL: return bind_integer(q, i, c, *(const bool *)member);
	case FIELD_TEXT: return bind_text(q, i, c, *(char *const *)member);
	case FIELD_CHARS: return bind_text(q, i, c, *text ? text : NULL);
	case FIELD_STRINGS: return bind_strings(q, i, member);
	case FIELD_BATCH_SIZE: return bind_integer(q, i, c, configuration_batch_size(member));
	case FIELD_DOUBLE:
	case FIELD_NONE: break;
	}
	number = *(const double *)member;
	return isnan(number) ? sqlite3_bind_null(q, i) : sqlite3_bind_double(q, i, number);
}

static int parse_name(const struct field_names *list, const char *name)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->names[i], name))
			return i;
	return list->otherwise;
}

/* The store has the batch size for people who look into it. It is read only where a pass asked for
 * a configuration. A configuration whose numbers contradict each other, as a person may have
 * written it, is of no use. */
static void check_batch_size(sqlite3_stmt *q, int i, const struct store_column *c,
			     struct configuration *configuration)
{
	if ((c->flags & COLUMN_WANTED) &&
	    sqlite3_column_int64(q, i) != configuration_batch_size(configuration))
		configuration->local_batch_size = 0;
}

static void read_field(sqlite3_stmt *q, int i, const struct store_column *c, void *member)
{
	const struct field *f = &c->field;

	if (sqlite3_column_type(q, i) == SQLITE_NULL) {
		if (f->type == FIELD_TEXT && f->unknown == FIELD_KNOWN)
			*(char **)member = xstrdup("");
		return;
	}
	switch (f->type) {
	case FIELD_INT:
	case FIELD_SIGNAL: *(int *)member = sqlite3_column_int(q, i); break;
	case FIELD_INT64: *(int64_t *)member = sqlite3_column_int64(q, i); break;
	case FIELD_BOOL: *(bool *)member = sqlite3_column_int(q, i) != 0; break;
	case FIELD_DOUBLE: *(double *)member = sqlite3_column_double(q, i); break;
	case FIELD_TEXT: *(char **)member = sql_text(q, i); break;
	case FIELD_CHARS:
		snprintf(member, f->size, "%s", (const char *)sqlite3_column_text(q, i));
		break;
	case FIELD_NAME:
		*(int *)member = parse_name(f->names, (const char *)sqlite3_column_text(q, i));
		break;
	case FIELD_STRINGS:
		strings_unpack(member, sqlite3_column_blob(q, i),
			       (size_t)sqlite3_column_bytes(q, i));
		break;
	case FIELD_BATCH_SIZE: check_batch_size(q, i, c, member); break;
	case FIELD_NONE: break;
	}
}

/* --- rows --- */

void rows_read(sqlite3_stmt *q, const struct store_table *table, unsigned flags, void *row)
{
	struct column_walk w = { .table = table, .flags = flags };

	for (int i = 0; column_next(&w); i++)
		read_field(q, i, w.column, (char *)row + w.offset);
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
		rc = bind_field(q, i++, w.column, (const char *)row + w.offset);
	if (rc == SQLITE_OK && id)
		rc = sqlite3_bind_int64(q, i, id);
	rc = rc == SQLITE_OK ? sql_row(s, q, err) : sql_error(s, err, "use the store");
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int rows_insert(struct store *s, const struct store_table *table, const void *row, struct err *err)
{
	struct column_walk all = { .table = table, .without = COLUMN_GIVEN };
	struct text sql = TEXT_INIT;
	int rc;

	text_addf(&sql, "INSERT INTO %s (", table->name);
	add_list(&sql, all, true, "");
	text_add(&sql, ") VALUES (");
	add_list(&sql, all, false, "?");
	text_add(&sql, ")");
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
	add_list(&sql, walk(columns), true, " = ?");
	text_addf(&sql, " WHERE id = ? AND %s", condition);
	rc = run_bound(s, sql.data, walk(columns), row, id, err);
	text_release(&sql);
	return rc ? -1 : sqlite3_changes(s->db);
}
