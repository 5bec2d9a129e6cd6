/* failed_pass.h - why the last pass failed that nobody watched: the pass after a submission or
 * after the end of a run. Any later pass that succeeds makes this forgotten. */
#ifndef POLLUX_FAILED_PASS_H
#define POLLUX_FAILED_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/paths.h"

/* Notes why a pass failed. Does nothing if pollux has no directory. */
void failed_pass_note(const struct paths *paths, const char *why);
void failed_pass_forget(const struct paths *paths);
/* Returns true if the last such pass failed. *why is cut to size; *time_s is by the wall clock. */
bool failed_pass_read(const struct paths *paths, char *why, size_t size, double *time_s);

#endif
