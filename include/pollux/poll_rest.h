/* poll_rest.h - waiting for descriptors, also where the kernel has no memory for poll(). */
#ifndef POLLUX_POLL_REST_H
#define POLLUX_POLL_REST_H

#include <poll.h>

/* Waits as poll() does. Where poll() fails, and may go on failing, rests for wait_ms, at most 100,
 * so that no loop spins; each descriptor then counts as one that can be read, so reads must not
 * block. Returns poll()'s answer, with its errno. A signal that interrupts is no failure: 0. */
int poll_or_rest(struct pollfd *fds, nfds_t n, int wait_ms);

#endif
