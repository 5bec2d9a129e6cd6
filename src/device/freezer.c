/* freezer.c - the process that freezes and thaws, and the messages to and from it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device.h"
#include "pollux/file.h"
#include "pollux/freeze.h"

/* Both ends are the same program. A packet is a whole struct; "go on" is one byte. */

static ssize_t receive_bytes(int fd, void *into, size_t size)
{
	ssize_t n;

	do
		n = recv(fd, into, size, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool send_all(int fd, const void *from, size_t size)
{
	ssize_t n;

	do
		n = send(fd, from, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

/* --- the child --- */

/* Ends this process after so many seconds; 0: not any more. Whoever is at the other end of the
 * socket sees that, or has died itself. */
static void end_after(double seconds)
{
	struct itimerval t = {
		.it_value = { (time_t)seconds, (suseconds_t)(fmod(seconds, 1) * 1e6) },
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

static int ask_to_record(enum freeze_state state, void *arg, struct err *err)
{
	struct freezer_news news = { .says = FREEZER_ENTERS, .state = state };
	int fd = *(int *)arg;
	char go;

	if (state != FREEZE_LOCKING)
		end_after(0);
	if (send_all(fd, &news, sizeof(news)) && receive_bytes(fd, &go, 1) == 1)
		return 0;
	return err_set(err, EX_IOERR, "the supervisor is gone");
}

/* Memory of a process becomes free some time after the process has ended or was frozen. */
#define ROOM_S 10.0
#define ROOM_LOOK_MS 200

static int wait_for_room(const struct device_freezer *functions, const struct freezer_order *o,
			 struct err *err)
{
	double until = clock_boot_s() + ROOM_S;

	while (o->task == FREEZER_THAW && o->bytes > 0 &&
	       freeze_check_device(o->bytes, functions->free_bytes(o->device), o->device, err)) {
		if (clock_boot_s() >= until)
			return -1;
		poll(NULL, 0, ROOM_LOOK_MS);
	}
	return 0;
}

static void carry_out(struct freezing *f, const struct freezer_order *o, struct freezer_news *news)
{
	int rc;

	f->pids = o->pids;
	f->n = o->n;
	f->state = o->state;
	f->lock_limit_s = o->lock_limit_s;
	/* While memory is moved no time is too long. Before that, a process that is locked waits
	 * for a driver that may hang for another one (NVIDIA/cuda-checkpoint issues 30 and 45). */
	if (o->task != FREEZER_THAW && o->state <= FREEZE_LOCKING)
		end_after(driver_limit_s() +
			  o->n * (o->lock_limit_s > 0 ? o->lock_limit_s : FREEZE_LOCK_S));
	if (wait_for_room(f->freezer, o, &news->err))
		rc = -1;
	else if (o->task == FREEZER_MEND)
		rc = freeze_mend(f, &news->mended, &news->err);
	else
		rc = freeze_run(f, o->task == FREEZER_FREEZE ? FREEZE_WISHED : THAW_WISHED,
				&news->err);
	end_after(0);
	news->says = rc ? FREEZER_FAILED : FREEZER_DONE;
	news->state = f->state;
	memcpy(news->took_s, f->took_s, sizeof(news->took_s));
}

/* The child: in a session of its own, since it may outlive the caller. */
static _Noreturn void serve(int socket, int keep, const struct device_freezer *functions)
{
	int fd = 3;
	struct freezing f = { .freezer = functions, .record = { ask_to_record, &fd } };
	struct freezer_order order;
	struct err why = { 0 };
	bool opened = false;
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	/* a duplicate of keep holds the same lock */
	if ((keep >= 0 && dup2(keep, 0) < 0) || dup2(socket, fd) < 0)
		_exit(1);
	close_range((unsigned)fd + 1, ~0U, 0);
	while (receive_bytes(fd, &order, sizeof(order)) == (ssize_t)sizeof(order)) {
		struct freezer_news news = { .state = order.state };

		if (!opened)
			opened = functions->open(&f.driver, &why) == 0;
		if (opened) {
			carry_out(&f, &order, &news);
		} else {
			news.says = FREEZER_FAILED;
			news.err = why;
		}
		if (!send_all(fd, &news, sizeof(news)))
			break;
	}
	_exit(0);
}

/* --- the caller --- */

int freezer_start(struct freezer *f, const struct device_freezer *functions, int keep,
		  struct err *err)
{
	int ends[2];

	*f = FREEZER_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err_set(err, EX_OSERR, "cannot make a socket: %s", strerror(errno));
	f->pid = fork();
	if (f->pid == 0)
		serve(ends[1], keep, functions);
	close(ends[1]);
	if (f->pid < 0) {
		close(ends[0]);
		*f = FREEZER_NONE;
		return err_set(err, EX_OSERR, "cannot start a process: %s", strerror(errno));
	}
	f->fd = ends[0];
	return 0;
}

int freezer_order(struct freezer *f, const struct freezer_order *order, struct err *err)
{
	if (send_all(f->fd, order, sizeof(*order)))
		return 0;
	return err_set(err, EX_OSERR, "the process that freezes has ended");
}

enum freezer_says freezer_read(struct freezer *f, struct freezer_news *news)
{
	if (receive_bytes(f->fd, news, sizeof(*news)) == (ssize_t)sizeof(*news))
		return news->says;
	*news = (struct freezer_news){ .says = FREEZER_DIED };
	err_set(&news->err, EX_OSERR, "the process that freezes has ended in a call");
	return news->says;
}

void freezer_allow(struct freezer *f)
{
	send_all(f->fd, "g", 1);
}

void freezer_stop(struct freezer *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->pid > 0 && waitpid(f->pid, NULL, WNOHANG) == 0)
		driver_child_leave(f->pid);
	*f = FREEZER_NONE;
}

static int follow_order(struct freezer *f, const struct freeze_record *record, double until_boot_s,
			struct freezer_news *news, struct err *err)
{
	struct pollfd from = { .fd = f->fd, .events = POLLIN };

	for (;;) {
		double left_s = until_boot_s - clock_boot_s();

		if (left_s <= 0)
			return err_set(err, EX_TEMPFAIL, "the driver does not answer");
		if (poll_or_rest(&from, 1, (int)(left_s * 1e3) + 1) <= 0)
			continue;
		switch (freezer_read(f, news)) {
		case FREEZER_ENTERS:
			if (record && record->write(news->state, record->arg, err))
				return -1;
			freezer_allow(f);
			break;
		case FREEZER_DONE:
			return 0;
		case FREEZER_FAILED:
		case FREEZER_DIED:
			*err = news->err;
			return -1;
		}
	}
}

int freezer_carry_out(struct freezer *f, const struct freezer_order *order,
		      const struct freeze_record *record, double limit_s,
		      struct freezer_news *news, struct err *err)
{
	*news = (struct freezer_news){ .state = order->state };
	if (freezer_order(f, order, err) == 0 &&
	    follow_order(f, record, clock_boot_s() + limit_s, news, err) == 0)
		return 0;
	if (news->says != FREEZER_FAILED)
		freezer_stop(f);
	return -1;
}
