/* file.c - files that are replaced as a whole or not at all. */
#include "pollux/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

/* Writes the file, closes fd and renames the file. errno is that of the first step that fails. */
static int fill_and_rename(int fd, const void *bytes, size_t n, const char *temporary,
			   const char *path)
{
	int rc = file_write_all(fd, bytes, n) || fchmod(fd, file_usual_mode(0666)) || fsync(fd)
		? -1 : 0;

	if (close(fd) || rc || rename(temporary, path)) {
		int saved = errno;

		unlink(temporary);
		errno = saved;
		return -1;
	}
	return 0;
}

/* --- where a path leads --- */

#define LINKS_MAX 40

/* The target of the symbolic link at path, as a name from the present directory. NULL if path is
 * not a link. The caller frees. */
static char *follow_link(const char *path)
{
	const char *slash = strrchr(path, '/');
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = '\0';
	if (*target == '/' || !slash)
		return xstrdup(target);
	return xasprintf("%.*s%s", (int)(slash - path) + 1, path, target);
}

/* The last name of a chain of symbolic links. The caller frees. */
static char *end_of_links(const char *path)
{
	char *end = xstrdup(path), *next;

	for (int i = 0; i < LINKS_MAX && (next = follow_link(end)); i++) {
		free(end);
		end = next;
	}
	return end;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Standard output or standard error, whichever is open on this file; -1 if neither is. */
static int stream_to(const struct stat *st)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat stream;

		if (fstat(fd, &stream) == 0 && is_same(&stream, st))
			return fd;
	}
	return -1;
}

/* True if path is free, or names a regular file to which no standard stream of this process is
 * open. A file without links left has no name under which a new file could replace it. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno != ELOOP;
	return S_ISREG(st.st_mode) && st.st_nlink > 0 && stream_to(&st) < 0;
}

/* --- writing --- */

/* Opens path for writing. A file that a standard stream of this process is open on is not opened
 * again, because the new descriptor would overwrite it from its start: the stream is duplicated. */
static int open_as_it_is(const char *path)
{
	struct stat st;
	int stream = stat(path, &st) == 0 ? stream_to(&st) : -1;

	fflush(NULL);		/* what was printed earlier comes first */
	return stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			   : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

static int write_as_it_is(const char *path, const void *bytes, size_t n)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int fd = open_as_it_is(path), rc, saved;

	if (fd < 0)
		return -1;
	sigaction(SIGPIPE, &ignore, &before);
	rc = file_write_all(fd, bytes, n);
	saved = errno;
	sigaction(SIGPIPE, &before, NULL);
	if (close(fd) && rc == 0)
		return -1;
	errno = saved;
	return rc;
}

/* Creates a file beside path, with a name that is not in use. The caller frees the name. */
static int open_beside(const char *path, char **temporary)
{
	*temporary = xasprintf("%s.XXXXXX", path);
	return mkostemp(*temporary, O_CLOEXEC);
}

static int replace_target(const char *path, const void *bytes, size_t n)
{
	char *end = end_of_links(path), *temporary;
	int fd = open_beside(end, &temporary);
	int rc = fd < 0 ? -1 : fill_and_rename(fd, bytes, n, temporary, end), saved = errno;

	free(temporary);
	free(end);
	errno = saved;
	return rc;
}

int file_replace(const char *path, const void *bytes, size_t n, struct err *err)
{
	if ((is_replaceable(path) ? replace_target : write_as_it_is)(path, bytes, n))
		return err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

/* --- before --- */

/* Creates and removes a file where replace_target() would create its temporary file. */
static int try_beside(const char *path)
{
	char *end = end_of_links(path), *temporary;
	int fd = open_beside(end, &temporary), rc = fd < 0 ? -1 : 0, saved = errno;

	if (fd >= 0) {
		unlink(temporary);
		close(fd);
	}
	free(temporary);
	free(end);
	errno = saved;
	return rc;
}

/* Does not open the file: opening a FIFO waits for a reader, and closing it ends that reader's
 * input. */
static int try_as_it_is(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	return access(path, W_OK);
}

int file_check(const char *path, struct err *err)
{
	if ((is_replaceable(path) ? try_beside : try_as_it_is)(path))
		return err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

/* Fills *directory with the directory that path stands in, and returns the last part of path. NULL
 * if there is no such directory. */
static const char *split_path(const char *path, struct stat *directory)
{
	const char *slash = strrchr(path, '/');
	char *name = slash ? xasprintf("%.*s", (int)(slash - path) + 1, path) : xstrdup(".");
	int rc = stat(name, directory);

	free(name);
	return rc ? NULL : slash ? slash + 1 : path;
}

static bool same_to_be(const char *a, const char *b)
{
	char *x = end_of_links(a), *y = end_of_links(b);
	struct stat in_x, in_y;
	const char *name_x = split_path(x, &in_x), *name_y = split_path(y, &in_y);
	bool same = name_x && name_y && is_same(&in_x, &in_y) && strcmp(name_x, name_y) == 0;

	free(x);
	free(y);
	return same;
}

bool file_same(const char *a, const char *b)
{
	struct stat x, y;
	bool no_a = stat(a, &x) != 0, no_b = stat(b, &y) != 0;

	if (no_a || no_b)
		return no_a && no_b && same_to_be(a, b);
	return S_ISREG(x.st_mode) && is_same(&x, &y);
}
