/* left_locks.c - see left_locks.h. */
#include "left_locks.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pollux/lock.h"
#include "pollux/lock_holder.h"
#include "pollux/mem.h"
#include "pollux/shared_dir.h"
#include "pollux/shared_lock.h"

/* the same in both directories */
#define PREFIX "/" SHARED_LOCK_PREFIX
#define SUFFIX SHARED_LOCK_SUFFIX

static bool is_file(int fds, const char *link, const char *dir, const char *name)
{
	char *path = xasprintf("%s%s", dir, name);
	struct stat there, ours;
	bool is = fstatat(fds, link, &there, 0) == 0 && stat(path, &ours) == 0 &&
		  there.st_ino == ours.st_ino && there.st_dev == ours.st_dev;

	free(path);
	return is;
}

/* The directories of device locks. */
struct lock_dirs {
	char *own, *shared;	/* owned; shared NULL: there is none */
};

/* True if the link goes to a device's lock in one of these directories. */
static bool is_device_lock(const struct lock_dirs *dirs, int fds, const char *link)
{
	char target[4096];
	ssize_t n = readlinkat(fds, link, target, sizeof(target) - 1);
	const char *name;

	target[n > 0 ? n : 0] = '\0';
	name = strrchr(target, '/');
	n = name ? (ssize_t)strlen(name) : 0;
	if (!name || strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    n < (ssize_t)strlen(PREFIX SUFFIX) || strcmp(name + n - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	return is_file(fds, link, dirs->own, name) ||
	       (dirs->shared && is_file(fds, link, dirs->shared, name));
}

static bool release_lock(pid_t pid, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = pidfd >= 0 ? (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0) : -1;

	if (copy >= 0)
		lock_drop(copy);
	if (pidfd >= 0)
		close(pidfd);
	return copy >= 0;
}

static bool release_all_of(const struct lock_dirs *dirs, pid_t pid)
{
	const struct dirent *entry;
	bool released = true;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_device_lock(dirs, dirfd(dir), entry->d_name) &&
		    lock_holds_through(pid, entry->d_name))
			released = release_lock(pid, (int)strtol(entry->d_name, NULL, 10)) &&
				   released;
	if (dir)
		closedir(dir);
	return released;
}

bool left_locks_release(const struct paths *paths, const struct pid_list *list)
{
	struct lock_dirs dirs = { .own = xasprintf("%s/run", paths->dir) };
	struct err ignored;
	int shared = shared_dir_open(paths, &dirs.shared, &ignored);
	bool released = true;

	if (shared >= 0)
		close(shared);
	for (int i = 0; i < list->count; i++)
		released = release_all_of(&dirs, list->items[i]) && released;
	free(dirs.own);
	free(dirs.shared);
	return released;
}
