/* report_socket.h - the Unix datagram socket that a run's reports go to. */
#ifndef POLLUX_REPORT_SOCKET_H
#define POLLUX_REPORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"

/* True if a socket can have this path: it has at most 107 bytes. */
bool report_socket_fits(const char *path);

/* Makes the socket with mode 0600, and replaces an older one. Returns a descriptor (close-on-exec,
 * non-blocking), or -1 with *err. */
int report_socket_open(const char *path, struct err *err);

/* Sends one datagram, and waits at most wait_s for a slow receiver. -1 with *err (EX_UNAVAILABLE):
 * nobody took the datagram. */
int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, struct err *err);

#endif
