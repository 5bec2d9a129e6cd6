/* store_check.h - whether the store is sound. */
#ifndef POLLUX_STORE_CHECK_H
#define POLLUX_STORE_CHECK_H

#include "pollux/store.h"
#include "pollux/text.h"

/* Adds a line for each fault that SQLite's quick_check finds, and for each table, index, trigger
 * and column that a store of this version has and this one lacks; 20 lines at most. */
int store_check(struct store *s, struct strings *faults, struct err *err);
/* True if the file is of another program, or of a newer pollux: nothing is to be repaired there. */
bool store_is_foreign(const struct paths *paths);
int store_has_job(struct store *s, int64_t id, bool *has, struct err *err);
/* The last number that the store has given to a job, or found in the directory when it was made. */
int store_last_job(struct store *s, int64_t *id, struct err *err);
int store_count_jobs(struct store *s, int64_t *n, struct err *err);

#endif
