/* last_words.h - the last line that a run printed, shown when no known error explains its end;
 * private to src/engine/local. */
#ifndef POLLUX_RUN_LAST_WORDS_H
#define POLLUX_RUN_LAST_WORDS_H

#include <stdint.h>

#define LAST_WORDS_SIZE 200	/* bytes at most */

/* Returns the last line of the log after offset that is not blank; NULL: none. If the program wrote
 * over the line (carriage return), returns what a terminal would show. The caller frees. */
char *last_words(const char *path, int64_t offset);

#endif
