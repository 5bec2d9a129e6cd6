/* report_socket.h - the Unix datagram socket that a run's reports go to. */
#ifndef POLLUX_REPORT_SOCKET_H
#define POLLUX_REPORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pollux/err.h"

/* True if a socket can have this path: it has at most 107 bytes. */
bool report_socket_fits(const char *path);

/* Makes the socket with mode 0600, and replaces an older one. Returns a descriptor (close-on-exec,
 * non-blocking), or -1 with *err. */
int report_socket_open(const char *path, struct err *err);

/* Reads one datagram without waiting. Returns its length, which is above size if the datagram was
 * cut off, or -1. *sender: the process that sent the datagram, as the kernel tells; 0: the kernel
 * cannot name it here. */
ssize_t report_socket_receive(int fd, void *bytes, size_t size, pid_t *sender);

/* Tells who sent the next datagram, and leaves the datagram unread: as long as it is unread, its
 * sender waits in report_socket_send and can be looked at. False: there is no datagram. */
bool report_socket_next_sender(int fd, pid_t *sender);

/* Sends one datagram, and waits at most wait_s for a slow receiver, and as long again until the
 * receiver has read the datagram. *read (NULL: not wanted): whether the receiver has, as far as can
 * be known. -1 with *err (EX_UNAVAILABLE): nobody took the datagram. */
int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, bool *read,
		       struct err *err);

/* Keeps a report that nobody took for the supervisor that comes next: appends it to the file
 * PATH.kept, in the form that pollux-report(1) documents. Nothing is kept if path is no socket, or
 * in a directory that is not there. */
int report_socket_keep(const char *path, const char *bytes, size_t n, struct err *err);

#endif
