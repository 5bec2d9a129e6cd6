/* supervisor_driver.c - ask a driver in a child, with a deadline, because some drivers hang for
 * ever. The loop goes on meanwhile and polls the pipe of the answer. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device.h"
#include "pollux/mem.h"
#include "supervisor.h"
#include "supervisor_driver.h"

#define DONE 'd'		/* comes after the last process: the answer is whole */

/* Runs in the child. It first gives up what it inherited, because it may outlive the run: it must
 * not hold the run's locks. */
static _Noreturn void answer_question(const struct run *run, int fd)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);
	int n = 0, replicas = run->configuration.replicas;
	struct device_process *list = NULL;
	struct device_energy *energy = xcalloc((size_t)replicas, sizeof(*energy));
	struct err ignored;

	if (dup2(fd, 0) < 0)
		_exit(1);
	close_range(3, ~0U, 0);
	setsid();
	if (backend->processes(run->devices, replicas, &list, &n, energy, &ignored) == 0) {
		driver_child_write(0, energy, (size_t)replicas * sizeof(*energy));
		driver_child_write(0, list, (size_t)n * sizeof(*list));
		driver_child_write(0, &(char){ DONE }, 1);
	}
	_exit(0);
}

static void stop_waiting(struct driver_question *d)
{
	close(d->fd);
	free(d->bytes);
	d->fd = -1;
	d->bytes = NULL;
	if (!d->pid)
		d->until_boot_s = INFINITY;
}

/* The child may hang until now even after its answer, because a driver's files are closed after the
 * pipe. */
void supervisor_driver_ended(struct supervisor *s)
{
	s->driver.pid = 0;
	if (s->driver.fd < 0)
		s->driver.until_boot_s = INFINITY;
}

/* Gives the processes of the answer to driver.then, or none if the answer is not whole; the
 * counters of energy before them are used here. */
static void tell_processes(struct supervisor *s)
{
	struct driver_question *d = &s->driver;
	int replicas = s->run.configuration.replicas;
	size_t head = (size_t)replicas * sizeof(struct device_energy);
	struct device_process *list = NULL;
	driver_answer *then = d->then;
	int n = -1;

	if (d->length > head && (d->length - head) % sizeof(*list) == 1 &&
	    d->bytes[d->length - 1] == DONE) {
		supervisor_count_energy(s, (const void *)d->bytes, replicas);
		memmove(d->bytes, d->bytes + head, d->length - head);
		list = (void *)d->bytes;
		n = (int)((d->length - head) / sizeof(*list));
		d->bytes = NULL;
	} else {
		supervisor_count_energy(s, NULL, 0);
	}
	stop_waiting(d);
	then(s, list, n);
}

/* Called when the pipe can be read. The buffer always has room for one more byte. */
void supervisor_read_driver(struct supervisor *s)
{
	struct driver_question *d = &s->driver;
	ssize_t k = read(d->fd, d->bytes + d->length, d->room - d->length);

	if (k < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (k <= 0) {
		tell_processes(s);
		return;
	}
	d->length += (size_t)k;
	if (d->length == d->room)
		d->bytes = xreallocarray(d->bytes, d->room *= 2, 1);
}

/* Kills the child, if possible, and does not wait for it: the loop reaps it. The child may have
 * answered and hang in its exit. */
void supervisor_give_up_driver(struct supervisor *s)
{
	if (s->driver.pid) {
		kill(s->driver.pid, SIGKILL);
		s->driver.hangs = true;
	}
	s->driver.until_boot_s = INFINITY;
	if (s->driver.fd < 0)
		return;
	s->driver.length = 0;
	tell_processes(s);
}

void supervisor_leave_driver(struct supervisor *s)
{
	if (s->driver.pid)
		kill(s->driver.pid, SIGKILL);
	if (s->driver.fd >= 0)
		stop_waiting(&s->driver);
}

static bool start_question(struct supervisor *s)
{
	struct driver_question *d = &s->driver;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	d->pid = fork();
	if (d->pid == 0)
		answer_question(&s->run, ends[1]);
	close(ends[1]);
	if (d->pid < 0) {
		d->pid = 0;
		close(ends[0]);
		return false;
	}
	d->fd = ends[0];
	fcntl(d->fd, F_SETFL, O_NONBLOCK);
	d->hangs = false;
	return true;
}

enum driver_asked supervisor_ask_driver(struct supervisor *s, double limit_s, driver_answer *then)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct driver_question *d = &s->driver;

	if (!backend || !backend->processes || (d->pid && d->hangs))
		return DRIVER_NONE;
	if (d->pid || d->fd >= 0)
		return DRIVER_BUSY;
	if (!start_question(s))
		return DRIVER_NONE;
	d->room = 64 * sizeof(struct device_process);
	d->bytes = xmalloc(d->room);
	d->length = 0;
	d->until_boot_s = clock_boot_s() + limit_s;
	d->then = then;
	return DRIVER_ASKED;
}
