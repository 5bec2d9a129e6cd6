/* file.c - files that are replaced as a whole or not at all. */
#include "pollux/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "pollux/mem.h"
#include "pollux/open_file.h"

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

/* --- writing --- */

#define TRIES 100		/* names for a temporary file */

static int cannot_write(const char *path, const struct place *place, struct err *err)
{
	if (place->is_planted)
		return err_set(err, EX_CANTCREAT, "cannot write '%s': there is a link or a FIFO of "
			       "another user, in a directory where everybody may write", path);
	return err_set(err, EX_CANTCREAT, "cannot write '%s': %s", path, strerror(errno));
}

/* Finds the place of the file that is to be replaced as a whole. 0: it is written as it is, being
 * a device or a FIFO, or because a standard stream is open on it. A file without links left has no
 * name under which a new file could replace it. */
static int find_replaceable(const char *path, struct place *place)
{
	struct stat st;

	if (place_find(path, place))
		return -1;
	if (stat(path, &st))
		return errno == ENOENT ? 1 : -1;
	return S_ISREG(st.st_mode) && st.st_nlink > 0 && stream_to(&st) < 0;
}

/* Creates a file at the place, with a name that is not in use. */
static int open_beside(const struct place *place, char temporary[NAME_MAX + 1])
{
	int n = (int)strlen(place->name), fd = -1;
	uint64_t random;

	for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
			random = (uint64_t)getpid() << 32 | (uint64_t)i;
		snprintf(temporary, NAME_MAX + 1, "%.*s.%08x", n < NAME_MAX - 9 ? n : NAME_MAX - 9,
			 place->name, (unsigned)random);
		fd = file_open_at(place->directory, temporary,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	}
	return fd;
}

/* Writes the file, closes fd and renames the file. errno is that of the first step that fails. */
static int fill_and_rename(int fd, const void *bytes, size_t n, const char *temporary,
			   const struct place *place)
{
	int rc = file_write_all(fd, bytes, n) || fchmod(fd, file_usual_mode(0666)) || fsync(fd)
		? -1 : 0;

	if (close(fd) || rc ||
	    renameat(place->directory, temporary, place->directory, place->name)) {
		int saved = errno;

		unlinkat(place->directory, temporary, 0);
		errno = saved;
		return -1;
	}
	return 0;
}

static int replace_target(const struct place *place, const void *bytes, size_t n)
{
	char temporary[NAME_MAX + 1];
	int fd = open_beside(place, temporary);

	return fd < 0 ? -1 : fill_and_rename(fd, bytes, n, temporary, place);
}

/* Opens path for writing, which was no regular file a moment ago: then a link of another user may
 * have come into its place. A file that a standard stream of this process is open on is not opened
 * again, because the new descriptor would overwrite it from its start: the stream is duplicated. */
static int open_as_it_is(const char *path)
{
	struct stat st;
	int stream = stat(path, &st) == 0 ? stream_to(&st) : -1, fd;

	fflush(NULL);		/* what was printed earlier comes first */
	if (stream >= 0)
		return fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	fd = file_open_output(path);
	if (fd < 0 || (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
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

int file_replace(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct place place = { .directory = -1 };
	int rc = find_replaceable(path, &place), saved;

	if (rc >= 0)
		rc = rc ? replace_target(&place, bytes, n) : write_as_it_is(path, bytes, n);
	saved = errno;
	place_release(&place);
	errno = saved;
	return rc ? cannot_write(path, &place, err) : 0;
}

/* --- before --- */

/* Creates and removes a file where replace_target() would create its temporary file. */
static int try_beside(const struct place *place)
{
	char temporary[NAME_MAX + 1];
	int fd = open_beside(place, temporary);

	if (fd < 0)
		return -1;
	unlinkat(place->directory, temporary, 0);
	close(fd);
	return 0;
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
	struct place place = { .directory = -1 };
	int rc = find_replaceable(path, &place), saved;

	if (rc >= 0)
		rc = rc ? try_beside(&place) : try_as_it_is(path);
	saved = errno;
	place_release(&place);
	errno = saved;
	return rc ? cannot_write(path, &place, err) : 0;
}

int file_check_links(const char *path, struct err *err)
{
	struct place place;

	if (place_find(path, &place) == 0)
		place_release(&place);
	else if (place.is_planted)
		return cannot_write(path, &place, err);
	return 0;
}

static bool same_to_be(const char *a, const char *b)
{
	struct place x = { .directory = -1 }, y = { .directory = -1 };
	struct stat in_x, in_y;
	bool same = place_find(a, &x) == 0 && place_find(b, &y) == 0 &&
		    fstat(x.directory, &in_x) == 0 && fstat(y.directory, &in_y) == 0 &&
		    is_same(&in_x, &in_y) && strcmp(x.name, y.name) == 0;

	place_release(&x);
	place_release(&y);
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
