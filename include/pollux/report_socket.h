/* report_socket.h - the Unix datagram socket that a run's reports go to. */
#ifndef POLLUX_REPORT_SOCKET_H
#define POLLUX_REPORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"

/* Whether a socket can have this path (107 bytes at most). */
bool report_socket_fits(const char *path);

/* Make it, 0600, in place of one that is there. Returns the descriptor (close-on-exec, does not block),
 * or -1 with *err. */
int report_socket_open(const char *path, struct err *err);

/* Send one datagram, waiting at most wait_s for a receiver that is behind. -1 with *err
 * (EX_UNAVAILABLE) where nobody took it. */
int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, struct err *err);

#endif
