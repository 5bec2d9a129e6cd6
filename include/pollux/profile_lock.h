/* profile_lock.h - the lock that the process of 'pollux profile' holds while it lives. */
#ifndef POLLUX_PROFILE_LOCK_H
#define POLLUX_PROFILE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/paths.h"

/* Takes the lock of the job of a profile, as lock_take() does. */
int profile_lock_take(const struct paths *paths, int64_t job_id, struct err *err);
/* True unless the lock is known to be free: only then is the profile's process gone. */
bool profile_lock_is_held(const struct paths *paths, int64_t job_id);
/* Removes the file of the lock. A holder of the lock keeps it. */
void profile_lock_remove(const struct paths *paths, int64_t job_id);

#endif
