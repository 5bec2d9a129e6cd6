/* kept_file.h - keep a report that nobody took for the supervisor that comes next.
 *
 * A part of the client library, which needs nothing but libc. The file is SOCKET.kept;
 * pollux-report(1) has its form. */
#ifndef POLLUX_KEPT_FILE_H
#define POLLUX_KEPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stat.h>

#define KEPT_FILE_MAX_BYTES (1 << 20)	/* a file of this size is begun anew */
#define KEPT_REPORT_MAX_BYTES 8192

/* Appends one report, made at time_ns of the wall clock. False: it could not be kept. Nothing is
 * kept beside a path that is no socket, or in a directory that is not there. */
bool kept_file_append(const char *socket_path, int64_t time_ns, const char *text, size_t length);

/* True if the receiver at the path lives, and is the one that *before describes. When a receiver
 * dies, the kernel drops what it had not read. fd: the socket by which the reports were sent, which
 * is connected by this call. */
bool kept_file_receiver_is(const char *socket_path, int fd, const struct stat *before);

#endif
