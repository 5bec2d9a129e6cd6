/* supervisor_driver.c - ask a driver in a child, with a deadline: some hang for ever, uninterruptibly. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "supervisor.h"

#define DONE 'd'		/* after the last process: the answer is whole */

static void write_all(int fd, const void *from, size_t n)
{
	const char *p = from;
	ssize_t k;

	while (n > 0 && ((k = write(fd, p, n)) > 0 || errno == EINTR)) {
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
}

/* It gives up what it inherited first: it may outlive the run, and then must not hold its locks, nor be in its
 * session, whose memory is summed. */
static _Noreturn void answer(const struct run *run, int fd)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);
	struct device_process *list = NULL;
	struct err ignored;
	int n = 0;

	if (dup2(fd, 0) < 0)
		_exit(1);
	close_range(3, ~0U, 0);
	setsid();
	if (backend->processes(run->devices, run->replicas, &list, &n, &ignored) == 0) {
		write_all(0, list, (size_t)n * sizeof(*list));
		write_all(0, &(char){ DONE }, 1);
	}
	_exit(0);
}

/* Bytes until the end of file or the deadline, with room for one more entry; *n: how many. */
static char *read_answer(int fd, double until_boot_s, size_t *n)
{
	size_t room = 64 * sizeof(struct device_process);
	char *bytes = xmalloc(room);

	*n = 0;
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		double left_s = until_boot_s - clock_boot_s();
		ssize_t k;

		if (left_s <= 0 || (poll(&p, 1, (int)(left_s * 1e3) + 1) < 0 && errno != EINTR))
			break;
		if (!p.revents)
			continue;
		k = read(fd, bytes + *n, room - *n);
		if (k <= 0 && errno != EINTR)
			break;
		*n += k > 0 ? (size_t)k : 0;
		if (*n == room)
			bytes = xreallocarray(bytes, room *= 2, 1);
	}
	return bytes;
}

/* One that does not end is left behind, killed as far as it can be: the loop reaps it. */
static void end(struct supervisor *s, double until_boot_s)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	pid_t pid;

	while ((pid = waitpid(s->driver_pid, NULL, WNOHANG)) == 0 && clock_boot_s() < until_boot_s)
		nanosleep(&pause, NULL);
	if (pid != 0)
		s->driver_pid = 0;
	else
		kill(s->driver_pid, SIGKILL);
}

static bool start(struct supervisor *s, int *fd)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	s->driver_pid = fork();
	if (s->driver_pid == 0)
		answer(&s->run, ends[1]);
	close(ends[1]);
	if (s->driver_pid > 0) {
		*fd = ends[0];
		return true;
	}
	s->driver_pid = 0;
	close(ends[0]);
	return false;
}

int supervisor_ask_driver(struct supervisor *s, double limit_s, struct device_process **list, int *n)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	double until_boot_s = clock_boot_s() + limit_s;
	size_t length;
	char *bytes;
	int fd;

	*list = NULL;
	*n = 0;
	if (!backend || !backend->processes || s->driver_pid || !start(s, &fd))
		return -1;
	bytes = read_answer(fd, until_boot_s, &length);
	close(fd);
	end(s, until_boot_s);
	if (length % sizeof(**list) != 1 || bytes[length - 1] != DONE) {
		free(bytes);
		return -1;
	}
	*list = (void *)bytes;
	*n = (int)(length / sizeof(**list));
	return 0;
}
