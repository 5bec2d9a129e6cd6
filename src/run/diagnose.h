/* diagnose.h - name what killed a job, from its log and the kernel's counters; private to src/run. */
#ifndef POLLUX_RUN_DIAGNOSE_H
#define POLLUX_RUN_DIAGNOSE_H

#include <stdint.h>

/* The text of an out-of-memory error (or another known killer) in the last 64 KiB that the run wrote,
 * from offset on (from the beginning where the log is shorter), of words that need not mean much in the
 * last 8; NULL when there is none. Static. */
const char *diagnose_log(const char *path, int64_t offset);

#endif
