/* job_lock.c - see job_lock.h. */
#include <stdlib.h>
#include <unistd.h>

#include "pollux/job_lock.h"
#include "pollux/lock.h"
#include "pollux/mem.h"

static char *path_of(const struct paths *paths, enum job_lock lock, int64_t job_id)
{
	const char *command = lock == JOB_LOCK_PROFILE ? "profile" : "interactive";

	return xasprintf("%s/run/%s-%lld.lock", paths->dir, command, (long long)job_id);
}

int job_lock_take(const struct paths *paths, enum job_lock lock, int64_t job_id, struct err *err)
{
	char *path = path_of(paths, lock, job_id);
	int fd = lock_take(path, err);

	free(path);
	return fd;
}

bool job_lock_is_held(const struct paths *paths, enum job_lock lock, int64_t job_id)
{
	char *path = path_of(paths, lock, job_id);
	bool held = lock_look(path) != LOCK_IS_FREE;

	free(path);
	return held;
}

void job_lock_remove(const struct paths *paths, enum job_lock lock, int64_t job_id)
{
	char *path = path_of(paths, lock, job_id);

	unlink(path);
	free(path);
}
