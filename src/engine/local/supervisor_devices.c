/* supervisor_devices.c - the locks of the devices of a run, and who is there before it. */
#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "pollux/device_owners.h"
#include "pollux/device_users.h"
#include "pollux/lock.h"
#include "pollux/people.h"
#include "supervisor_parts.h"

/* --- locks that a dead supervisor left --- */

/* the same in both directories */
#define PREFIX "/" SHARED_LOCK_PREFIX
#define SUFFIX SHARED_LOCK_SUFFIX

/* True if the link of a process goes to a device's lock in one of the directories. */
static bool is_device_lock(char *const dirs[2], int fds, const char *link)
{
	char target[4096];
	ssize_t n = readlinkat(fds, link, target, sizeof(target) - 1);
	struct stat there, ours;
	const char *name;
	bool is = false;

	target[n > 0 ? n : 0] = '\0';
	name = strrchr(target, '/');
	n = name ? (ssize_t)strlen(name) : 0;
	if (n < (ssize_t)strlen(PREFIX SUFFIX) || strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    strcmp(name + n - strlen(SUFFIX), SUFFIX) != 0 || fstatat(fds, link, &there, 0))
		return false;
	for (int i = 0; i < 2 && dirs[i] && !is; i++) {
		char *path = xasprintf("%s%s", dirs[i], name);

		is = stat(path, &ours) == 0 && there.st_ino == ours.st_ino &&
		     there.st_dev == ours.st_dev;
		free(path);
	}
	return is;
}

static bool release_all_of(char *const dirs[2], pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	const struct dirent *entry;
	bool released = true;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10), copy = -1;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !is_device_lock(dirs, dirfd(dir), entry->d_name) ||
		    !lock_holds_through(pid, entry->d_name))
			continue;
		if (pidfd >= 0)
			copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
		if (copy >= 0)
			lock_drop(copy);
		released = released && copy >= 0;
	}
	if (dir)
		closedir(dir);
	if (pidfd >= 0)
		close(pidfd);
	return released;
}

bool left_locks_release(const struct paths *paths, const struct pid_list *list)
{
	/* the store's own, and the shared one; NULL: there is none */
	char *dirs[2] = { xasprintf("%s/run", paths->dir), NULL };
	struct err ignored;
	int shared = shared_dir_open(paths, &dirs[1], &ignored);
	bool released = true;

	if (shared >= 0)
		close(shared);
	for (int i = 0; i < list->count; i++)
		released = release_all_of(dirs, list->items[i]) && released;
	free(dirs[0]);
	free(dirs[1]);
	return released;
}

/* --- locks --- */

void supervisor_begin_holds(struct supervisor *s)
{
	int n = s->run.configuration.replicas;
	struct supervisor_devices *d = &s->devices;

	*d = (struct supervisor_devices){
		.n = n, .launch = xcalloc((size_t)n, sizeof(*d->launch)),
		.moved = xcalloc((size_t)n, sizeof(*d->moved)),
	};
	for (int i = 0; i < n; i++) {
		d->launch[i].own = d->launch[i].shared = -1;
		d->moved[i].own = d->moved[i].shared = -1;
	}
}

static void close_lock(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void supervisor_leave_locks(struct supervisor *s)
{
	for (int i = 0; i < s->devices.n; i++) {
		close_lock(&s->devices.launch[i].own);
		close_lock(&s->devices.launch[i].shared);
		close_lock(&s->devices.moved[i].own);
		close_lock(&s->devices.moved[i].shared);
	}
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
	bool is = false;

	if (supervisor_note(s, store_runs_active(&s->store, &runs, &s->err)))
		return true;
	for (int r = 0; r < runs.count && !is; r++)
		for (int i = 0; i < run_held(&runs.items[r]) && !is; i++)
			is = runs.items[r].id != s->run.id &&
			     shared_locks_meet(&runs.items[r].devices[i], device);
	run_list_release(&runs);
	return is;
}

int supervisor_lock_devices(struct supervisor *s, bool *locked, struct err *err)
{
	int rc = 0;

	s->devices.outrun = false;
	for (int i = 0; rc == 0 && i < s->devices.n; i++) {
		const struct device *device = &s->run.devices[i];
		struct device_hold *hold = &s->devices.launch[i];

		hold->device = *device;
		hold->own = lock_own(s, device, err);
		rc = hold->own < 0 ? hold->own : 0;
		if (rc)
			break;
		hold->shared = shared_lock_take(s->paths, device, err);
		if (hold->shared == LOCK_HELD)
			s->devices.outrun = !is_held_by_own(s, device);
		if (hold->shared < 0 && hold->shared != SHARED_LOCK_NONE)
			rc = hold->shared;
	}
	*locked = rc == 0;
	if (rc)
		supervisor_leave_locks(s);
	return rc == -1 ? -1 : 0;
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

	for (int d = 0; rc == 0 && d < list.count; d++) {
		const struct device_user *worst = device_user_worst(&users, d);

		if (worst) {
			char text[DEVICE_USER_SIZE];

			rc = err_set(err, EX_TEMPFAIL, "%s: %s", list.items[d].id,
				     device_user_describe(worst, &list, text));
		}
	}
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

	for (int i = 0; i < d->n; i++) {
		let_go(d->launch[i].own, &d->moved[i].own);
		let_go(d->launch[i].shared, &d->moved[i].shared);
	}
}

/* True if the device's lock is held, or if there is no lock to hold. */
static bool has_lock(struct supervisor *s, int fd, const struct err *err)
{
	s->devices.lock_failed = fd == -1;
	if (s->devices.lock_failed)
		supervisor_log(s, "%s", err->text);
	return fd >= 0 || fd == SHARED_LOCK_NONE;
}

/* moved: the hold to use where the run was not launched on the device. */
static bool take_device(struct supervisor *s, const struct device *device,
			struct device_hold *moved)
{
	struct device_hold launch = { .own = -1, .shared = -1 };
	struct err err = { 0 };

	for (int k = 0; k < s->devices.n; k++)
		if (!strcmp(s->devices.launch[k].device.id, device->id))
			launch = s->devices.launch[k];
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
