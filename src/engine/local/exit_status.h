/* exit_status.h - the exit status of a process that is no child of the caller; private to
 * src/engine/local.
 *
 * Its parent alone is told the status. Others may read it from /proc until the parent has waited
 * for the process, and from Linux 6.15 on from a pidfd after that. In between, and always on older
 * kernels once the parent was faster, nobody can tell. */
#ifndef POLLUX_RUN_EXIT_STATUS_H
#define POLLUX_RUN_EXIT_STATUS_H

#include <sys/types.h>

/* Opens what exit_status_read reads first; the process has to live. -1: it cannot be read. */
int exit_status_open(pid_t pid);
/* The status, as of wait(2), of the process that has ended. Each descriptor was opened while the
 * process lived, or is -1. -1: nobody can tell. */
int exit_status_read(int stat_fd, int pidfd);

#endif
