/* columns.h - the short words in which tables of columns are written; private to the store. */
#ifndef POLLUX_STORE_COLUMNS_WORDS_H
#define POLLUX_STORE_COLUMNS_WORDS_H

#include <stddef.h>

#include "pollux/store_columns.h"

/* A row: column, type, member of ROW, which value is unknown, flags. pollux/field.h
 * and pollux/store_columns.h explain the long forms of these words. */
#define C(column, type, member, unknown, flags) \
	{ { column, FIELD_##type, offsetof(ROW, member), unknown, NULL, 0 }, flags }
#define NAMES(column, member, unknown, names, flags) \
	{ { column, FIELD_NAME, offsetof(ROW, member), unknown, &(names), 0 }, flags }
#define CHARS(column, member, flags) \
	{ { column, FIELD_CHARS, offsetof(ROW, member), FIELD_UNKNOWN_ZERO, NULL, \
	    sizeof(((ROW *)0)->member) }, flags }

#define KNOWN FIELD_KNOWN
#define ZERO FIELD_UNKNOWN_ZERO
#define UNKNOWN FIELD_UNKNOWN_NAN
#define NEGATIVE FIELD_UNKNOWN_NEGATIVE
#define SHOWN COLUMN_SHOWN
#define BLOB COLUMN_BLOB
#define REPORT COLUMN_REPORT
#define END COLUMN_END
#define WANTED COLUMN_WANTED
#define STOP COLUMN_STOP
#define SUSPENSION COLUMN_SUSPENSION
#define FREEZE COLUMN_FREEZE
#define GIVEN COLUMN_GIVEN
#define NOT_NULL COLUMN_NOT_NULL
#define KEY COLUMN_KEY
#define COMPUTED COLUMN_COMPUTED
#define CHANGE COLUMN_CHANGE
#define ASIDE COLUMN_ASIDE
#define OF_RUN COLUMN_RUN
#define RUN_WANTED COLUMN_RUN_WANTED
#define OBSERVED COLUMN_OBSERVED
#define GRADIENT COLUMN_GRADIENT
#define TRIED COLUMN_TRIED
#define OF_TIER COLUMN_TIER
#define INHERITED COLUMN_INHERITED

/* A part of a table: the columns of a struct that is a member of ROW; more of struct table_part may
 * follow. */
#define PART(of, member) .columns = &(of), .offset = offsetof(ROW, member)
/* Columns that are stored with the run of a row. */
#define OF_ITS_RUN .flags = GIVEN, .owner = "runs"

#define COLUMNS(array) { (array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0]) }
/* A table of rows of ROW that has these columns alone. */
#define TABLE_OF(name, array) \
	{ name, sizeof(ROW), { { .columns = &(const struct store_columns)COLUMNS(array) } } }

#endif
