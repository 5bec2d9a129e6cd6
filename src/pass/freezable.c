/* freezable.c - which runs may leave their GPU with its memory moved to the host's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decision.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"

static const struct device_driver *driver_of(const struct snapshot *s, const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);

	for (int i = 0; i < s->devices.n_drivers; i++)
		if (s->devices.drivers[i].backend == backend)
			return &s->devices.drivers[i];
	return NULL;
}

int read_freezable(struct store *store, struct snapshot *s, struct err *err)
{
	const struct engine *engine = engine_for_new_runs();

	free(s->move_s_per_byte);
	s->move_s_per_byte = xcalloc((size_t)s->devices.count + 1, sizeof(*s->move_s_per_byte));
	for (int d = 0; d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];
		const struct device_driver *driver = driver_of(s, device);
		struct freeze_tested tested;

		s->move_s_per_byte[d] = (double)NAN;
		if (!driver || !engine->freezes || !engine->freezes(device))
			continue;
		if (store_freeze_test_get(store, device->id, driver->version, &tested, err))
			return -1;
		if (!tested.passed || tested.bytes <= 0)
			continue;
		s->move_s_per_byte[d] = (tested.freeze_s + tested.thaw_s) / (double)tested.bytes;
		s->suspends = true;
	}
	return 0;
}

static int device_of(const struct snapshot *s, const struct run *run)
{
	for (int d = 0; s->move_s_per_byte && d < s->devices.count; d++)
		if (!strcmp(s->devices.items[d].id, run->devices[0].id))
			return d;
	return -1;
}

bool run_freezes(const struct snapshot *s, const struct run *run)
{
	int d = run->configuration.replicas == 1 ? device_of(s, run) : -1;

	return d >= 0 && isfinite(s->move_s_per_byte[d]);
}

int64_t run_device_bytes(const struct snapshot *s, const struct run *run)
{
	int d = device_of(s, run);
	int64_t bytes = 0;

	if (run->frozen_bytes > 0)
		return run->frozen_bytes;
	for (int i = 0; i < s->users.count; i++) {
		const struct device_user *u = &s->users.items[i];

		if (u->process.device == d && u->job_id == run->job_id &&
		    u->process.memory_bytes > 0)
			bytes += u->process.memory_bytes;
	}
	return bytes > run->peak_device_memory_bytes ? bytes : run->peak_device_memory_bytes;
}

double run_move_s(const struct snapshot *s, const struct run *run)
{
	int d = device_of(s, run);

	return run_freezes(s, run) ? s->move_s_per_byte[d] * (double)run_device_bytes(s, run) : 0;
}
