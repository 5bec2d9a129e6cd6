/* store_wait.h - how long, and in which order, processes wait for the store's lock. */
#ifndef POLLUX_STORE_WAIT_H
#define POLLUX_STORE_WAIT_H

#include "pollux/store.h"

/* Makes s wait in the queue when the store is locked. s must stay at its address. The caller of
 * SQLite leaves the queue afterwards by turn_leave(&s->turn). */
void store_wait_set(struct store *s, enum store_mode mode);

#endif
