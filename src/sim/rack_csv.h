/* rack_csv.h - tables whose first or last column is called application, or model. */
#ifndef SIM_RACK_CSV_H
#define SIM_RACK_CSV_H

#include "csv.h"

/* Reads a table with csv_read() that has one of two headings. If the file has neither, the error is
 * that for the first heading. */
int rack_csv_read(struct csv *c, const char *path, const char *const *columns,
		  const char *const *other, int n, struct err *err);

#endif
