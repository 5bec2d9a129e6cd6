/* profile_lock.h - whether the process of 'pollux profile' that measures a job is there. */
#ifndef POLLUX_PROFILE_LOCK_H
#define POLLUX_PROFILE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/paths.h"

/* Take the lock of a job that is a profile, as lock_take does. */
int profile_lock_take(const struct paths *paths, int64_t job_id, struct err *err);
/* True unless the lock is known to be free: only then is the profile's process gone. */
bool profile_lock_is_held(const struct paths *paths, int64_t job_id);
/* Remove the lock's file; whoever holds the lock holds it on. */
void profile_lock_remove(const struct paths *paths, int64_t job_id);

#endif
