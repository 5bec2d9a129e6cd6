/* preload_poll.c - LD_PRELOAD: poll() fails for want of memory, and adds a byte for each call to
 * the file named in POLL_COUNT_FILE. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void count_call(void)
{
	const char *path = getenv("POLL_COUNT_FILE");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	ssize_t n = fd >= 0 ? write(fd, ".", 1) : 0;

	(void)n;
	if (fd >= 0)
		close(fd);
}

int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	(void)fds;
	(void)nfds;
	(void)timeout;
	count_call();
	errno = ENOMEM;
	return -1;
}

/* What poll() is where the program was built with -D_FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t nfds, int timeout, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t nfds, int timeout, size_t size)
{
	(void)size;
	return poll(fds, nfds, timeout);
}
