/* store_columns.h - the columns of the tables of jobs, commands and runs. From these descriptions
 * come the statements that read and write whole rows, the keys of the status JSON and, for a
 * column that is newer than version 10, its place in the schema: a new column is a member of a
 * struct and one line here (or in declaration.c, for what a user asks). */
#ifndef POLLUX_STORE_COLUMNS_H
#define POLLUX_STORE_COLUMNS_H

#include <stdbool.h>

#include "pollux/field.h"

/* Where a column is used besides in whole rows, and how it is stored. */
enum {
	COLUMN_NOT_NULL = 1,	/* an unknown value is stored as it is, not as NULL */
	COLUMN_BLOB = 2,	/* the text may have any bytes, as file names may */
	COLUMN_SHOWN = 4,	/* a key of the status JSON as it is */
	COLUMN_REPORT = 8,	/* written when a supervisor writes what it learnt of its run */
	COLUMN_END = 16,	/* written when the run ends */
	COLUMN_WANTED = 32,	/* of the configuration that a pass wants for a run */
	COLUMN_STOP = 64,	/* whether and why a run is to stop */
	COLUMN_GIVEN = 128,	/* its value is given by the store when a row is added */
};

struct store_column {
	struct field field;
	int since;		/* the version of the schema that has the column first */
	unsigned flags;
};

/* The columns of one struct. They stand stride bytes apart, in rows that may hold more than a
 * column; a row without a column has no name there. */
struct store_columns {
	const struct store_column *first;
	int n;
	size_t stride;
};

#define TABLE_PARTS 3

/* Structs that are members of the struct of a whole row, each with its offset. */
struct store_table {
	const char *name;
	struct {
		const struct store_columns *columns;		/* NULL: no more */
		size_t offset;
	} parts[TABLE_PARTS];
};

extern const struct store_table jobs_table, commands_table, runs_table;
extern const struct store_table *const store_tables[];	/* these, and NULL */

/* Walk through a table: for (struct column_walk w = { .table = t }; column_next(&w);) ... */
struct column_walk {
	const struct store_table *table;
	unsigned flags;			/* only columns that have one of these flags; 0: all */
	unsigned without;		/* and none of these */
	int part, i;
	const struct store_column *column;
	size_t offset;			/* of its member in the struct of the whole row */
};

bool column_next(struct column_walk *w);

/* In a row of zeros set what else is unknown: doubles to NaN, integers to -1. */
void row_init(const struct store_table *table, void *row);

#endif
