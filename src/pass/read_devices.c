/* read_devices.c - the devices of a snapshot: looks at the machine, then judges by the store which
 * devices can be given out. */
#include <stdio.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/device_owners.h"
#include "pollux/device_users.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_machine.h"
#include "snapshot.h"

/* All devices of a list are GPUs, or all are slots of the CPU. */
void pass_look_for_suspension(struct snapshot *s)
{
	const struct engine *engine = engine_for_new_runs();

	s->suspends = s->devices.count > 0 && engine->suspends &&
		      engine->suspends(&s->devices.items[0]);
	s->memory.total_bytes = proc_memory_bytes("MemTotal:");
	s->memory.available_bytes = proc_memory_bytes("MemAvailable:");
}

/* Called outside any transaction, since a driver or a directory of users may take seconds. */
static int look_at_machine(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	size_t size;

	if (people_read(at->paths, &s->people, err) ||
	    engine_devices(s->config, false, &s->devices, err))
		return -1;
	size = (size_t)s->devices.count * sizeof(*s->listed);
	s->listed = xcalloc((size_t)s->devices.count + 1, sizeof(*s->listed));
	if (size > 0)
		memcpy(s->listed, s->devices.items, size);
	device_users_look(&s->devices, &s->users);
	pass_look_for_suspension(s);
	return 0;
}

int pass_look_at_machine(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	bool any;

	if (store_has_schedulable(at->store, &any, err))
		return -1;
	if (any && look_at_machine(at, s, &s->failure))
		s->look_failed = true;
	return 0;
}

/* A lock may be held though no run has the device: the device is being measured, or a process
 * outlived its job and the search for what the job left. The device is not given out until that
 * has ended. */
static void check_lock(const struct engine_context *at, struct snapshot *s, int d)
{
	struct device *device = &s->devices.items[d];
	bool is_asked = device->usable || (device->left_out && device->keeps_runs);
	const char *holder = is_asked ? engine_outsider(at, &s->runs, device) : NULL;

	if (!holder)
		return;
	device->keeps_runs = false;
	if (device->left_out)
		return;		/* its reason stays */
	device->usable = false;
	s->elsewhere[d] = !strcmp(holder, DEVICE_LOCK_OTHER);
	snprintf(device->reason, sizeof(device->reason),
		 s->elsewhere[d] ? "%s has it" : "%s still holds it", holder);
}

static int withdraw_reserved(struct store *store, const struct reserved_device *reserved,
			     struct snapshot *s, struct err *err)
{
	struct profile_hold hold = { .job_id = reserved->job_id };
	struct job job;

	if (store_job_get(store, reserved->job_id, &job, err))
		return -1;
	hold.until_s = job.next_start_s;
	job_release(&job);
	for (int d = 0; d < s->devices.count; d++)
		if (device_overlaps(&s->devices.items[d], &reserved->device)) {
			s->devices.items[d].usable = false;
			s->holds[d] = hold;
		}
	return 0;
}

/* A profile keeps its devices between its runs. */
static int withdraw_for_profiles(struct store *store, struct snapshot *s, struct err *err)
{
	struct reserved_list list;
	int rc = 0;

	if (store_reserved_list(store, &list, err))
		return -1;
	if (list.count > 0)
		s->holds = xcalloc((size_t)s->devices.count, sizeof(*s->holds));
	for (int i = 0; rc == 0 && i < list.count; i++)
		rc = withdraw_reserved(store, &list.items[i], s, err);
	reserved_list_release(&list);
	return rc;
}

/* True if the device is the run's to keep while the device is not usable for a moment. */
static bool keeps_device(const struct run *run, const struct device *device)
{
	if (run->state == RUN_ASSIGNED && clock_boot_s() - run->assigned_boot_s > PASS_AWAITED_S)
		return false;
	for (int i = 0; i < run_held(run); i++)
		if (device_is_same(&run->devices[i], device))
			return true;
	return false;
}

static void leave_to_runs(struct snapshot *s, struct device *device)
{
	for (int r = 0; !device->usable && r < s->runs.count; r++)
		if (keeps_device(&s->runs.items[r], device)) {
			device->usable = true;
			device->reason[0] = '\0';
		}
}

int pass_judge_devices(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	for (int d = 0; d < s->devices.count; d++)
		if (s->devices.items[d].keeps_runs && !s->devices.items[d].left_out)
			leave_to_runs(s, &s->devices.items[d]);
	if (withdraw_for_profiles(at->store, s, err) ||
	    device_owners_match(at->store, &s->devices, &s->runs, &s->users, err) ||
	    device_owners_gone(at->store, &s->devices, &s->gone, err))
		return -1;
	device_owners_refuse(&s->users, &s->runs, &s->devices);
	s->elsewhere = xcalloc((size_t)s->devices.count, sizeof(*s->elsewhere));
	for (int d = 0; d < s->devices.count; d++)
		check_lock(at, s, d);
	pass_leave_crowded(at, s);
	return 0;
}
