/* file.h - files that are there in full, or as they were. */
#ifndef POLLUX_FILE_H
#define POLLUX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pollux/err.h"

/* Put these bytes in place of the file: written beside it, on the disk, renamed. A symbolic link stays, and what
 * it names is replaced. What is no regular file, such as a device or a FIFO, and the file that standard output or
 * standard error goes to, are written to as they are. EX_CANTCREAT: a file is as it was, and nothing lies beside
 * it. */
int file_replace(const char *path, const void *bytes, size_t n, struct err *err);

/* Before what takes long: whether file_replace could, as far as can be told now. Leaves all as it was. */
int file_check(const char *path, struct err *err);

/* Whether both name one file, through whatever links, be it there or still to be made. False of what is no regular
 * file: several may write there. */
bool file_same(const char *a, const char *b);

/* What open() would make of a mode: for files made by mkostemp and mkdtemp, which let nobody else in. */
mode_t file_usual_mode(mode_t mode);

/* All of them, however often that takes; -1 with errno. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
