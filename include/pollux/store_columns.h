/* store_columns.h - the columns of the store's tables. From these descriptions come the statements
 * that read and write whole rows, and the keys of the status JSON. A new column is a member of a
 * struct, a line in store_columns.c or measured_columns.c (in declaration.c, for what a user asks),
 * and one in the text of schema.c. */
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
	COLUMN_WANTED = 32,	/* read with the configuration that a pass wants for a run */
	COLUMN_STOP = 64,	/* whether and why a run is to stop */
	COLUMN_GIVEN = 128,	/* only read: SQLite sets the value, or another table has it */
	COLUMN_KEY = 256,	/* tells a row from the others; a row that is put keeps it */
	COLUMN_COMPUTED = 512,	/* the name is an expression of SQL */
	COLUMN_SUSPENSION = 2048,	/* of a run's suspension */
	COLUMN_FREEZE = 4096,	/* where the GPU memory of a run is */
	COLUMN_DECLARED = 8192,	/* of what was asked of a job */
	COLUMN_ASIDE = 1 << 14,	/* of a job: no decision of a pass depends on the column */
	COLUMN_CHANGE = 1024,	/* written when a pass wants another configuration for a run */
};

/* The tables that hold a configuration hold these columns of it. */
enum {
	COLUMN_RUN = 1 << 16,		/* of a run */
	COLUMN_OBSERVED = 1 << 17,	/* of an observation */
	COLUMN_TRIED = 1 << 18,		/* of sizes that were tried */
	COLUMN_GRADIENT = 1 << 19,	/* of a window of gradients */
	COLUMN_RUN_WANTED = 1 << 20,	/* wanted for a run */
	COLUMN_TIER = 1 << 22,		/* the tier of an observation */
	COLUMN_INHERITED = 1 << 21,	/* taken from the run where these two have none */
};

struct store_column {
	struct field field;
	unsigned flags;
};

/* The columns of one struct. They stand stride bytes apart, in rows that may hold more than a
 * column; a row without a column has no name there. */
struct store_columns {
	const struct store_column *first;
	int n;
	size_t stride;
};

extern const struct store_columns configuration_columns;

#define TABLE_PARTS 6

/* A part describes a struct that is a member of the struct of a whole row, or the row itself. */
struct store_table {
	const char *name;
	size_t size;			/* of the struct of a whole row */
	struct table_part {
		const struct store_columns *columns;	/* NULL: no more */
		size_t offset;
		unsigned only;		/* the columns that have one of these flags; 0: all */
		unsigned flags;		/* of all columns of the part, beside their own */
		const char *prefix;	/* of their names; NULL: none */
		/* Another table that has them, which a query joins; NULL: this table. */
		const char *owner;
	} parts[TABLE_PARTS];
};

extern const struct store_table jobs_table, commands_table, runs_table, observations_table,
	gradients_table, models_table, device_measurements_table;
/* Sizes that runs tried, and that were measured: parts of runs and of observations. */
extern const struct store_table tried_table, measured_table;

/* Walk through a table: for (struct column_walk w = { .table = t }; column_next(&w);) ... */
struct column_walk {
	const struct store_table *table;
	unsigned flags;			/* only columns that have one of these flags; 0: all */
	unsigned without;		/* and none of these */
	int part, i;
	const struct store_column *column;
	unsigned column_flags;		/* its own, and those of its part */
	size_t offset;			/* of its member in the struct of the whole row */
};

bool column_next(struct column_walk *w);

/* In a row of zeros, sets the unknown values that are not 0: doubles to NaN, integers to -1. */
void row_init(const struct store_table *table, void *row);
/* Frees the texts and lists of a row, which has none afterwards. */
void row_release(const struct store_table *table, void *row);

#endif
