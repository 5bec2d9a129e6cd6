/* report_socket.c - make the socket of a run, send to it, and keep what nobody took. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/file.h"
#include "pollux/kept_file.h"
#include "pollux/mem.h"
#include "pollux/report_message.h"

bool report_socket_fits(const char *path)
{
	return strlen(path) < sizeof(((struct sockaddr_un *)0)->sun_path);
}

static int make_address(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!report_socket_fits(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address->sun_path, path, strlen(path) + 1);
	return 0;
}

int report_socket_open(const char *path, struct err *err)
{
	const int yes = 1;
	struct sockaddr_un address;
	int fd = -1, rc = -1;
	mode_t mask;

	if (make_address(path, &address) == 0) {
		unlink(path);
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0) {
		mask = umask(0077);
		rc = bind(fd, (const struct sockaddr *)&address, sizeof(address));
		umask(mask);	/* the command gets the user's umask */
	}
	if (rc == 0)
		return fd;
	err_set(err, EX_CANTCREAT, "cannot make socket '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static ssize_t receive_report(int fd, void *bytes, size_t size, int flags, pid_t *sender)
{
	union {
		struct cmsghdr header;
		/* cppcheck-suppress unusedStructMember ; room for the header and what follows */
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC | flags);
	const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
	struct ucred who;

	*sender = 0;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return n;
	memcpy(&who, CMSG_DATA(c), sizeof(who));
	*sender = who.pid;
	return n;
}

ssize_t report_socket_receive(int fd, void *bytes, size_t size, pid_t *sender)
{
	return receive_report(fd, bytes, size, 0, sender);
}

bool report_socket_next_sender(int fd, pid_t *sender)
{
	char first;

	return receive_report(fd, &first, sizeof(first), MSG_PEEK, sender) >= 0;
}

int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, bool *read,
		       struct err *err)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct timeval timeout = { .tv_sec = wait_s };
	struct sockaddr_un address;
	struct stat receiver = { .st_ino = 0 };
	int fd = -1, rc = -1, unread = 1, flags = MSG_NOSIGNAL | (wait_s > 0 ? 0 : MSG_DONTWAIT);

	if (make_address(path, &address) == 0 && stat(path, &receiver) == 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && (wait_s <= 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout,
						  sizeof(timeout)) == 0) &&
	    sendto(fd, bytes, n, flags, (const struct sockaddr *)&address, sizeof(address)) >= 0)
		rc = 0;
	/* The receiver looks at the sender's process before it reads, and the process has to live
	 * until then. */
	for (int ms = 0; rc == 0 && unread && ms < wait_s * 1000; ms++) {
		if (ioctl(fd, SIOCOUTQ, &unread))
			unread = 0;
		if (unread)
			nanosleep(&pause, NULL);
	}
	if (read)
		*read = rc == 0 && !unread && kept_file_receiver_is(path, fd, &receiver);
	if (rc)
		err_set(err, EX_UNAVAILABLE, "cannot report to '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

int report_socket_keep(const char *path, const char *bytes, size_t n, struct err *err)
{
	if (kept_file_append(path, (int64_t)(clock_wall_s() * 1e9), bytes, n))
		return 0;
	return err_set(err, EX_CANTCREAT, "cannot keep the report in '%s.kept'", path);
}

/* --- what was kept --- */

#define TIME_KEY "KEPT_NS="
#define NS_DIGITS 19

/* Takes the time off the front of a message, where the time need not stand. The rest is as the
 * program made it, and may be as long as a report may be. */
static double take_time(const char **bytes, size_t *n, double otherwise_s)
{
	char digits[NS_DIGITS + 1] = "";
	size_t key = strlen(TIME_KEY), length = 0, line;

	if (*n <= key || memcmp(*bytes, TIME_KEY, key) != 0)
		return otherwise_s;
	while (length < NS_DIGITS && key + length < *n && (*bytes)[key + length] >= '0' &&
	       (*bytes)[key + length] <= '9') {
		digits[length] = (*bytes)[key + length];
		length++;
	}
	line = (size_t)((const char *)memchr(*bytes, '\n', *n) + 1 - *bytes);
	*bytes += line;
	*n -= line;
	return length ? strtod(digits, NULL) * 1e-9 : otherwise_s;
}

void kept_reports_read(const char *socket_path, struct kept_place *place, kept_report_taker *take,
		       void *arg)
{
	char *path = xasprintf("%s.kept", socket_path), *bytes, *at, *end;
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	char same[KEPT_LAST_BYTES];
	size_t read, last;
	struct stat st;
	ssize_t n;

	free(path);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return;
	}
	/* a file that does not go on from where it was read was begun anew */
	last = (size_t)place->n_last;
	if (place->offset > st.st_size ||
	    (last > 0 && (pread(fd, same, last, place->offset - (int64_t)last) != (ssize_t)last ||
			  memcmp(same, place->last, last) != 0)))
		*place = (struct kept_place){ 0 };
	if (st.st_size - place->offset > KEPT_REPORTS_MAX)
		*place = (struct kept_place){ .offset = st.st_size - KEPT_REPORTS_MAX };
	at = bytes = xmalloc(KEPT_REPORTS_MAX);
	n = pread(fd, bytes, (size_t)(st.st_size - place->offset), place->offset);
	close(fd);
	while (n > 0 && (end = memmem(at, (size_t)(bytes + n - at), "\n\n", 2))) {
		size_t length = (size_t)(end + 1 - at);
		const char *message = at;
		double time_s = take_time(&message, &length, (double)st.st_mtim.tv_sec);

		take(message, length, time_s, arg);
		at = end + 2;
	}
	read = (size_t)(at - bytes);
	if (read > 0) {
		last = read < KEPT_LAST_BYTES ? read : KEPT_LAST_BYTES;
		place->offset += (int64_t)read;
		memcpy(place->last, at - last, last);
		place->n_last = (int)last;
	}
	free(bytes);
}

void kept_reports_remove(const char *socket_path)
{
	char *path = xasprintf("%s.kept", socket_path);
	char *warned = xasprintf("%s.warned", socket_path);
	char *stage = xasprintf("%s.stage", socket_path);	/* of the helper: stages.py */

	unlink(path);
	unlink(warned);
	unlink(stage);
	free(stage);
	free(path);
	free(warned);
}
