/* kept_reports.c - see kept_reports.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kept_reports.h"
#include "pollux/mem.h"

#define TIME_KEY "KEPT_NS="
#define NS_DIGITS 19

static char *path_of(const char *socket_path)
{
	return xasprintf("%s.kept", socket_path);
}

static int open_file(const char *socket_path, struct stat *st)
{
	char *path = path_of(socket_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	free(path);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Reads the file from *offset on. A file that has become shorter was begun anew. */
static ssize_t read_rest(int fd, int64_t size, int64_t *offset, char *bytes)
{
	if (*offset > size)
		*offset = 0;
	if (size - *offset > KEPT_REPORTS_MAX)
		*offset = size - KEPT_REPORTS_MAX;
	return pread(fd, bytes, (size_t)(size - *offset), *offset);
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

void kept_reports_read(const char *socket_path, int64_t *offset, kept_report_taker *take,
		       void *arg)
{
	struct stat st;
	int fd = open_file(socket_path, &st);
	char *bytes, *at, *end;
	ssize_t n;

	if (fd < 0)
		return;
	bytes = xmalloc(KEPT_REPORTS_MAX);
	n = read_rest(fd, st.st_size, offset, bytes);
	close(fd);
	at = bytes;
	while (n > 0 && (end = memmem(at, (size_t)(bytes + n - at), "\n\n", 2))) {
		size_t length = (size_t)(end + 1 - at);
		const char *message = at;
		double time_s = take_time(&message, &length, (double)st.st_mtim.tv_sec);

		take(message, length, time_s, arg);
		at = end + 2;
	}
	*offset += at - bytes;
	free(bytes);
}

void kept_reports_remove(const char *socket_path)
{
	char *path = path_of(socket_path);

	unlink(path);
	free(path);
}
