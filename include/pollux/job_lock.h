/* job_lock.h - the lock that the command of a job holds while it lives: 'pollux run' for an
 * interactive job, 'pollux profile' for a profile. */
#ifndef POLLUX_JOB_LOCK_H
#define POLLUX_JOB_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/paths.h"

enum job_lock { JOB_LOCK_INTERACTIVE, JOB_LOCK_PROFILE };

/* Takes the lock, as lock_take() does. */
int job_lock_take(const struct paths *paths, enum job_lock lock, int64_t job_id, struct err *err);

/* True unless the lock is known to be free: only then is the command gone. */
bool job_lock_is_held(const struct paths *paths, enum job_lock lock, int64_t job_id);

/* Removes the file of the lock. A holder of the lock keeps it. */
void job_lock_remove(const struct paths *paths, enum job_lock lock, int64_t job_id);

#endif
