/* log_errors.h - name the error that killed a job, from the job's log; private to src/engine/local.
 * oom_killer.h has the kernel's counters. */
#ifndef POLLUX_LOG_ERRORS_H
#define POLLUX_LOG_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

struct log_error {
	const char *meaning;		/* "GPU out of memory" */
	bool out_of_memory;
	bool at_start;			/* means that only of a run that has just begun */
};

/* Returns an out-of-memory error or another known error (static) that stands in the last 64 KiB
 * that the run wrote; NULL: none was found. The run's part of the log begins at offset, or at 0 if
 * the log is shorter than offset. Meant for runs that failed.
 *
 * Words that only such an error prints count anywhere. Words that programs also print about errors
 * they expect or handle count in the last 8 KiB only, and only as the report of a line: an
 * exception's name that begins the line ("MemoryError: ...", "numpy...._ArrayMemoryError: ...") or
 * a message that ends the line after a colon or bracket ("fork: Cannot allocate memory", "[Errno
 * 12] Cannot allocate memory: 'x'"), with no warning before. Remarks and warnings of TensorFlow's
 * and XLA's logs do not count. */
const struct log_error *diagnose_log(const char *path, int64_t offset);

#endif
