/* database.h - the file of the store: tables, sessions, repair; private to the store. */
#ifndef POLLUX_STORE_DATABASE_H
#define POLLUX_STORE_DATABASE_H

#include <stdbool.h>

#include "pollux/store.h"
#include "pollux/text.h"

/* --- the tables of the store, and its versions; see schema.c --- */

/* "polx", in the file's header: tells a pollux store from another SQLite file. */
#define STORE_APPLICATION_ID 0x706f6c78
/* The oldest version that is taken over, and the last commit whose program takes over older ones
 * (all since the first, up to this version). */
#define SCHEMA_OLDEST 45
#define SCHEMA_OLDEST_COMMIT "774a23a1"

/* SQL that makes the tables in an empty file, with its identity and version */
extern const char schema_text[];

int schema_version(void);		/* the version that this program writes */
/* EX_DATAERR: the store at path was written by a newer pollux, or by one that is too old. 0: it has
 * no tables yet. */
int schema_takes(int64_t version, const char *path, struct err *err);
/* Brings a store of version SCHEMA_OLDEST or later up to date; within the caller's transaction. */
int schema_bring_up(struct store *s, int version, struct err *err);

/* An empty store in memory, for the caller to close by sql_close. */
int schema_fresh(struct store *fresh, struct err *err);
/* Adds the text of each row that one store lists (text, of what, name) and of which the question to
 * the other store (of what, name) is not true. */
int schema_compare(struct store *one, struct store *other, const char *list, const char *question,
		   struct strings *found, struct err *err);
#define SCHEMA_HAS_NAME "SELECT count(*) FROM sqlite_schema WHERE ?1 = '' AND name = ?2"

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

/* --- what goes into a repaired store --- */

/* Makes the tables of the new store, copies what can be read of the old one, and removes rows that
 * belong to lost jobs or runs. Fills *r, except kept. Afterwards the file of the new store alone
 * has all of it. */
int repair_fill(struct store *old, struct store *new, const struct paths *paths,
		struct store_repair *r, struct err *err);

#endif
