/* supervisor_devices.c - the devices of a run, and their locks. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device_owners.h"
#include "pollux/device_users.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/people.h"
#include "pollux/proc.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_driver.h"
#include "supervisor_loop.h"

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

/* --- drivers --- */

/* Drivers are asked before the run's command is started and after. A GPU's memory becomes free some
 * time after its process has ended; for a large one it takes seconds. A job that is started before
 * then runs out of memory. */

/* Some drivers list a dead process until they are reloaded. The next pass sees the memory it
 * holds. */
#define DRIVER_WAIT_S 10.0
/* After a pause the first question loads a driver that is not kept loaded: seconds for each GPU. */
#define DRIVER_START_S 10.0
#define DRIVER_ANSWER_S 5.0

static bool was_there(const struct supervisor *s, const struct device_process *p)
{
	for (int i = 0; i < s->n_before; i++)
		if (s->before[i].pid == p->pid && s->before[i].device == p->device)
			return true;
	return false;
}

/* True if a process of the run is still listed. The run's own processes have ended by now, so this
 * is a listed process that does not exist and was not there before the run; in a container with
 * pids of its own, any process that was not there before the run. */
static bool lingers(const struct supervisor *s, const struct device_process *list, int n)
{
	bool sees_all = proc_sees_all();

	for (int i = 0; i < n; i++)
		if (!was_there(s, &list[i]) &&
		    (!sees_all || list[i].pid == 0 ||
		     (!proc_lives((pid_t)list[i].pid) && !proc_is_hidden((pid_t)list[i].pid))))
			return true;
	return false;
}

static void take_lingering(struct supervisor *s, struct device_process *list, int n)
{
	bool clear = n < 0 || !lingers(s, list, n);

	free(list);
	if (!clear && clock_boot_s() >= s->driver_until_boot_s) {
		supervisor_log(s, "a driver lists an ended process on '%s' for more than %g s",
			       s->run.devices[0].id, DRIVER_WAIT_S);
		clear = true;
	}
	if (clear)
		supervisor_handle(s, EV_CLEAR);
}

/* The child that asked may hang after its answer. */
bool supervisor_devices_clear(struct supervisor *s)
{
	enum driver_asked asked;

	if (isinf(s->driver_until_boot_s))
		s->driver_until_boot_s = clock_boot_s() + DRIVER_WAIT_S;
	asked = supervisor_ask_driver(s, DRIVER_ANSWER_S, take_lingering);
	return asked == DRIVER_NONE ||
	       (asked == DRIVER_BUSY && s->driver.fd < 0 &&
		clock_boot_s() >= s->driver_until_boot_s);
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

/* If the driver does not answer, the run starts: the program's own error will say more. */
static void take_who_is_there(struct supervisor *s, struct device_process *list, int n)
{
	free(s->before);
	s->before = list;
	s->n_before = n > 0 ? n : 0;
	supervisor_handle(s, EV_DRIVER);
}

bool supervisor_ask_who_is_there(struct supervisor *s)
{
	return supervisor_ask_driver(s, DRIVER_START_S, take_who_is_there) == DRIVER_ASKED;
}

/* Checks who is there, because a pass assigns devices that another run still has to leave. */
int supervisor_check_devices(struct supervisor *s, struct err *err)
{
	struct device_list list = {
		.items = s->run.devices, .count = s->run.configuration.replicas,
		.processes = s->before, .n_processes = s->n_before,
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

/* --- locks --- */

/* Those in this store's directory, and those by which the pollux of other people sees that the
 * devices are in use. */

int supervisor_lock_count(const struct supervisor *s)
{
	return 2 * s->run.configuration.replicas;
}

/* --- a run that is to start --- */

void supervisor_unlock_devices(struct supervisor *s)
{
	for (int i = 0; i < supervisor_lock_count(s); i++) {
		if (s->device_locks[i] >= 0)
			close(s->device_locks[i]);
		s->device_locks[i] = -1;
	}
}

void supervisor_leave_locks(struct supervisor *s)
{
	supervisor_unlock_devices(s);
	for (int i = 0; s->moved_locks && i < supervisor_lock_count(s); i++) {
		if (s->moved_locks[i] >= 0)
			close(s->moved_locks[i]);
		s->moved_locks[i] = -1;
	}
}

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
static int lock_device(struct supervisor *s, int i, struct err *err)
{
	const struct device *device = &s->run.devices[i];
	int *own = &s->device_locks[i], *shared = own + s->run.configuration.replicas;
	char *path = paths_device_lock(s->paths, device->id);

	*own = lock_take_place(path, device->seat, err);
	free(path);
	if (*own < 0)
		return *own;
	*shared = shared_lock_take(s->paths, device, err);
	if (*shared == LOCK_HELD)
		s->outrun = !is_held_by_own(s, device);
	return *shared >= 0 || *shared == SHARED_LOCK_NONE ? 0 : *shared;
}

int supervisor_lock_devices(struct supervisor *s, bool *locked, struct err *err)
{
	int rc = 0;

	s->outrun = false;
	for (int i = 0; rc == 0 && i < s->run.configuration.replicas; i++)
		rc = lock_device(s, i, err);
	*locked = rc == 0;
	if (rc)
		supervisor_unlock_devices(s);
	return rc == -1 ? -1 : 0;
}

/* --- a suspended run --- */

void supervisor_release_locks(struct supervisor *s)
{
	for (int i = 0; i < supervisor_lock_count(s); i++) {
		if (s->device_locks[i] >= 0)
			lock_release(s->device_locks[i]);
		if (s->moved_locks && s->moved_locks[i] >= 0) {
			lock_drop(s->moved_locks[i]);
			s->moved_locks[i] = -1;
		}
	}
}

/* True if the device's lock is held, or if there is no lock to hold. */
static bool has_lock(struct supervisor *s, int fd, const struct err *err)
{
	s->lock_failed = fd == -1;
	if (s->lock_failed)
		supervisor_log(s, "%s", err->text);
	return fd >= 0 || fd == SHARED_LOCK_NONE;
}

/* k: the place of the device among those of the launch; -1: it is another device. */
static bool take_own(struct supervisor *s, int i, int k)
{
	struct err err = { 0 };
	char *path;

	if (k >= 0 && s->device_locks[k] >= 0)
		return lock_again(s->device_locks[k], s->run.devices[i].seat);
	path = paths_device_lock(s->paths, s->run.devices[i].id);
	s->moved_locks[i] = lock_take_place(path, s->run.devices[i].seat, &err);
	free(path);
	return has_lock(s, s->moved_locks[i], &err);
}

static bool take_shared(struct supervisor *s, int i, int k)
{
	int n = s->run.configuration.replicas;
	struct err err = { 0 };

	if (k >= 0 && s->device_locks[n + k] >= 0)
		return shared_lock_again(s->device_locks[n + k], s->paths,
					 &s->run.devices[i]);
	s->moved_locks[n + i] = shared_lock_take(s->paths, &s->run.devices[i], &err);
	return has_lock(s, s->moved_locks[n + i], &err);
}

static int place_at_launch(const struct supervisor *s, const char *id)
{
	for (int k = 0; k < s->run.configuration.replicas; k++)
		if (!strcmp(s->launch_devices[k].id, id))
			return k;
	return -1;
}

bool supervisor_take_locks(struct supervisor *s)
{
	for (int i = 0; i < s->run.configuration.replicas; i++) {
		int k = place_at_launch(s, s->run.devices[i].id);

		if (!take_own(s, i, k) || !take_shared(s, i, k)) {
			supervisor_release_locks(s);
			return false;
		}
	}
	return true;
}

/* --- an adopted run --- */

void supervisor_hold_devices(struct supervisor *s)
{
	int n = s->run.configuration.replicas;
	struct err ignored;

	for (int i = 0; i < run_held(&s->run); i++)
		if (s->device_locks[n + i] < 0)
			s->device_locks[n + i] = shared_lock_take(s->paths, &s->run.devices[i],
								  &ignored);
}
