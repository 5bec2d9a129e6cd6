/* log_tail.h - the end of a run's log; private to src/engine/local. */
#ifndef POLLUX_RUN_LOG_TAIL_H
#define POLLUX_RUN_LOG_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* The last bytes of the log, from offset on, as many as there are and at most so many; from its beginning if
 * it is shorter than offset (it was begun anew). Returns how many; 0 also where it cannot be read. */
size_t log_tail(const char *path, int64_t offset, char *buffer, size_t most);

#endif
