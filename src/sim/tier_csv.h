/* tier_csv.h - tables whose first or last column is called application, or model. */
#ifndef SIM_TIER_CSV_H
#define SIM_TIER_CSV_H

#include "csv.h"

/* csv_read() with one heading, or else with another one. The error is that of the first. */
int tier_csv_read(struct csv *c, const char *path, const char *const *columns,
		  const char *const *other, int n, struct err *err);

#endif
