/* file.h - files that are replaced as a whole or not at all. */
#ifndef POLLUX_FILE_H
#define POLLUX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pollux/err.h"

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

/* Returns the mode without the bits of the umask, as open(2) applies them. For files made by
 * mkostemp(3) and mkdtemp(3), which only their owner may read. */
mode_t file_usual_mode(mode_t mode);

/* Writes all n bytes, with as many calls of write(2) as needed. 0, or -1 with errno. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
