/* log_tail.h - the end of a run's log; private to src/engine/local. */
#ifndef POLLUX_RUN_LOG_TAIL_H
#define POLLUX_RUN_LOG_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* Reads the last bytes of the log after offset, at most size. If the log is shorter than offset, it
 * was begun anew and is read from its beginning. Returns the number of bytes; 0 also if the log
 * cannot be read. */
size_t log_tail(const char *path, int64_t offset, char *buffer, size_t most);

#endif
