/* log_keeper.h - a process that writes what a run prints into the log; private to engine/local.
 *
 * A program can open its standard output by name ('>/dev/stderr', open("/dev/stdout", "w")). If it
 * were the log, the file would be truncated, and what all runs had printed would be gone. So it is
 * a FIFO, run/RUN.out, which can be opened again but not truncated. A process of its own,
 * 'pollux keep-log RUN', writes from there into the log.
 *
 * Nothing that ends this process or the supervisor ends the program: the program's descriptors are
 * open for reading, too, so the kernel never sends SIGPIPE. While nobody reads, the FIFO holds what
 * the program prints, and the program waits where that is more than LOG_KEEPER_ROOM. The
 * supervisor then starts another keeper; so does a supervisor that takes over. A keeper whose
 * supervisor was killed goes on. The keeper ends when no process has the FIFO open for writing. */
#ifndef POLLUX_RUN_LOG_KEEPER_H
#define POLLUX_RUN_LOG_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "pollux/err.h"

#define LOG_KEEPER_ROOM (256 << 10)	/* bytes; less where the user has too many pipes */

struct log_keeper {
	int fd;			/* the reading end; -1: the run has no FIFO */
	pid_t pid;		/* of the keeper; 0: another supervisor's, if there is one */
	bool done;		/* it has written all */
};

/* Makes the FIFO. Returns the descriptor for the program, or -1 with *err. */
int log_keeper_make(struct log_keeper *k, const char *path, struct err *err);
/* Opens the FIFO of a run that another supervisor started. No FIFO is no error. */
void log_keeper_open(struct log_keeper *k, const char *path);
/* Starts a keeper if there is none. log_fd: of the log, for appending. */
int log_keeper_tend(struct log_keeper *k, int log_fd, long long run_id, struct err *err);
/* The supervisor has reaped the keeper. */
void log_keeper_ended(struct log_keeper *k, int wait_status);
/* Waits, for a limited time, until all that was printed is in the log; a process that is left may
 * print more later. */
void log_keeper_finish(struct log_keeper *k, int log_fd);
void log_keeper_close(struct log_keeper *k);

/* True if the process is the keeper of the run. */
bool log_keeper_is(pid_t pid, long long run_id);

/* If the file takes more than limit_bytes of the disk: keeps about the first tenth of that and the
 * last six tenths, whole lines, and makes a hole of what is between, after a line that says so. No
 * byte that stays changes its offset, and the program goes on writing. */
int log_limit_keep(const char *path, double limit_bytes, struct err *err);

#endif
