/* interactive_lock.c - see interactive_lock.h. */
#include <stdlib.h>
#include <unistd.h>

#include "pollux/lock.h"
#include "pollux/interactive_lock.h"

int interactive_lock_take(const struct paths *paths, int64_t job_id, struct err *err)
{
	char *path = paths_interactive_lock(paths, job_id);
	int fd = lock_take(path, err);

	free(path);
	return fd;
}

bool interactive_lock_is_held(const struct paths *paths, int64_t job_id)
{
	char *path = paths_interactive_lock(paths, job_id);
	bool held = lock_look(path) != LOCK_IS_FREE;

	free(path);
	return held;
}

void interactive_lock_remove(const struct paths *paths, int64_t job_id)
{
	char *path = paths_interactive_lock(paths, job_id);

	unlink(path);
	free(path);
}
