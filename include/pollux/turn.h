/* turn.h - a fair queue of processes before something that only one of them can have at a time.
 *
 * A process that waits has a lock on one byte of the queue's file. The byte's offset is the time at
 * which the process came, on the boot clock. The process whose byte is the first one is next. The
 * kernel drops the lock of a process that dies, so nobody waits for the dead. */
#ifndef POLLUX_TURN_H
#define POLLUX_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct turn {
	int fd;			/* the queue's file; -1: not in the queue */
	int64_t came_ns;	/* boot clock; the offset of the byte */
};

#define TURN_NONE ((struct turn){ .fd = -1 })

/* Joins the queue at its end; path is created with mode 0600. False: path cannot be opened or
 * locked, and the process is in no queue. */
bool turn_join(struct turn *t, const char *path);

/* True if nobody in the queue came before this process. */
bool turn_is_next(const struct turn *t);

/* Leaves the queue; harmless outside. */
void turn_leave(struct turn *t);

#endif
