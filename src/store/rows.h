/* rows.h - rows of the tables of store_columns.h, whole or in part; private to the store. */
#ifndef POLLUX_STORE_ROWS_H
#define POLLUX_STORE_ROWS_H

#include "pollux/store_columns.h"
#include "sql.h"

/* The columns of a table that have one of these flags; 0 chooses all columns. */
struct row_columns {
	const struct store_table *table;
	unsigned flags;
};

/* SELECT the columns FROM their table, then rest ("WHERE id = ?"), whose values are bound as sql.h
 * says. Step by sql_row, then sql_done. */
int rows_query(struct store *s, sqlite3_stmt **q, struct err *err, struct row_columns columns,
	       const char *rest, const char *types, ...);
/* Put the present row of such a query into a struct that was initialised: where the store has NULL,
 * the member keeps its value, but a text that is always known becomes "". */
void rows_read(sqlite3_stmt *q, const struct store_table *table, unsigned flags, void *row);

/* Add a row with all columns but those that the store gives. */
int rows_insert(struct store *s, const struct store_table *table, const void *row, struct err *err);
/* Write the columns of the row with this id if the condition (SQL) holds for it. Returns the number
 * of rows written; -1 is an error. */
int rows_update(struct store *s, struct row_columns columns, const void *row, int64_t id,
		const char *condition, struct err *err);

#endif
