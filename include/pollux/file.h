/* file.h - files: replaced as a whole or not at all, opened without waiting; room on disks. */
#ifndef POLLUX_FILE_H
#define POLLUX_FILE_H

#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "pollux/err.h"
#include "pollux/text.h"

/* --- files that are replaced as a whole or not at all --- */

/* Replaces the content of a file: the bytes are written to a new file beside it, synced to disk,
 * and the new file is renamed. A symbolic link stays, and its target is replaced. A device, a FIFO,
 * and a file that standard output or standard error is open on are written in place. In a directory
 * where everybody may write, no link and no FIFO of another user is followed (EX_CANTCREAT). After
 * an error (EX_CANTCREAT) a regular file has its former content, and no temporary file is left. */
int file_replace(const char *path, const void *bytes, size_t n, struct err *err);

/* Tells before a long computation whether file_replace would succeed as things are now: 0, or -1
 * with *err. Changes nothing. */
int file_check(const char *path, struct err *err);

/* Refuses (EX_CANTCREAT) a path that leads through a link or to a FIFO that another user put where
 * everybody may write. For files that are made in another way than by file_replace(). */
int file_check_links(const char *path, struct err *err);

/* True if both names lead to one regular file, through any links. The file need not exist yet.
 * False for devices and FIFOs, because several programs may write to those. */
bool file_same(const char *a, const char *b);

struct stat;
bool file_stat_same(const struct stat *a, const struct stat *b);	/* of one file */

/* Returns the mode without the bits of the umask, as open(2) applies them. For files made by
 * mkostemp(3) and mkdtemp(3), which only their owner may read. */
mode_t file_usual_mode(mode_t mode);

/* Writes all n bytes, with as many calls of write(2) as needed. 0, or -1 with errno. */
int file_write_all(int fd, const void *bytes, size_t n);

/* Every way in which pollux opens a file.
 *
 * A file of the store, a log or a lock may have been replaced by something else: a FIFO, at which
 * open(2) waits for ever, a device, or a directory. tools/check-opens.sh refuses other calls of
 * open(2) and fopen(3) in src, but those of directories. */

/* Opens a regular file, and nothing else; never waits. The descriptor is close-on-exec. flags and
 * mode are those of open(2); with O_NOFOLLOW a link is refused, too. -1 with errno, for which
 * file_open_why() has words. */
int file_open(const char *path, int flags, mode_t mode);
int file_open_at(int directory, const char *name, int flags, mode_t mode);

/* file_open() for reading, as a stream. NULL with errno. */
FILE *file_open_stream(const char *path);

/* Reads the beginning of a regular file, or what stands at an offset, and ends it by NUL. Returns
 * the number of bytes, below size; -1 with errno. */
ssize_t file_read_head(const char *path, off_t at, char *head, size_t size);

/* Finds the first line that begins with the word ("": any line). rest: what follows it in the line,
 * without the newline, cut to size; "" if there is no such line. For the files of /proc and
 * /sys, and others of known lines. */
bool file_find_line(const char *path, const char *word, char *rest, size_t size);

/* Opens a FIFO of pollux, and nothing else. Does not wait for the other side, whatever the
 * flags. */
int file_open_fifo(const char *path, int flags);

/* Makes a new file and opens it for writing, as a stream. NULL with errno. */
FILE *file_make_stream(const char *path);

/* Opens what a person names to be read. Waits for the writer of a FIFO, as cat(1) does, since
 * that is what a shell's <(COMMAND) is. */
int file_open_input(const char *path);
FILE *file_open_input_stream(const char *path);
/* Opens what a person names to be written, and what is no regular file: see file_replace(). */
int file_open_output(const char *path);
/* The same, but never waits: a FIFO without a writer is empty. For files of settings, which every
 * command reads. */
int file_open_settings(const char *path);

/* Opens /dev/null. The descriptor is inherited by programs unless flags has O_CLOEXEC. */
int file_open_null(int flags);

/* For scoped() variables (mem.h). */
static inline void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Says why file_open() failed: "it is no regular file", "it is a symbolic link", or strerror(3). */
const char *file_open_why(int why);

/* Removes the directory and its content. Stays on the directory's file system and follows no
 * symbolic link. An entry that cannot be removed stays, without an error. */
void remove_tree(const char *path);

/* --- room on the disk of a directory --- */

/* Returns the limit below which the free space of a disk has fallen, "1 %" or "1 GiB"; NULL: there
 * is room. */
const char *disk_shortage(double left_bytes, double all_bytes);

/* True if less than 1 % of the directory's file system is free, or less than 1 GiB; the latter does
 * not count on file systems of less than 2 GiB. Adds how much is free: "the disk of '/x' is nearly
 * full: 300 MiB of 200 GiB are free, less than 1 GiB". */
bool disk_nearly_full(const char *path, struct text *why);

/* --- waiting for descriptors, also where the kernel has no memory for poll() --- */

/* Waits as poll() does. Where poll() fails, and may go on failing, rests for wait_ms, at most 100,
 * so that no loop spins; each descriptor then counts as one that can be read, so reads must not
 * block. Returns poll()'s answer, with its errno. A signal that interrupts is no failure: 0. */
int poll_or_rest(struct pollfd *fds, nfds_t n, int wait_ms);

#endif
