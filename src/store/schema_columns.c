/* schema_columns.c - the columns that the tables of columns (store_columns.h) add to a version. */
#include <stdbool.h>

#include "pollux/store_columns.h"
#include "schema.h"

/* Up to this version the steps make every column; from then on the tables of columns do. */
#define COLUMNS_IN_STEPS 10

int schema_columns_version(void)
{
	int version = 0;

	for (int t = 0; store_tables[t]; t++)
		for (struct column_walk w = { .table = store_tables[t] }; column_next(&w);)
			version = w.column->since > version ? w.column->since : version;
	return version;
}

static const char *sql_type(const struct store_column *c)
{
	switch (c->field.type) {
	case FIELD_DOUBLE: return "REAL";
	case FIELD_TEXT: return c->flags & COLUMN_BLOB ? "BLOB" : "TEXT";
	case FIELD_CHARS:
	case FIELD_NAME: return "TEXT";
	case FIELD_STRINGS: return "BLOB";
	case FIELD_INT:
	case FIELD_INT64:
	case FIELD_BOOL:
	case FIELD_SIGNAL:
	case FIELD_BATCH_SIZE:
	case FIELD_NONE: break;
	}
	return "INTEGER";
}

static void add_column(struct text *sql, const struct column_walk *w)
{
	const struct table_part *part = &w->table->parts[w->part];
	const char *type = sql_type(w->column);
	bool known = w->column->field.unknown == FIELD_KNOWN && (*type == 'I' || *type == 'R');

	text_addf(sql, "ALTER TABLE %s ADD COLUMN %s%s %s%s;", w->table->name,
		  part->prefix ? part->prefix : "", w->column->field.name, type,
		  known ? " NOT NULL DEFAULT 0" : "");
}

void schema_add_columns(int version, struct text *sql)
{
	for (int t = 0; version > COLUMNS_IN_STEPS && store_tables[t]; t++)
		for (struct column_walk w = { .table = store_tables[t], .without = COLUMN_GIVEN };
		     column_next(&w);)
			if (w.column->since == version)
				add_column(sql, &w);
}
