/* kept_reports.h - the reports that nobody took, in a file beside the socket of a run; private to
 * src/engine/local.
 *
 * The file is SOCKET.kept. Programs append to it (pollux-report(1) has the form), and supervisors
 * only read it, until it goes with the other files of the run:
 *
 *	struct kept_place read = { 0 };
 *	kept_reports_read(socket_path, &read, take, arg);	// what came since the last call
 *	kept_reports_remove(socket_path);
 *
 * Any process of the user can write the file: one that is not a plain file is passed over, and only
 * its last KEPT_REPORTS_MAX bytes are read. */
#ifndef POLLUX_KEPT_REPORTS_H
#define POLLUX_KEPT_REPORTS_H

#include <stddef.h>
#include <stdint.h>

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
