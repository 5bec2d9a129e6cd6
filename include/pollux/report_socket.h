/* report_socket.h - the Unix datagram socket that a run's reports go to, and the file beside it
 * with those that nobody took. */
#ifndef POLLUX_REPORT_SOCKET_H
#define POLLUX_REPORT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"

/* True if a socket can have this path: it has at most 107 bytes. */
bool report_socket_fits(const char *path);

/* Makes the socket with mode 0600, and replaces an older one. Returns a descriptor (close-on-exec,
 * non-blocking), or -1 with *err. */
int report_socket_open(const char *path, struct err *err);

/* Reads one datagram without waiting. Returns its length, which is above size if the datagram was
 * cut off, or -1. *sender: the process that sent the datagram, as the kernel tells; 0: the kernel
 * cannot name it here. */
ssize_t report_socket_receive(int fd, void *bytes, size_t size, pid_t *sender);

/* Tells who sent the next datagram, and leaves the datagram unread: as long as it is unread, its
 * sender waits in report_socket_send and can be looked at. False: there is no datagram. */
bool report_socket_next_sender(int fd, pid_t *sender);

/* Sends one datagram, and waits at most wait_s for a slow receiver, and as long again until the
 * receiver has read the datagram. *read (NULL: not wanted): whether the receiver has, as far as can
 * be known. -1 with *err (EX_UNAVAILABLE): nobody took the datagram. */
int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, bool *read,
		       struct err *err);

/* Keeps a report that nobody took for the supervisor that comes next: appends it to the file
 * PATH.kept, in the form that pollux-report(1) documents. Nothing is kept if path is no socket, or
 * in a directory that is not there. */
int report_socket_keep(const char *path, const char *bytes, size_t n, struct err *err);

/* The file is SOCKET.kept. Programs append to it (pollux-report(1) has the form), and supervisors
 * only read it, until it goes with the other files of the run:
 *
 *	struct kept_place read = { 0 };
 *	kept_reports_read(socket_path, &read, take, arg);	// what came since the last call
 *	kept_reports_remove(socket_path);
 *
 * Any process of the user can write the file: one that is not a plain file is passed over, and only
 * its last KEPT_REPORTS_MAX bytes are read. */

#define KEPT_REPORTS_MAX (2 << 20)
#define KEPT_LAST_BYTES 128

/* How far the file was read. A program that finds the file large begins the file anew
 * (kept_file.h), and the new one may be as long before it is read: the last bytes that were read
 * tell the two files apart. */
struct kept_place {
	int64_t offset;
	char last[KEPT_LAST_BYTES];	/* the bytes before the offset */
	int n_last;
};

/* One message without its line KEPT_NS, and when it was made by the wall clock. */
typedef void kept_report_taker(const char *bytes, size_t n, double time_wall_s, void *arg);

/* Calls take for each whole message behind the place, in the order of the file, and sets the place
 * to where the next call begins. */
void kept_reports_read(const char *socket_path, struct kept_place *place, kept_report_taker *take,
		       void *arg);
void kept_reports_remove(const char *socket_path);

#endif
