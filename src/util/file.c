/* file.c - files that are there in full, or as they were. */
#include "pollux/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"

mode_t file_usual_mode(mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return mode & ~mask;
}

int file_write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t written = write(fd, at, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		at += written;
		n -= (size_t)written;
	}
	return 0;
}

/* The first of these that fails is the error. */
static int fill_and_rename(int fd, const void *bytes, size_t n, const char *temporary, const char *path)
{
	int rc = file_write_all(fd, bytes, n) || fchmod(fd, file_usual_mode(0666)) || fsync(fd) ? -1 : 0;

	if (close(fd) || rc || rename(temporary, path)) {
		int saved = errno;

		unlink(temporary);
		errno = saved;
		return -1;
	}
	return 0;
}

int file_replace(const char *path, const void *bytes, size_t n, struct err *err)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int rc = fd < 0 ? -1 : fill_and_rename(fd, bytes, n, temporary, path);

	if (rc)
		err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path, strerror(errno));
	free(temporary);
	return rc;
}
