/* interactive_lock.h - the lock that 'pollux run' holds while it lives. */
#ifndef POLLUX_INTERACTIVE_LOCK_H
#define POLLUX_INTERACTIVE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/paths.h"

/* Takes the lock of an interactive job, as lock_take() does. */
int interactive_lock_take(const struct paths *paths, int64_t job_id, struct err *err);
/* True unless the lock is known to be free: only then is the job's 'pollux run' gone. */
bool interactive_lock_is_held(const struct paths *paths, int64_t job_id);
/* Removes the file of the lock. A holder of the lock keeps it. */
void interactive_lock_remove(const struct paths *paths, int64_t job_id);

#endif
