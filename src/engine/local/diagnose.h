/* diagnose.h - name what killed a job, from its log; private to src/engine/local. The kernel's counters: oom.h. */
#ifndef POLLUX_RUN_DIAGNOSE_H
#define POLLUX_RUN_DIAGNOSE_H

#include <stdint.h>

/* The text of an out-of-memory error (or another known killer) in the last 64 KiB that the run wrote, from
 * offset on (from the beginning where the log is shorter); NULL when there is none. Static.
 *
 * Words that only such an error has count wherever they stand. Others, which programs also say of what they
 * expect or got over, count in the last 8 KiB only, and only where they are what a line reports: the name of an
 * exception that begins it ("MemoryError: ...", "numpy...._ArrayMemoryError: ..."), or a message that ends it
 * after a colon or bracket ("fork: Cannot allocate memory", "[Errno 12] Cannot allocate memory: 'x'"), with no
 * warning before. It is for runs that failed. */
const char *diagnose_log(const char *path, int64_t offset);

#endif
