/* last_words.h - what a run said last, for where nothing is known to say why it ended; private to src/engine/local. */
#ifndef POLLUX_RUN_LAST_WORDS_H
#define POLLUX_RUN_LAST_WORDS_H

#include <stdint.h>

#define LAST_WORDS_SIZE 200	/* bytes of it, at most */

/* The last line in the log, from offset on, that is not blank; of one that was written over (carriage return)
 * what stands. NULL where there is none; the caller's to free. */
char *last_words(const char *path, int64_t offset);

#endif
