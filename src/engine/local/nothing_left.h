/* nothing_left.h - the sentences by which programs that were launched again say that their training
 * is over; private to src/engine/local. */
#ifndef POLLUX_RUN_NOTHING_LEFT_H
#define POLLUX_RUN_NOTHING_LEFT_H

#include <stdint.h>

/* Returns the line that says so, of the last 8 KiB that the run wrote, clipped to LAST_WORDS_SIZE;
 * NULL: none does. The run's part of the log begins at offset. The caller frees. Meant for runs
 * that failed before their first step, of a job whose last run ended with status 0: some of these
 * programs say the same of weights that were never trained to the end. */
char *nothing_left_words(const char *path, int64_t offset);

#endif
