/* poll_rest.c - see poll_rest.h. */
#include <errno.h>
#include <time.h>

#include "pollux/poll_rest.h"

#define REST_MS 100

int poll_or_rest(struct pollfd *fds, nfds_t n, int wait_ms)
{
	int ready = poll(fds, n, wait_ms), error = errno;
	long rest_ms = wait_ms < 0 || wait_ms > REST_MS ? REST_MS : wait_ms > 0 ? wait_ms : 1;
	struct timespec rest = { .tv_nsec = rest_ms * 1000000L };

	if (ready >= 0)
		return ready;
	if (error != EINTR)
		nanosleep(&rest, NULL);
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = error != EINTR && fds[i].fd >= 0 ? POLLIN : 0;
	errno = error;
	return error == EINTR ? 0 : -1;
}
