/* file.h - files that are there in full, or as they were. */
#ifndef POLLUX_FILE_H
#define POLLUX_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "pollux/err.h"

/* Put these bytes in place of the file: written beside it, on the disk, renamed. EX_CANTCREAT: it is as it
 * was, and nothing lies beside it. */
int file_replace(const char *path, const void *bytes, size_t n, struct err *err);

/* What open() would make of a mode: for files made by mkostemp and mkdtemp, which let nobody else in. */
mode_t file_usual_mode(mode_t mode);

/* All of them, however often that takes; -1 with errno. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
