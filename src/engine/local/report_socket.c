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
#include "pollux/report_socket.h"

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

static int bind_private(int fd, const struct sockaddr_un *address)
{
	mode_t old = umask(0077);
	int rc = bind(fd, (const struct sockaddr *)address, sizeof(*address));

	umask(old);	/* the command gets the user's umask */
	return rc;
}

int report_socket_open(const char *path, struct err *err)
{
	const int yes = 1;
	struct sockaddr_un address;
	int fd = -1;

	if (make_address(path, &address) == 0) {
		unlink(path);
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0 &&
	    bind_private(fd, &address) == 0)
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

/* Waits until the receiver has read all that was sent. The receiver looks at the sender's process
 * before it reads, and the process has to live until then. False: the receiver has not read it in
 * time. */
static bool wait_until_read(int fd, int wait_s)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int unread = 0;

	for (int ms = 0; ms < wait_s * 1000; ms++) {
		if (ioctl(fd, SIOCOUTQ, &unread) || unread == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static int send_within(int fd, const struct sockaddr_un *address, const void *bytes, size_t n,
		       int wait_s)
{
	struct timeval timeout = { .tv_sec = wait_s };
	int flags = MSG_NOSIGNAL | (wait_s > 0 ? 0 : MSG_DONTWAIT);

	if (wait_s > 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)))
		return -1;
	return sendto(fd, bytes, n, flags, (const struct sockaddr *)address, sizeof(*address)) < 0
		? -1 : 0;
}

int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, bool *read,
		       struct err *err)
{
	struct sockaddr_un address;
	struct stat receiver = { .st_ino = 0 };
	bool is_read = false;
	int fd = -1, rc = -1;

	if (make_address(path, &address) == 0 && stat(path, &receiver) == 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		rc = send_within(fd, &address, bytes, n, wait_s);
	if (rc == 0)
		is_read = wait_until_read(fd, wait_s) &&
			  kept_file_receiver_is(path, fd, &receiver);
	if (read)
		*read = is_read;
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

static char *path_of(const char *socket_path)
{
	return xasprintf("%s.kept", socket_path);
}

static int open_file(const char *socket_path, struct stat *st)
{
	char *path = path_of(socket_path);
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);

	free(path);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}

/* True if the file does not go on from where it was read, but was begun anew. */
static bool is_new(int fd, int64_t size, const struct kept_place *place)
{
	char last[KEPT_LAST_BYTES];
	size_t n = (size_t)place->n_last;

	return place->offset > size ||
	       (n > 0 && (pread(fd, last, n, place->offset - (int64_t)n) != (ssize_t)n ||
			  memcmp(last, place->last, n) != 0));
}

/* Reads the file from the place on. */
static ssize_t read_rest(int fd, int64_t size, struct kept_place *place, char *bytes)
{
	if (is_new(fd, size, place))
		*place = (struct kept_place){ 0 };
	if (size - place->offset > KEPT_REPORTS_MAX)
		*place = (struct kept_place){ .offset = size - KEPT_REPORTS_MAX };
	return pread(fd, bytes, (size_t)(size - place->offset), place->offset);
}

/* Goes on by n bytes, which are no fewer than one message. */
static void go_on(struct kept_place *place, const char *bytes, size_t n)
{
	size_t last = n < KEPT_LAST_BYTES ? n : KEPT_LAST_BYTES;

	place->offset += (int64_t)n;
	memcpy(place->last, bytes + n - last, last);
	place->n_last = (int)last;
}

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
	struct stat st;
	int fd = open_file(socket_path, &st);
	char *bytes, *at, *end;
	ssize_t n;

	if (fd < 0)
		return;
	bytes = xmalloc(KEPT_REPORTS_MAX);
	n = read_rest(fd, st.st_size, place, bytes);
	close(fd);
	at = bytes;
	while (n > 0 && (end = memmem(at, (size_t)(bytes + n - at), "\n\n", 2))) {
		size_t length = (size_t)(end + 1 - at);
		const char *message = at;
		double time_s = take_time(&message, &length, (double)st.st_mtim.tv_sec);

		take(message, length, time_s, arg);
		at = end + 2;
	}
	if (at > bytes)
		go_on(place, bytes, (size_t)(at - bytes));
	free(bytes);
}

void kept_reports_remove(const char *socket_path)
{
	char *path = path_of(socket_path), *warned = xasprintf("%s.warned", socket_path);

	unlink(path);
	unlink(warned);
	free(path);
	free(warned);
}
