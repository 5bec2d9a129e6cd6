/* device_claims.c - take the locks of devices to measure them, only when no job has them. */
#include "device_claims.h"

#include <stdlib.h>
#include <unistd.h>

#include "pollux/device_owners.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "profile_state.h"

int device_claims_open(struct device_claims *c, const struct config *config, bool in_full,
		       struct device_list *devices, struct err *err)
{
	size_t n;

	c->devices = devices;
	if (store_runs_active(c->store, &c->runs, err) ||
	    store_reserved_list(c->store, &c->reserved, err) ||
	    engine_devices(config, in_full, devices, err) ||
	    device_owners_check(c->store, &c->runs, devices, err))
		return -1;
	n = (size_t)devices->count;
	c->locks = xcalloc(n, sizeof(*c->locks));
	c->marks = xcalloc(n, sizeof(*c->marks));
	c->shared = xcalloc(n, sizeof(*c->shared));
	for (size_t d = 0; d < n; d++)
		c->locks[d] = c->marks[d] = c->shared[d] = -1;
	return 0;
}

static int held(const struct device_claims *c, const struct device *device, struct err *err)
{
	struct engine_context at = { .paths = c->paths, .store = c->store };
	const char *other = engine_outsider(&at, &c->runs, device);
	int64_t job_id = profile_job_on(&c->runs, &c->reserved, device);

	if (job_id)
		return err_set(err, EX_TEMPFAIL,
			       "device '%s' is held by job %lld; try again when that has ended",
			       device->id, (long long)job_id);
	return err_set(err, EX_TEMPFAIL, "device '%s' is held by %s; try again later", device->id,
		       other ? other : DEVICE_LOCK_ENDED);
}

/* Takes a second lock that tells other processes that a measurement holds the device. Without the
 * mark they would name an unknown process. */
static void mark(struct device_claims *c, int d)
{
	char *path = paths_measure_lock(c->paths, c->devices->items[d].id);
	struct err ignored;

	c->marks[d] = lock_take(path, &ignored);
	free(path);
}

int device_claims_take(struct device_claims *c, int d, struct err *err)
{
	const struct device *device = &c->devices->items[d];
	char *path;

	if (c->locks[d] >= 0)
		return 0;
	if (!device->usable)
		return err_set(err, EX_UNAVAILABLE, "device '%s' cannot be used: %s", device->id,
			       device->reason);
	if (profile_job_on(&c->runs, &c->reserved, device))
		return held(c, device, err);
	path = paths_device_lock(c->paths, device->id);
	c->locks[d] = lock_take(path, err);
	free(path);
	if (c->locks[d] < 0)
		return c->locks[d] == LOCK_HELD ? held(c, device, err) : -1;
	c->shared[d] = shared_lock_take(c->paths, device, err);
	if (c->shared[d] < 0 && c->shared[d] != SHARED_LOCK_NONE) {
		lock_drop(c->locks[d]);
		c->locks[d] = -1;
		return c->shared[d] == LOCK_HELD ? held(c, device, err) : -1;
	}
	mark(c, d);
	return 0;
}

void device_claims_drop(struct device_claims *c)
{
	for (int d = 0; c->locks && d < c->devices->count; d++) {
		if (c->marks[d] >= 0)
			close(c->marks[d]);
		if (c->shared[d] >= 0)
			close(c->shared[d]);
		if (c->locks[d] >= 0)
			close(c->locks[d]);
		c->locks[d] = c->marks[d] = c->shared[d] = -1;
	}
}

void device_claims_release(struct device_claims *c)
{
	device_claims_drop(c);
	free(c->locks);
	free(c->marks);
	free(c->shared);
	run_list_release(&c->runs);
	reserved_list_release(&c->reserved);
}
