/* store_session.h - which store this is, who keeps it, and how a process waits for it; private
 * to the store. */
#ifndef POLLUX_STORE_SESSION_H
#define POLLUX_STORE_SESSION_H

#include <stdbool.h>

#include "pollux/store.h"
#include "pollux/text.h"

/* --- where the numbers of a new store begin --- */

/* For the transaction that makes the tables. Logs and checkpoint directories that are there already
 * belong to another store: the first job gets a greater number than all of them. s->left_by_another
 * is the greatest of their numbers. */
int store_number_past_leftovers(struct store *s, const struct paths *paths, struct err *err);

/* The next row of the table gets a greater id than number. The ids of the table count up. */
int store_raise_number(struct store *s, const char *table, int64_t number, struct err *err);

/* --- which process keeps others from the store --- */

/* Adds ", by process 17 (pollux), which is stopped: ..." for the process that has SQLite's locks of
 * this store; a stopped one first. Adds nothing where the kernel does not tell, or where the lock
 * is free again. Opens none of the files: to close one would drop this process's own locks. */
void store_holder_add(const char *path, struct text *t);

/* --- how long, and in which order, processes wait for the store's lock --- */

/* Makes s wait in the queue when the store is locked. s must stay at its address. The caller of
 * SQLite leaves the queue afterwards by turn_leave(&s->turn). */
void store_wait_set(struct store *s, enum store_mode mode);

#endif
