/* suspendable.c - which runs may be suspended: their memory stays, so it has to fit beside what
 * runs meanwhile; or they leave their GPU with its memory moved to the host's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decision.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"

bool is_suspended(const struct run *run)
{
	return run->suspension == SUSPENSION_DONE && run->stop_reason == STOP_NONE;
}

bool run_loses(const struct snapshot *s, const struct run *run)
{
	return s->loses && s->loses[run - s->runs.items];
}

/* Memory that a suspended run keeps, or would keep. */
static int64_t memory_of(const struct run *run)
{
	bool kept = run->suspension == SUSPENSION_DONE || run->suspension == SUSPENSION_RESUMING;

	return kept ? run->kept_memory_bytes : run->peak_memory_bytes;
}

/* The same, with the device's memory that will go to the host's when the run is frozen. */
static int64_t memory_with_device(const struct snapshot *s, const struct run *run)
{
	bool kept = run->suspension == SUSPENSION_DONE || run->suspension == SUSPENSION_RESUMING;

	return memory_of(run) + (kept || !run_freezes(s, run) ? 0 : run_device_bytes(s, run));
}

/* Memory stays where it is on devices that share the machine's, and on one GPU if it is known how
 * much that is. */
static bool has_a_way(const struct snapshot *s, const struct run *run)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);

	return run_freezes(s, run) ||
	       (backend && (backend->shares_memory || backend->resident) &&
		(run_is_bound(run) ? may_stay_resident(s, run) : device_memory_is_known(s, run)));
}

static bool is_on_its_way(const struct run *run)
{
	return run->state != RUN_ASSIGNED && run->suspension > SUSPENSION_NONE;
}

bool *suspendable_runs(const struct snapshot *s)
{
	bool *may = xcalloc((size_t)s->runs.count, sizeof(*may));
	double left = s->config->suspend_memory * (double)s->memory.total_bytes;

	for (int i = 0; i < s->runs.count; i++)
		if (is_on_its_way(&s->runs.items[i]))
			left -= (double)memory_with_device(s, &s->runs.items[i]);
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		int64_t bytes = memory_with_device(s, run);
		/* A job that never ran is taken to need as much as the run that leaves. */
		int64_t next = s->memory.largest_waiting_bytes > bytes
			? s->memory.largest_waiting_bytes : bytes;

		may[i] = is_on_its_way(run);
		/* A run that was launched just now, without a sample yet, counts as 0 bytes. */
		if (may[i] || run->suspension != SUSPENSION_NONE || !has_a_way(s, run) ||
		    left <= 0 || (double)bytes > left || next > s->memory.available_bytes ||
		    (s->starts_containers && s->starts_containers[i]))
			continue;
		may[i] = true;
		left -= (double)bytes;
	}
	return may;
}

/* --- on a GPU whose memory moves to the host's --- */

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
