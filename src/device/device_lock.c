/* device_lock.c - a kernel lock does not tell its holder; a second lock does. */
#include <stdlib.h>

#include "pollux/device_lock.h"
#include "pollux/lock.h"

static enum lock_state look_at_path(char *lock)
{
	enum lock_state state = lock_look(lock);

	free(lock);
	return state;
}

const char *device_lock_holder(const struct paths *paths, const char *device_id)
{
	enum lock_state state = look_at_path(paths_device_lock(paths, device_id)), measure;

	if (state == LOCK_IS_FREE)
		return NULL;
	measure = look_at_path(paths_measure_lock(paths, device_id));
	if (state == LOCK_CANNOT_BE_TOLD || measure == LOCK_CANNOT_BE_TOLD)
		return DEVICE_LOCK_UNKNOWN;
	return measure == LOCK_IS_HELD ? DEVICE_LOCK_MEASURE : DEVICE_LOCK_ENDED;
}
