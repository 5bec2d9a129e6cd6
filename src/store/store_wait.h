/* store_wait.h - how long, and in which order, processes wait for the store's lock. */
#ifndef POLLUX_STORE_WAIT_H
#define POLLUX_STORE_WAIT_H

#include "pollux/store.h"

/* From here on s waits in the queue where the store is locked. s must stay where it is. Whoever
 * has called SQLite leaves the queue: turn_leave(&s->turn). */
void store_wait_set(struct store *s, enum store_mode mode);

#endif
