/* client_kept.c - reports that nobody took are kept in a file.
 *
 * The client remembers its last step and its last checkpoint. It appends them to the file
 * SOCKET.kept when a report cannot be delivered, and at the end when their receiver has not read
 * them or was replaced. The supervisor that comes next passes over what it knows already, so a
 * report may be kept although it was read. pollux-report(1) has the form of the file. */
#include "client_private.h"

#include <linux/sockios.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "pollux/kept_file.h"

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

/* Gives up after a while: a child that was forked while another thread had the lock finds it taken
 * for ever. */
static bool lock_kept(struct client_kept *kept)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!atomic_flag_test_and_set(&kept->busy))
			return true;
		sched_yield();
	}
	return false;
}

static int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void write_due(const struct pollux_client *c)
{
	for (int i = 0; i < CLIENT_KEPT_KINDS; i++) {
		struct kept_report *r = &c->kept->reports[i];

		if (r->due && kept_file_append(c->address.sun_path, r->time_ns, r->text, r->length))
			r->due = r->refused = false;
	}
}

/* The wall clock may have been set back. */
static bool may_write(const struct client_kept *kept, int64_t now_ns)
{
	return now_ns < kept->written_ns || now_ns - kept->written_ns >= WRITE_EVERY_NS;
}

void client_kept_add(const struct pollux_client *c, enum client_kept_kind kind, const char *text,
		     size_t length, bool sent)
{
	struct client_kept *kept = c->kept;

	if (!kept || length > CLIENT_MESSAGE_MAX || !lock_kept(kept))
		return;
	struct kept_report *r = &kept->reports[kind];
	r->due = true;
	r->refused = !sent;
	r->time_ns = wall_ns();
	r->length = length;
	memcpy(r->text, text, length);
	if (!sent && (kind == CLIENT_KEPT_CHECKPOINT || may_write(kept, r->time_ns))) {
		kept->written_ns = r->time_ns;
		write_due(c);
	}
	atomic_flag_clear(&kept->busy);
}

/* True if the receiver that was there at the beginning has read all that this client sent. */
static bool all_is_read(const struct pollux_client *c)
{
	int unread = 1;

	return ioctl(c->fd, SIOCOUTQ, &unread) == 0 && unread == 0 &&
	       kept_file_receiver_is(c->address.sun_path, c->fd, &c->kept->receiver);
}

void client_kept_close(const struct pollux_client *c)
{
	struct client_kept *kept = c->kept;
	bool due = false, refused = false;

	if (!kept)
		return;
	for (int i = 0; i < CLIENT_KEPT_KINDS; i++) {
		due |= kept->reports[i].due;
		refused |= kept->reports[i].refused;
	}
	if (refused || (due && !all_is_read(c)))
		write_due(c);
	free(kept);
}
