/* status_columns.h - the columns of jobs that a person can choose and sort by: one table of names,
 * for -o, --sort, --csv, the manual and completion. */
#ifndef POLLUX_STATUS_COLUMNS_H
#define POLLUX_STATUS_COLUMNS_H

#include "pollux/status.h"

/* The names, and at the end NULL. */
extern const char *const status_column_names[];

/* Sort status->items by a column, unknown values last; jobs that are equal in it stay in their
 * order. key: a name, or '-' and a name: the largest first. False: there is no such name. */
bool status_sort(struct status *status, const char *key);

/* names: of columns, with commas between, each in status_column_names. In the table names of jobs
 * are whole where there is room for them. */
void status_print_columns(const struct status *status, const char *names,
			  const struct output *out);
/* A line of names, then a line for each job: numbers unrounded, durations in seconds, times in
 * seconds since 1970-01-01 UTC, shares from 0 to 1; nothing for what is not known. */
void status_print_csv(const struct status *status, const char *names, FILE *out);

#endif
