/* exit_status.h - the exit status of a process that is no child of the caller; private to
 * src/engine/local.
 *
 * The kernel tells the status to the parent. Until the parent has waited for the process, others
 * may read the status from /proc; after that, from a pidfd, on Linux 6.15 and later. On older
 * kernels nobody else learns the status once the parent has waited. */
#ifndef POLLUX_RUN_EXIT_STATUS_H
#define POLLUX_RUN_EXIT_STATUS_H

#include <sys/types.h>

/* Opens the file in /proc for exit_status_read while the process lives. -1: it cannot be opened. */
int exit_status_open(pid_t pid);
/* The status, as of wait(2), of the process that has ended. Each descriptor was opened while the
 * process lived, or is -1. -1: nobody can tell. */
int exit_status_read(int stat_fd, int pidfd);

#endif
