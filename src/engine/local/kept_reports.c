/* kept_reports.c - see kept_reports.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kept_reports.h"
#include "pollux/file.h"
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
