/* lock_holder.h - who holds a lock, and since when.
 *
 * The kernel names no holder of an open-file-description lock. So the holder writes its pid into
 * the file, together with its start time, which distinguishes it from a later process with the same
 * pid. */
#ifndef POLLUX_LOCK_HOLDER_H
#define POLLUX_LOCK_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

/* True if the process took the lock on this file, or was left the descriptor of who did. */
bool lock_is_held_by(const char *path, pid_t pid);

/* What others noticed of a holder. The file keeps it as long as the holder does not sign again. */
struct lock_note {
	double first_boot_s;	/* somebody saw the silence; NaN: nobody has */
	double continued_boot_s;	/* the stopped holder was continued; NaN: it was not */
};

/* Read and write the note about holder h in the lock's file. Both times are NaN if the file cannot
 * be read or has no note about h; a note that cannot be written is lost. */
void lock_note_read(const char *path, const struct lock_holder *h, struct lock_note *note);
void lock_note_write(const char *path, const struct lock_holder *h, const struct lock_note *note);

#endif
