/* copy_table.h - copy the rows of a damaged table; private to src/store. */
#ifndef POLLUX_STORE_COPY_TABLE_H
#define POLLUX_STORE_COPY_TABLE_H

#include "pollux/store_repair.h"

/* Fills *t, except the orphans. Only columns that both stores have are copied. -1: the new store
 * cannot be written. */
int copy_table(struct store *old, struct store *new, const char *name, struct repaired_table *t,
	       struct err *err);

#endif
