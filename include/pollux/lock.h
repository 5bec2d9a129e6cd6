/* lock.h - locks that the kernel releases when their holder dies, who holds them, and a queue
 * before one. */
#ifndef POLLUX_LOCK_H
#define POLLUX_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/proc.h"

/* Locks are open-file-description locks (fcntl(2)). The lock belongs to the descriptor and to every
 * copy that a fork or an exec inherits. The lock is free when the last copy is closed. */

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

/* Who holds a lock, and since when.
 *
 * The kernel names no holder of an open-file-description lock. So the holder writes its pid into
 * the file, together with its start time, which distinguishes it from a later process with the same
 * pid. */

struct lock_holder {
	int64_t pid;
	double since_boot_s;	/* NaN: not known, the holder has not signed */
	bool is_stopped;	/* by a signal, or by a debugger */
};

/* Writes into the lock's file that this process has held the lock since now. A holder that signs
 * again and again shows that it does not hang. On a full disk the file names nobody. */
void lock_holder_sign(int fd);
/* Clears the signature; to be called before the lock is dropped. */
void lock_holder_clear(int fd);

/* Finds the holder. False: the lock is free, or its holder is not known, because the holder belongs
 * to another container or another boot, is another user's and not visible here, or has died and
 * left the lock to a child. */
bool lock_holder_find(const char *path, struct lock_holder *h);

/* Looks for the holder among the processes that run this program, where the holder has not signed:
 * it took the lock just now, or was stopped before it could sign. */
bool lock_holder_search(const char *path, struct lock_holder *h);

/* True if the lock on a file was taken through this descriptor of a process: the kernel lists it
 * there. fd is a name in /proc/PID/fd. */
bool lock_holds_through(pid_t pid, const char *fd);

/* Lists the processes, without the caller, that took a lock on this file, or were left the
 * descriptor of who did. Others may have the file open to read it. */
void lock_holders(const char *path, struct pid_list *holders);

/* What others noticed of a holder. The file keeps it as long as the holder does not sign again. */
struct lock_note {
	double first_boot_s;	/* somebody saw the silence; NaN: nobody has */
	double continued_boot_s;	/* the stopped holder was continued; NaN: it was not */
};

/* Read and write the note about holder h in the lock's file. Both times are NaN if the file cannot
 * be read or has no note about h; a note that cannot be written is lost. */
void lock_note_read(const char *path, const struct lock_holder *h, struct lock_note *note);
void lock_note_write(const char *path, const struct lock_holder *h, const struct lock_note *note);

/* The lock that the command of a job holds while it lives: 'pollux run' for an interactive job,
 * 'pollux profile' for a profile. */

enum job_lock { JOB_LOCK_INTERACTIVE, JOB_LOCK_PROFILE };

/* Takes the lock, as lock_take() does. */
int job_lock_take(const struct paths *paths, enum job_lock lock, int64_t job_id, struct err *err);

/* True unless the lock is known to be free: only then is the command gone. */
bool job_lock_is_held(const struct paths *paths, enum job_lock lock, int64_t job_id);

/* Removes the file of the lock. A holder of the lock keeps it. */
void job_lock_remove(const struct paths *paths, enum job_lock lock, int64_t job_id);

/* A fair queue of processes before something that only one of them can have at a time.
 *
 * A process that waits has a lock on one byte of the queue's file. The byte's offset is the time at
 * which the process came, on the boot clock. The process whose byte is the first one is next. The
 * kernel drops the lock of a process that dies, so nobody waits for the dead. */

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
