/* log_limit.h - a log that takes too much of the disk loses its middle. */
#ifndef POLLUX_LOG_LIMIT_H
#define POLLUX_LOG_LIMIT_H

#include "pollux/err.h"

/* If the file takes more than limit_bytes of the disk: keeps about the first tenth of that and the
 * last six tenths, whole lines, and makes a hole of what is between, after a line that says so. No
 * byte that stays changes its offset, and the program goes on writing. */
int log_limit_keep(const char *path, double limit_bytes, struct err *err);

#endif
