/* open_file.h - every way in which pollux opens a file.
 *
 * A file of the store, a log or a lock may have been replaced by something else: a FIFO, at which
 * open(2) waits for ever, a device, or a directory. tools/check-opens.sh refuses other calls of
 * open(2) and fopen(3) in src, but those of directories. */
#ifndef POLLUX_OPEN_FILE_H
#define POLLUX_OPEN_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* Opens a regular file, and nothing else; never waits. The descriptor is close-on-exec. flags and
 * mode are those of open(2); with O_NOFOLLOW a link is refused, too. -1 with errno, for which
 * file_open_why() has words. */
int file_open(const char *path, int flags, mode_t mode);
int file_open_at(int directory, const char *name, int flags, mode_t mode);

/* file_open() for reading, as a stream. NULL with errno. */
FILE *file_open_stream(const char *path);

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

/* Says why file_open() failed: "it is no regular file", "it is a symbolic link", or strerror(3). */
const char *file_open_why(int why);

#endif
