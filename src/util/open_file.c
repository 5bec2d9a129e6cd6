/* open_file.c - see file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"

#define NOT_REGULAR ENXIO	/* that of a FIFO without a reader, which is opened for writing */

int file_open_at(int directory, const char *name, int flags, mode_t mode)
{
	int fd = openat(directory, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode), why = 0;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		why = errno;
	else if (!S_ISREG(st.st_mode))
		why = S_ISDIR(st.st_mode) ? EISDIR : NOT_REGULAR;
	if (why) {
		close(fd);
		return errno_set(why);
	}
	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return fd;
}

int file_open(const char *path, int flags, mode_t mode)
{
	return file_open_at(AT_FDCWD, path, flags, mode);
}

int file_open_fifo(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISFIFO(st.st_mode))) {
		close(fd);
		return errno_set(EINVAL);
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, flags);
	return fd;
}

static FILE *stream_of(int fd, const char *mode)
{
	FILE *file = fd < 0 ? NULL : fdopen(fd, mode);

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

FILE *file_open_stream(const char *path)
{
	return stream_of(file_open(path, O_RDONLY, 0), "r");
}

FILE *file_open_input_stream(const char *path)
{
	return stream_of(file_open_input(path), "r");
}

FILE *file_make_stream(const char *path)
{
	return stream_of(file_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666), "w");
}

ssize_t file_read_head(const char *path, off_t at, char *head, size_t size)
{
	scoped(close_fd) int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n = -1;

	if (fd >= 0 && (at == 0 || lseek(fd, at, SEEK_SET) == at))
		n = read(fd, head, size - 1);
	head[n > 0 ? n : 0] = '\0';
	return n;
}

bool file_find_line(const char *path, const char *word, char *rest, size_t size)
{
	scoped(close_file) FILE *file = file_open_stream(path);
	bool found = false, begins = true;
	char line[4096];

	/* in parts, as a file of a user's may have a line without an end */
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = begins && text_starts_with(line, word);
		begins = strchr(line, '\n') != NULL;
	}
	snprintf(rest, size, "%s", found ? line + strlen(word) : "");
	rest[strcspn(rest, "\n")] = '\0';
	return found;
}

int file_open_input(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

int file_open_output(const char *path)
{
	return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

int file_open_settings(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

int file_open_null(int flags)
{
	return open("/dev/null", flags);
}

const char *file_open_why(int why)
{
	return why == NOT_REGULAR ? "it is no regular file"
		: why == ELOOP ? "it is a symbolic link" : strerror(why);
}

/* --- waiting for descriptors --- */

#define REST_MS 100

int poll_or_rest(struct pollfd *fds, nfds_t n, int wait_ms)
{
	int ready = poll(fds, n, wait_ms), error = errno;
	long rest_ms = wait_ms < 0 || wait_ms > REST_MS ? REST_MS : wait_ms > 0 ? wait_ms : 1;
	struct timespec rest = { .tv_nsec = rest_ms * 1000000L };

	if (ready >= 0)
		return ready;
	if (error != EINTR)
		nanosleep(&rest, NULL);
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = error != EINTR && fds[i].fd >= 0 ? POLLIN : 0;
	errno = error;
	return error == EINTR ? 0 : -1;
}
