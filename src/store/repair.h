/* repair.h - what goes into a repaired store; private to the store. */
#ifndef POLLUX_STORE_REPAIR_PARTS_H
#define POLLUX_STORE_REPAIR_PARTS_H

#include "pollux/store_repair.h"

/* --- the content of a repaired store --- */

/* Makes the tables of the new store, copies what can be read of the old one, and removes rows that
 * belong to lost jobs or runs. Fills *r, except kept. Afterwards the file of the new store alone
 * has all of it. */
int repair_fill(struct store *old, struct store *new, const struct paths *paths,
		struct store_repair *r, struct err *err);

/* --- what a repaired store says in place of rows that were lost --- */

int repair_run(struct store *s, const char *sql, struct err *err);

/* Ends runs and fails jobs that passes could not go on with: a run without its devices, a running
 * job without a run, a waiting job without a command or without its environment. The environment
 * gets a row without variables, so that no later environment gets its number. */
int repair_settle_jobs(struct store *new, const struct store_repair *r, struct err *err);

/* If the store's name was lost, takes the name from the files logs/JOB.store: the one in the file
 * of a job that was submitted at the time in that file, else the only name in all files. Without a
 * name there makes a new one. */
int repair_keep_identity(struct store *new, const struct paths *paths, enum repaired_identity *kept,
			 struct err *err);

#endif
