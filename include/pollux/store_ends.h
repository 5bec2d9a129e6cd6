/* store_ends.h - jobs that have ended, and whose end nobody was told of yet. */
#ifndef POLLUX_STORE_ENDS_H
#define POLLUX_STORE_ENDS_H

#include "pollux/store.h"

/* *left: whether the end of a job is left to be told. all: of any job, else only of jobs that have
 * a command of their own (on_end). All other ends, and those of profiles, count as told from here
 * on; the store is written only if there are any. */
int store_ends_left(struct store *s, bool all, bool *left, struct err *err);

/* Takes the end of the job with the least number: it counts as told from here on, whatever becomes
 * of the caller. *id is 0 where no end is left. */
int store_ends_take(struct store *s, bool all, int64_t *id, struct err *err);

#endif
