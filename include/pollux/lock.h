/* lock.h - locks that the kernel releases when their holder dies.
 *
 * These are open-file-description locks (fcntl(2)). The lock belongs to the descriptor and to every
 * copy that a fork or an exec inherits. The lock is free when the last copy is closed. */
#ifndef POLLUX_LOCK_H
#define POLLUX_LOCK_H

#include <stdbool.h>

#include "pollux/err.h"

/* Takes the lock on path (created with mode 0600) without waiting. Returns the descriptor, which is
 * close-on-exec; LOCK_HELD if another process has the lock; or -1 with *err. */
#define LOCK_HELD (-2)
int lock_take(const char *path, struct err *err);

/* The same for one place of the lock, from 1: several processes may have a place each, but none
 * while another one has the whole lock. Place 0 is the whole. */
int lock_take_place(const char *path, int place, struct err *err);

/* Releases the lock and closes fd. The lock is free even if a child that was forked meanwhile still
 * has a copy of the descriptor. */
void lock_drop(int fd);

/* lock_release() releases the lock, but keeps the descriptor and its copies in other processes
 * open. lock_again() takes the lock again for all of these copies; false: another process has the
 * lock. */
void lock_release(int fd);
bool lock_again(int fd, int place);

/* Looks at a lock without taking the lock. The lock of a missing file is free. */
enum lock_state {
	LOCK_IS_FREE,
	LOCK_IS_HELD,
	/* the file cannot be opened, say, or there are no descriptors left */
	LOCK_CANNOT_BE_TOLD,
};
enum lock_state lock_look(const char *path);

#endif
