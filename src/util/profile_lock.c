/* profile_lock.c - the lock that the process of a profile holds while it lives. */
#include <stdlib.h>
#include <unistd.h>

#include "pollux/lock.h"
#include "pollux/profile_lock.h"

int profile_lock_take(const struct paths *paths, int64_t job_id, struct err *err)
{
	char *path = paths_profile_lock(paths, job_id);
	int fd = lock_take(path, err);

	free(path);
	return fd;
}

bool profile_lock_is_held(const struct paths *paths, int64_t job_id)
{
	char *path = paths_profile_lock(paths, job_id);
	bool held = lock_look(path) != LOCK_IS_FREE;

	free(path);
	return held;
}

void profile_lock_remove(const struct paths *paths, int64_t job_id)
{
	char *path = paths_profile_lock(paths, job_id);

	unlink(path);
	free(path);
}
