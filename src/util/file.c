/* file.c - files that are replaced as a whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"

/* --- where a path leads --- */

/* An open directory, and a name in it: no symbolic link, and it need not be there. Whoever changes
 * links of the path later does not change the place. */
struct place {
	int directory;		/* owned, O_PATH */
	char name[NAME_MAX + 1];
	bool is_planted;	/* after a failure: another user put a link or a FIFO there */
};

#define LINKS_MAX 40

struct walk {
	int directory;
	char *rest;		/* of the path, from the directory; owned */
	int links;		/* that were followed */
	bool is_planted;
	bool is_strange;	/* the directory is one that another user may have planted */
};

/* Moves to another directory, below the present one or absolute. */
static int enter(struct walk *w, const char *name)
{
	int next = openat(w->directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (next < 0)
		return -1;
	close(w->directory);
	w->directory = next;
	return 0;
}

static int follow_link(struct walk *w, const char *name)
{
	char target[PATH_MAX], *rest;
	ssize_t n = readlinkat(w->directory, name, target, sizeof(target) - 1);

	if (n < 0)
		return -1;
	if (++w->links > LINKS_MAX)
		return errno_set(ELOOP);
	target[n] = '\0';
	rest = xasprintf("%s/%s", target, w->rest);
	free(w->rest);
	w->rest = rest;
	return *target == '/' ? enter(w, "/") : 0;
}

/* Handles the first name of the rest. 1: it is the place. A file is of others if another user can
 * have put it where the walk stands: where everybody may write, or below a directory that somebody
 * put there. */
static int step(struct walk *w, char name[NAME_MAX + 1])
{
	const char *from = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(from, "/");
	bool is_last, is_of_others;
	struct stat st, directory;

	if (n == 0 || n > NAME_MAX)
		return errno_set(n ? ENAMETOOLONG : EISDIR);
	memcpy(name, from, n);
	name[n] = '\0';
	from += n;
	is_last = from[strspn(from, "/")] == '\0';
	memmove(w->rest, from, strlen(from) + 1);
	if (fstatat(w->directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return is_last && errno == ENOENT ? 1 : -1;
	is_of_others = st.st_uid != 0 && st.st_uid != geteuid() &&
		       (w->is_strange || fstat(w->directory, &directory) ||
			(directory.st_mode & S_IWOTH));
	w->is_planted = is_of_others && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	if (w->is_planted)
		return errno_set(EPERM);
	if (S_ISLNK(st.st_mode))
		return follow_link(w, name);
	w->is_strange |= is_of_others && S_ISDIR(st.st_mode);
	return is_last ? 1 : enter(w, name);
}

/* Follows the symbolic links of a path, also the last one. -1 with errno, also if the path leads
 * through a link of another user in a directory where everybody may write, or below a directory
 * that another user made there, or to such a user's FIFO or socket. Links of root are followed. */
static int place_find(const char *path, struct place *place)
{
	const char *start = *path == '/' ? "/" : ".";
	struct walk w = { .directory = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	int rc = w.directory < 0 ? -1 : 0, saved;
	size_t n = strlen(path);

	if (rc == 0 && n > 0 && path[n - 1] == '/')
		rc = errno_set(EISDIR);
	w.rest = xstrdup(path);
	while (rc == 0)
		rc = step(&w, place->name);
	saved = errno;
	free(w.rest);
	if (rc < 0 && w.directory >= 0)
		close(w.directory);
	errno = saved;
	place->directory = rc < 0 ? -1 : w.directory;
	place->is_planted = w.is_planted;
	return rc < 0 ? -1 : 0;
}

static void place_release(struct place *place)
{
	if (place->directory >= 0)
		close(place->directory);
	place->directory = -1;
}

/* --- files that are replaced as a whole or not at all --- */

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

bool file_stat_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Standard output or standard error, whichever is open on this file; -1 if neither is. */
static int stream_to(const struct stat *st)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat stream;

		if (fstat(fd, &stream) == 0 && file_stat_same(&stream, st))
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

static int replace_target(const struct place *place, const void *bytes, size_t n)
{
	char temporary[NAME_MAX + 1];
	int fd = open_beside(place, temporary), saved;
	bool written;

	if (fd < 0)
		return -1;
	written = file_write_all(fd, bytes, n) == 0 && fchmod(fd, file_usual_mode(0666)) == 0 &&
		  fsync(fd) == 0;
	if (close(fd) == 0 && written &&
	    renameat(place->directory, temporary, place->directory, place->name) == 0)
		return 0;
	saved = errno;
	unlinkat(place->directory, temporary, 0);
	return errno_set(saved);
}

/* Opens path for writing, which was no regular file a moment ago: then a link of another user may
 * have come into its place. A file that a standard stream of this process is open on is not opened
 * again, because the new descriptor would overwrite it from its start: the stream is duplicated. */
static int write_as_it_is(const char *path, const void *bytes, size_t n)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct stat st;
	int stream = stat(path, &st) == 0 ? stream_to(&st) : -1, fd, rc, saved;

	fflush(NULL);		/* what was printed earlier comes first */
	fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			 : file_open_output(path);
	if (fd < 0)
		return -1;
	if (stream < 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		close(fd);
		return errno_set(EEXIST);
	}
	sigaction(SIGPIPE, &ignore, &before);
	rc = file_write_all(fd, bytes, n);
	saved = errno;
	sigaction(SIGPIPE, &before, NULL);
	if (close(fd) && rc == 0)
		return -1;
	errno = saved;
	return rc;
}

/* Tells whether replace_target() could create its temporary file, or write_as_it_is() write. Does
 * not open a FIFO: that waits for a reader, and closing it ends that reader's input. */
static int try_to_write(const char *path, const struct place *place, bool replaces)
{
	char temporary[NAME_MAX + 1];
	struct stat st;
	int fd;

	if (!replaces)
		return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? errno_set(EISDIR)
								   : access(path, W_OK);
	fd = open_beside(place, temporary);
	if (fd < 0)
		return -1;
	unlinkat(place->directory, temporary, 0);
	close(fd);
	return 0;
}

/* Writes the bytes, or only tries (NULL). The file is replaced as a whole, unless it is a device or
 * a FIFO, or a standard stream is open on it. A file without links left has no name under which a
 * new file could replace it. */
static int replace_or_try(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct place place = { .directory = -1 };
	bool replaces = false;
	struct stat st;
	int rc = place_find(path, &place), saved;

	if (rc == 0 && stat(path, &st) == 0)
		replaces = S_ISREG(st.st_mode) && st.st_nlink > 0 && stream_to(&st) < 0;
	else if (rc == 0 && errno == ENOENT)
		replaces = true;
	else
		rc = -1;
	if (rc == 0 && !bytes)
		rc = try_to_write(path, &place, replaces);
	else if (rc == 0)
		rc = replaces ? replace_target(&place, bytes, n) : write_as_it_is(path, bytes, n);
	saved = errno;
	place_release(&place);
	errno = saved;
	return rc ? cannot_write(path, &place, err) : 0;
}

int file_replace(const char *path, const void *bytes, size_t n, struct err *err)
{
	return replace_or_try(path, bytes ? bytes : "", n, err);
}

int file_check(const char *path, struct err *err)
{
	return replace_or_try(path, NULL, 0, err);
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

bool file_same(const char *a, const char *b)
{
	struct place place_a = { .directory = -1 }, place_b = { .directory = -1 };
	struct stat x, y;
	bool no_a = stat(a, &x) != 0, no_b = stat(b, &y) != 0, same;

	if (!no_a && !no_b)
		return S_ISREG(x.st_mode) && file_stat_same(&x, &y);
	same = no_a && no_b && place_find(a, &place_a) == 0 && place_find(b, &place_b) == 0 &&
	       fstat(place_a.directory, &x) == 0 && fstat(place_b.directory, &y) == 0 &&
	       file_stat_same(&x, &y) && strcmp(place_a.name, place_b.name) == 0;
	place_release(&place_a);
	place_release(&place_b);
	return same;
}

/* --- room on disks --- */

#define LEAST_BYTES 0x1p30
#define LEAST_PART 0.01
#define SMALL_BYTES 0x1p31	/* a smaller disk may never have LEAST_BYTES */

static void add_bytes(struct text *t, double bytes)
{
	text_addf(t, bytes < 0x1p30 ? "%.1f MiB" : "%.0f GiB",
		  bytes / (bytes < 0x1p30 ? 0x1p20 : 0x1p30));
}

const char *disk_shortage(double left_bytes, double all_bytes)
{
	if (left_bytes < LEAST_PART * all_bytes)
		return "1 %";
	return left_bytes < LEAST_BYTES && all_bytes >= SMALL_BYTES ? "1 GiB" : NULL;
}

bool disk_nearly_full(const char *path, struct text *why)
{
	double left, all;
	const char *less;
	struct statvfs fs;

	if (statvfs(path, &fs) || fs.f_blocks == 0)
		return false;
	left = (double)fs.f_bavail * (double)fs.f_frsize;
	all = (double)fs.f_blocks * (double)fs.f_frsize;
	less = disk_shortage(left, all);
	if (!less)
		return false;
	text_addf(why, "the disk of '%s' is nearly full: ", path);
	add_bytes(why, left);
	text_add(why, " of ");
	add_bytes(why, all);
	text_addf(why, " are free, less than %s", less);
	return true;
}

/* --- removes a directory and its content, the deepest entries first --- */

#define OPEN_DIRECTORIES 16

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void remove_tree(const char *path)
{
	nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
