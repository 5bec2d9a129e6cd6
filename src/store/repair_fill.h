/* repair_fill.h - the content of a repaired store; private to the store. */
#ifndef POLLUX_STORE_REPAIR_FILL_H
#define POLLUX_STORE_REPAIR_FILL_H

#include "pollux/store_repair.h"

/* Makes the tables of the new store, copies what can be read of the old one, and removes rows that
 * belong to lost jobs or runs. Fills *r, except kept. Afterwards the file of the new store alone
 * has all of it. */
int repair_fill(struct store *old, struct store *new, const struct paths *paths,
		struct store_repair *r, struct err *err);

#endif
