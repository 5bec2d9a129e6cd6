/* supervisor_devices.c - the locks of the devices of a run, and who is there before it. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pollux/device_owners.h"
#include "pollux/device_users.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/people.h"
#include "pollux/proc.h"
#include "pollux/store_runs.h"
#include "supervisor_parts.h"

/* --- locks that a dead supervisor left --- */

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

/* --- locks --- */

/* Those in this store's directory, and those by which the pollux of other people sees that the
 * devices are in use. */

static struct device_hold *new_holds(int n)
{
	struct device_hold *holds = xcalloc((size_t)n, sizeof(*holds));

	for (int i = 0; i < n; i++)
		holds[i].own = holds[i].shared = -1;
	return holds;
}

static void close_lock(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_locks(struct device_hold *holds, int n)
{
	for (int i = 0; i < n; i++)
		close_lock(&holds[i].own);
	for (int i = 0; i < n; i++)
		close_lock(&holds[i].shared);
}

void supervisor_begin_holds(struct supervisor *s)
{
	int n = s->run.configuration.replicas;

	s->devices = (struct supervisor_devices){
		.n = n, .launch = new_holds(n), .moved = new_holds(n),
	};
}

void supervisor_unlock_devices(struct supervisor *s)
{
	close_locks(s->devices.launch, s->devices.n);
}

void supervisor_leave_locks(struct supervisor *s)
{
	close_locks(s->devices.launch, s->devices.n);
	close_locks(s->devices.moved, s->devices.n);
}

int *supervisor_lock_fds(const struct supervisor *s, int *n)
{
	int *fds = xmalloc(2 * (size_t)s->devices.n * sizeof(*fds));

	*n = 0;
	for (int i = 0; i < s->devices.n; i++) {
		fds[(*n)++] = s->devices.launch[i].own;
		fds[(*n)++] = s->devices.launch[i].shared;
	}
	return fds;
}

static int lock_own(const struct supervisor *s, const struct device *device, struct err *err)
{
	char *path = paths_device_lock(s->paths, device->id);
	int fd = lock_take_place(path, device->seat, err);

	free(path);
	return fd;
}

/* --- a run that is to start --- */

/* True if another run of this store still has the processors of the device, after a change of the
 * number of slots. That run leaves them soon. */
static bool is_held_by_own(struct supervisor *s, const struct device *device)
{
	struct run_list runs;
	struct err err;
	bool is = false;

	if (store_runs_active(&s->store, &runs, &err)) {
		supervisor_log(s, "%s", err.text);
		return true;
	}
	for (int r = 0; r < runs.count && !is; r++)
		for (int i = 0; i < run_held(&runs.items[r]) && !is; i++)
			is = runs.items[r].id != s->run.id &&
			     shared_locks_meet(&runs.items[r].devices[i], device);
	run_list_release(&runs);
	return is;
}

/* Returns 0; LOCK_HELD; or -1 with *err. */
static int lock_device(struct supervisor *s, const struct device *device, struct device_hold *hold,
		       struct err *err)
{
	hold->device = *device;
	hold->own = lock_own(s, device, err);
	if (hold->own < 0)
		return hold->own;
	hold->shared = shared_lock_take(s->paths, device, err);
	if (hold->shared == LOCK_HELD)
		s->devices.outrun = !is_held_by_own(s, device);
	return hold->shared >= 0 || hold->shared == SHARED_LOCK_NONE ? 0 : hold->shared;
}

int supervisor_lock_devices(struct supervisor *s, bool *locked, struct err *err)
{
	int rc = 0;

	s->devices.outrun = false;
	for (int i = 0; rc == 0 && i < s->devices.n; i++)
		rc = lock_device(s, &s->run.devices[i], &s->devices.launch[i], err);
	*locked = rc == 0;
	if (rc)
		supervisor_unlock_devices(s);
	return rc == -1 ? -1 : 0;
}

static int refuse_blocked(const struct device_list *list, const struct device_user_list *users,
			  struct err *err)
{
	for (int d = 0; d < list->count; d++) {
		const struct device_user *worst = device_user_worst(users, d);

		if (worst) {
			char text[DEVICE_USER_SIZE];

			return err_set(err, EX_TEMPFAIL, "%s: %s", list->items[d].id,
				       device_user_describe(worst, list, text));
		}
	}
	return 0;
}

/* Checks who is there, because a pass assigns devices that another run still has to leave. */
int supervisor_check_devices(struct supervisor *s, struct err *err)
{
	struct device_list list = {
		.items = s->run.devices, .count = s->run.configuration.replicas,
		.processes = s->driver.before, .n_processes = s->driver.n_before,
	};
	struct device_user_list users = { 0 };
	struct run_list runs = { 0 };
	int rc = store_runs_active(&s->store, &runs, err) ||
		 device_owners_find(&s->store, &list, &runs, &users, err) ? -1 : 0;

	if (rc == 0)
		rc = refuse_blocked(&list, &users, err);
	device_user_list_release(&users);
	run_list_release(&runs);
	return rc;
}

/* --- a suspended run --- */

static void let_go(int launch_fd, int *moved_fd)
{
	if (launch_fd >= 0)
		lock_release(launch_fd);
	if (*moved_fd >= 0) {
		lock_drop(*moved_fd);
		*moved_fd = -1;
	}
}

void supervisor_release_locks(struct supervisor *s)
{
	struct supervisor_devices *d = &s->devices;

	for (int i = 0; i < d->n; i++)
		let_go(d->launch[i].own, &d->moved[i].own);
	for (int i = 0; i < d->n; i++)
		let_go(d->launch[i].shared, &d->moved[i].shared);
}

/* True if the device's lock is held, or if there is no lock to hold. */
static bool has_lock(struct supervisor *s, int fd, const struct err *err)
{
	s->devices.lock_failed = fd == -1;
	if (s->devices.lock_failed)
		supervisor_log(s, "%s", err->text);
	return fd >= 0 || fd == SHARED_LOCK_NONE;
}

/* The device's hold of the launch; one without locks: the run was not launched there. */
static struct device_hold hold_at_launch(const struct supervisor *s, const char *id)
{
	for (int k = 0; k < s->devices.n; k++)
		if (!strcmp(s->devices.launch[k].device.id, id))
			return s->devices.launch[k];
	return (struct device_hold){ .own = -1, .shared = -1 };
}

/* moved: the hold to use where the run was not launched on the device. */
static bool take_device(struct supervisor *s, const struct device *device,
			struct device_hold *moved)
{
	struct device_hold launch = hold_at_launch(s, device->id);
	struct err err = { 0 };

	if (launch.own >= 0) {
		if (!lock_again(launch.own, device->seat))
			return false;
	} else {
		moved->own = lock_own(s, device, &err);
		if (!has_lock(s, moved->own, &err))
			return false;
	}
	if (launch.shared >= 0)
		return shared_lock_again(launch.shared, s->paths, device);
	moved->shared = shared_lock_take(s->paths, device, &err);
	return has_lock(s, moved->shared, &err);
}

bool supervisor_take_locks(struct supervisor *s)
{
	for (int i = 0; i < s->devices.n; i++)
		if (!take_device(s, &s->run.devices[i], &s->devices.moved[i])) {
			supervisor_release_locks(s);
			return false;
		}
	return true;
}

/* --- an adopted run --- */

void supervisor_hold_devices(struct supervisor *s)
{
	struct err ignored;

	for (int i = 0; i < run_held(&s->run); i++) {
		struct device_hold *hold = &s->devices.launch[i];

		hold->device = s->run.devices[i];
		if (hold->shared < 0)
			hold->shared = shared_lock_take(s->paths, &hold->device, &ignored);
	}
}
