/* schema.h - the tables of the store, and its versions; see schema.c. */
#ifndef POLLUX_STORE_SCHEMA_H
#define POLLUX_STORE_SCHEMA_H

#include "pollux/store.h"

/* "polx", in the file's header: tells a pollux store from another SQLite file. */
#define STORE_APPLICATION_ID 0x706f6c78
/* The oldest version that is taken over, and the last commit whose program takes over older ones
 * (all since the first, up to this version). */
#define SCHEMA_OLDEST 45
#define SCHEMA_OLDEST_COMMIT "774a23a1"

extern const char schema_text[];	/* SQL that makes the tables in an empty file */

int schema_version(void);		/* the version that this program writes */
/* EX_DATAERR: the store at path was written by a newer pollux, or by one that is too old. 0: it has
 * no tables yet. */
int schema_takes(int64_t version, const char *path, struct err *err);
/* Brings a store of version SCHEMA_OLDEST or later up to date; within the caller's transaction. */
int schema_bring_up(struct store *s, int version, struct err *err);

/* An empty store in memory, to compare with; release it with schema_forget. */
int schema_fresh(struct store *fresh, struct err *err);
void schema_forget(struct store *fresh);

#endif
