/* kept_file.c - reports that nobody took: the file in which they are kept, and how the client
 * keeps them. */
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client_private.h"
#include "pollux/kept_file.h"

/* --- the file --- */

/* One write appends the report, so that those of several processes do not mix. */
bool kept_file_append(const char *socket_path, int64_t time_ns, const char *text, size_t length)
{
	char path[PATH_MAX];
	struct stat st;
	bool kept = false;

	if (length > KEPT_REPORT_MAX_BYTES ||
	    snprintf(path, sizeof(path), "%s.kept", socket_path) >= (int)sizeof(path) ||
	    (lstat(socket_path, &st) == 0 && !S_ISSOCK(st.st_mode)))
		return false;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		      0600);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_size < KEPT_FILE_MAX_BYTES || ftruncate(fd, 0) == 0)) {
		char bytes[KEPT_REPORT_MAX_BYTES + 64];
		int n = snprintf(bytes, sizeof(bytes), "KEPT_NS=%lld\n%.*s\n", (long long)time_ns,
				 (int)length, text);
		kept = n > 0 && write(fd, bytes, (size_t)n) == n;
	}
	close(fd);
	return kept;
}

bool kept_file_receiver_is(const char *socket_path, int fd, const struct stat *before)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat now;

	if (strlen(socket_path) >= sizeof(address.sun_path) || stat(socket_path, &now) < 0 ||
	    now.st_ino != before->st_ino || now.st_dev != before->st_dev ||
	    now.st_ctim.tv_sec != before->st_ctim.tv_sec ||
	    now.st_ctim.tv_nsec != before->st_ctim.tv_nsec)
		return false;
	memcpy(address.sun_path, socket_path, strlen(socket_path) + 1);
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

/* --- reports that nobody took are kept in a file --- */

/* The client remembers its last step and its last checkpoint. It appends them to the file
 * SOCKET.kept when a report cannot be delivered, and at the end when their receiver has not read
 * them or was replaced. The supervisor that comes next passes over what it knows already, so a
 * report may be kept although it was read. pollux-report(1) has the form of the file. */

enum {
	WRITE_EVERY_NS = 50000000,       /* between steps that are kept */
	LOCK_TRIES = 1000,
};

struct kept_report {
	bool due;                        /* not yet written */
	bool refused;                    /* it could not be delivered */
	int64_t time_ns;                 /* wall clock */
	size_t length;
	char text[CLIENT_MESSAGE_MAX];
};

struct client_kept {
	atomic_flag busy;
	struct stat receiver;            /* the socket when the client was opened */
	int64_t written_ns;              /* wall clock of the last write */
	struct kept_report reports[CLIENT_KEPT_KINDS];
};

struct client_kept *client_kept_open(const char *socket_path)
{
	struct client_kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	atomic_flag_clear(&kept->busy);
	if (stat(socket_path, &kept->receiver) < 0)
		kept->receiver.st_ino = 0;
	return kept;
}

static void write_due(const struct pollux_client *c)
{
	for (int i = 0; i < CLIENT_KEPT_KINDS; i++) {
		struct kept_report *r = &c->kept->reports[i];

		if (r->due && kept_file_append(c->address.sun_path, r->time_ns, r->text, r->length))
			r->due = r->refused = false;
	}
}

void client_kept_add(const struct pollux_client *c, enum client_kept_kind kind, const char *text,
		     size_t length, bool sent)
{
	struct client_kept *kept = c->kept;
	int tries = 0;
	struct timespec t;

	if (!kept || length > CLIENT_MESSAGE_MAX)
		return;
	/* Gives up after a while: a child that was forked while another thread had the lock finds
	 * it taken for ever. */
	while (atomic_flag_test_and_set(&kept->busy)) {
		if (++tries == LOCK_TRIES)
			return;
		sched_yield();
	}
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	struct kept_report *r = &kept->reports[kind];
	r->due = true;
	r->refused = !sent;
	r->time_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	r->length = length;
	memcpy(r->text, text, length);
	/* The wall clock may have been set back. */
	if (!sent && (kind == CLIENT_KEPT_CHECKPOINT || r->time_ns < kept->written_ns ||
		      r->time_ns - kept->written_ns >= WRITE_EVERY_NS)) {
		kept->written_ns = r->time_ns;
		write_due(c);
	}
	atomic_flag_clear(&kept->busy);
}

void client_kept_close(const struct pollux_client *c)
{
	struct client_kept *kept = c->kept;
	bool due = false, refused = false;
	int unread = 1;

	if (!kept)
		return;
	for (int i = 0; i < CLIENT_KEPT_KINDS; i++) {
		due |= kept->reports[i].due;
		refused |= kept->reports[i].refused;
	}
	/* unless the receiver that was there at the beginning has read all that was sent */
	if (refused || (due && (ioctl(c->fd, SIOCOUTQ, &unread) || unread ||
				!kept_file_receiver_is(c->address.sun_path, c->fd,
						       &kept->receiver))))
		write_due(c);
	free(kept);
}
