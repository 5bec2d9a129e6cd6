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

#define PREFIX "/device-"
#define SUFFIX ".lock"

/* True if the link goes to a device's lock in this store's directory. */
static bool is_device_lock(const struct paths *paths, int fds, const char *link)
{
	char target[4096];
	ssize_t n = readlinkat(fds, link, target, sizeof(target) - 1);
	const char *name;
	struct stat there, ours;
	char *path;
	bool is;

	target[n > 0 ? n : 0] = '\0';
	name = strrchr(target, '/');
	n = name ? (ssize_t)strlen(name) : 0;
	if (!name || strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    n < (ssize_t)strlen(PREFIX SUFFIX) || strcmp(name + n - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	path = xasprintf("%s/run%s", paths->dir, name);
	is = fstatat(fds, link, &there, 0) == 0 && stat(path, &ours) == 0 &&
	     there.st_ino == ours.st_ino && there.st_dev == ours.st_dev;
	free(path);
	return is;
}

static bool release(pid_t pid, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = pidfd >= 0 ? (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0) : -1;

	if (copy >= 0)
		lock_drop(copy);
	if (pidfd >= 0)
		close(pidfd);
	return copy >= 0;
}

static bool release_all_of(const struct paths *paths, pid_t pid)
{
	const struct dirent *entry;
	bool released = true;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_device_lock(paths, dirfd(dir), entry->d_name) &&
		    lock_holds_through(pid, entry->d_name))
			released = release(pid, (int)strtol(entry->d_name, NULL, 10)) && released;
	if (dir)
		closedir(dir);
	return released;
}

bool left_locks_release(const struct paths *paths, const struct pid_list *list)
{
	bool released = true;

	for (int i = 0; i < list->count; i++)
		released = release_all_of(paths, list->items[i]) && released;
	return released;
}
