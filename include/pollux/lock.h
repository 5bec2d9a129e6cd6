/* lock.h - locks that the kernel lets go of when their holder dies.
 *
 * Open-file-description locks (fcntl(2)): the lock belongs to the descriptor and to every copy of it
 * that a fork or an exec inherits, and is free when the last copy is closed, however that came about. */
#ifndef POLLUX_LOCK_H
#define POLLUX_LOCK_H

#include <stdbool.h>

#include "pollux/err.h"

/* Take the lock on path (created 0600) without waiting. Returns the descriptor (close-on-exec), -1 with
 * *err, or LOCK_HELD where another has it. */
#define LOCK_HELD (-2)
int lock_take(const char *path, struct err *err);

/* Let go of it, also where a child that was forked meanwhile has a copy of the descriptor, and close that. */
void lock_drop(int fd);

/* Whether somebody holds it now; looking does not disturb anyone. A missing file is not held. */
bool lock_is_held(const char *path);

#endif
