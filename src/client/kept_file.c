/* kept_file.c - see kept_file.h. */
#include "pollux/kept_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_file(const char *socket_path)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), "%s.kept", socket_path) >= (int)sizeof(path) ||
	    (lstat(socket_path, &st) == 0 && !S_ISSOCK(st.st_mode)))
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
			(st.st_size >= KEPT_FILE_MAX_BYTES && ftruncate(fd, 0) < 0))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One write appends the report, so that those of several processes do not mix. */
bool kept_file_append(const char *socket_path, int64_t time_ns, const char *text, size_t length)
{
	char bytes[KEPT_REPORT_MAX_BYTES + 64];
	int fd = length <= KEPT_REPORT_MAX_BYTES ? open_file(socket_path) : -1;

	if (fd < 0)
		return false;
	int n = snprintf(bytes, sizeof(bytes), "KEPT_NS=%lld\n%.*s\n", (long long)time_ns,
			 (int)length, text);
	bool kept = n > 0 && write(fd, bytes, (size_t)n) == n;
	close(fd);
	return kept;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool kept_file_receiver_is(const char *socket_path, int fd, const struct stat *before)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat now;

	if (strlen(socket_path) >= sizeof(address.sun_path) || stat(socket_path, &now) < 0 ||
	    !is_same_file(&now, before))
		return false;
	memcpy(address.sun_path, socket_path, strlen(socket_path) + 1);
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}
