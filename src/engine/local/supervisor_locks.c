/* supervisor_locks.c - the locks of a run's devices: those in this store's directory, and those by
 * which the pollux of other people sees that the devices are in use. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/lock.h"
#include "pollux/shared_lock.h"
#include "pollux/store_runs.h"
#include "supervisor.h"

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
