/* csv.h - comma-separated numbers and names with a heading; every error names its line.
 *
 *	static const char *const columns[] = { "name", "time" };
 *	struct csv c;
 *	if (csv_read(&c, path, columns, 2, err)) ...
 *	for (int row = 0; row < c.n_rows; row++)
 *		if (csv_number(&c, row, 1, (struct csv_range){ 0, 1e9 }, &x, err)) ...
 *	csv_release(&c);
 *
 * The heading has the wanted columns in any order; a column may have several names, such as
 * "application|model". Other columns are not read. Lines may end in CR
 * LF. Refused are quotes, rows longer or shorter than the heading, and blank lines before the last
 * row. A pipe is read to its end. All errors except those of opening and reading the file are
 * EX_DATAERR, "FILE:LINE: ...". */
#ifndef SIM_CSV_H
#define SIM_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"

struct csv {
	char *path;
	char *data;			/* the file; cells point into it */
	const char *const *columns;	/* the caller's */
	int n_columns, n_rows;
	const char **cells;		/* [row * n_columns + column], in the order of columns */
};

int csv_read(struct csv *c, const char *path, const char *const *columns, int n_columns,
	     struct err *err);
void csv_release(struct csv *c);
/* The name of the file without its folder and without ".csv"; to be freed. */
char *csv_base_name(const char *path);

const char *csv_cell(const struct csv *c, int row, int column);
/* The line of the file that the row is on. */
int csv_line(int row);

/* A range of numbers that includes both bounds. */
struct csv_range {
	double low, high;
};

/* A number within the range. */
int csv_number(const struct csv *c, int row, int column, struct csv_range range, double *value,
	       struct err *err);
/* A whole number within the range. */
int csv_whole(const struct csv *c, int row, int column, struct csv_range range, int64_t *value,
	      struct err *err);
/* "FILE:LINE: TEXT" with EX_DATAERR; returns -1. */
int csv_complain(const struct csv *c, int row, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* --- workloads: sim_profiles.c --- */

struct sim_workload;
/* The first columns of each workload: the name of the job, the time of its submission. */
enum { WORKLOAD_NAME, WORKLOAD_TIME };
/* Reads what else a row has: of w->jobs[row], and of w->own. */
typedef int workload_row(const struct csv *c, int row, struct sim_workload *w, const void *data,
			 struct err *err);
struct workload_form {
	const char *const *columns;
	int n_columns;
	workload_row *read;
	size_t own_size;		/* bytes of w->own for each job */
};
/* Reads a workload, whose rows must ascend by time; data is for read. */
int workload_read(struct sim_workload *w, const char *path, const struct workload_form *form,
		  const void *data, struct err *err);

#endif
