/* store_repair.h - a new store from what can be read of a damaged one. */
#ifndef POLLUX_STORE_REPAIR_H
#define POLLUX_STORE_REPAIR_H

#include "pollux/store.h"

struct repaired_table {
	char *name;		/* owned */
	int64_t copied;		/* rows */
	int64_t unread;		/* rows that could not be read; -1: nobody knows how many */
	int64_t orphans;	/* rows that were dropped, because their job or run is lost */
};

/* Where the new store's name is from. A log or a checkpoint of another name is not used. */
enum repaired_identity { IDENTITY_COPIED, IDENTITY_FROM_LOGS, IDENTITY_NEW };

struct store_repair {
	struct repaired_table *items;	/* owned */
	int count;
	enum repaired_identity identity;
	char *kept;			/* owned: the new name of the damaged store */
};

/* Copies what SQLite can read, table by table and from both sides of the damage, into a new store
 * that takes the place of the old one; the old one is kept. What is below a damaged inner page of a
 * table is lost. EX_TEMPFAIL: a process uses the store, or a run has a supervisor. EX_DATAERR: the
 * file is no store, or of a newer pollux. After an error the store is as it was. The old store is
 * locked until the new one has its place: a process that came meanwhile gets EX_TEMPFAIL from
 * store_begin. */
int store_repair(const struct paths *paths, struct store_repair *r, struct err *err);
void store_repair_release(struct store_repair *r);
/* True if a repair that was killed left its new store beside the old one. */
bool store_repair_left_files(const struct paths *paths);
/* Removes that new store. The next repair does so, too. */
void store_repair_remove_files(const struct paths *paths);

#endif
