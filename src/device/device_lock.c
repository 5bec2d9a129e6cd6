/* device_lock.c - a kernel lock does not tell its holder; a second lock does. */
#include <stdlib.h>

#include "pollux/device_lock.h"
#include "pollux/lock.h"

static bool is_held(char *lock)
{
	bool held = lock_is_held(lock);

	free(lock);
	return held;
}

const char *device_lock_holder(const struct paths *paths, const char *device_id)
{
	if (!is_held(paths_device_lock(paths, device_id)))
		return NULL;
	return is_held(paths_measure_lock(paths, device_id)) ? DEVICE_LOCK_MEASURE
							     : DEVICE_LOCK_ENDED;
}
