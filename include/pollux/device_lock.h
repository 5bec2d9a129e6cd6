/* device_lock.h - who holds a device that no run and no profile has. */
#ifndef POLLUX_DEVICE_LOCK_H
#define POLLUX_DEVICE_LOCK_H

#include "pollux/paths.h"

#define DEVICE_LOCK_MEASURE "pollux profile --devices"
#define DEVICE_LOCK_ENDED "a process of an ended run"
#define DEVICE_LOCK_OTHER "another user"
/* it may be free: no descriptor was left, or the file may not be read */
#define DEVICE_LOCK_UNKNOWN "perhaps somebody (its lock cannot be read)"

/* Returns one of these texts, by the locks of the device; NULL: nobody holds it. */
const char *device_lock_holder(const struct paths *paths, const char *device_id);

#endif
