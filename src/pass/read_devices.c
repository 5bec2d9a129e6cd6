/* read_devices.c - the devices of a snapshot: looks at the machine, then judges by the store which
 * devices can be given out. */
#include <stdio.h>
#include <stdlib.h>
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

int pass_look_at_machine(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	size_t size;
	bool any;

	if (store_has_schedulable(at->store, &any, err))
		return -1;
	if (!any)
		return 0;
	s->look_failed = people_read(at->paths, &s->people, &s->failure) ||
			 engine_devices(s->config, false, &s->devices, &s->failure);
	if (s->look_failed)
		return 0;
	size = (size_t)s->devices.count * sizeof(*s->listed);
	s->listed = xcalloc((size_t)s->devices.count + 1, sizeof(*s->listed));
	if (size > 0)
		memcpy(s->listed, s->devices.items, size);
	device_users_look(&s->devices, &s->users);
	pass_look_for_suspension(s);
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

/* A profile keeps its devices between its runs. */
static int withdraw_for_profiles(struct store *store, struct snapshot *s, struct err *err)
{
	struct reserved_list list;
	int rc = 0;

	if (store_reserved_list(store, &list, err))
		return -1;
	if (list.count > 0)
		s->holds = xcalloc((size_t)s->devices.count, sizeof(*s->holds));
	for (int i = 0; rc == 0 && i < list.count; i++) {
		const struct reserved_device *reserved = &list.items[i];
		struct job job;

		rc = store_job_get(store, reserved->job_id, &job, err);
		for (int d = 0; rc == 0 && d < s->devices.count; d++)
			if (device_overlaps(&s->devices.items[d], &reserved->device)) {
				s->devices.items[d].usable = false;
				s->holds[d] = (struct profile_hold){
					reserved->job_id, job.next_start_s,
				};
			}
		if (rc == 0)
			job_release(&job);
	}
	reserved_list_release(&list);
	return rc;
}

/* --- crowded out --- */

/* Runs may wait for devices which others have taken since, where machines are shared with people
 * who do not use pollux. */

static int count_on(const struct run *run, const char *node)
{
	int n = 0;

	for (int i = 0; i < run_held(run); i++)
		n += !strcmp(run->devices[i].node, node);
	return n;
}

/* The devices of a node follow each other in the list. */
static bool is_first_of_node(const struct device *devices, int d)
{
	return d == 0 || strcmp(devices[d - 1].node, devices[d].node) != 0;
}

struct crowd {
	const struct run *run;
	bool *out;			/* by device of the run: others crowd it out */
	int nodes, most;		/* with such devices; the most of the run on one node */
};

/* True if as many nodes as are crowded have that many free devices each, or one node has enough for
 * the whole run. is_free: by device. */
static bool has_room(const struct snapshot *s, const struct crowd *c, const bool *is_free)
{
	int with_room = 0, n = 0;

	for (int d = 0; d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];

		if (is_first_of_node(s->devices.items, d))
			n = 0;
		n += is_free[d] && !strcmp(device->kind, c->run->devices[0].kind);
		if (n >= run_held(c->run))
			return true;
		if (d + 1 < s->devices.count && !is_first_of_node(s->devices.items, d + 1))
			continue;
		with_room += n >= c->most && count_on(c->run, device->node) == 0;
	}
	return with_room >= c->nodes;
}

/* True if others crowd the run out of devices, and as much is free elsewhere. It then loses those
 * devices. */
static bool leave(const struct engine_context *at, struct snapshot *s, const struct run *run,
		  const bool *is_free)
{
	struct crowd c = { .run = run, .out = xcalloc((size_t)run_held(run), sizeof(*c.out)) };
	bool leaves;

	for (int i = 0; i < run_held(run); i++) {
		int n = count_on(run, run->devices[i].node);
		bool first = is_first_of_node(run->devices, i);

		c.out[i] = first ? engine_of(run)->crowded_out(at, run, run->devices[i].node)
				 : c.out[i - 1];
		c.nodes += first && c.out[i];
		c.most = n > c.most ? n : c.most;
	}
	leaves = c.nodes > 0 && has_room(s, &c, is_free);
	for (int d = 0; leaves && d < s->devices.count; d++)
		for (int i = 0; i < run_held(run); i++) {
			struct device *device = &s->devices.items[d];

			if (!c.out[i] || !device_is_same(&run->devices[i], device))
				continue;
			device->usable = false;
			s->elsewhere[d] = true;
			snprintf(device->reason, sizeof(device->reason),
				 DEVICE_LOCK_OTHER " has it");
		}
	free(c.out);
	return leaves;
}

/* By device, for the caller to free; NULL: none is free. */
static bool *find_free(const struct snapshot *s)
{
	bool *is_free = xcalloc((size_t)s->devices.count + 1, sizeof(*is_free)), any = false;

	for (int d = 0; d < s->devices.count; d++) {
		is_free[d] = s->devices.items[d].usable;
		for (int r = 0; is_free[d] && r < s->runs.count; r++)
			is_free[d] = !run_holds(&s->runs.items[r], &s->devices.items[d]);
		any |= is_free[d];
	}
	if (any)
		return is_free;
	free(is_free);
	return NULL;
}

/* One run in a pass: the room that one finds is not there for the next. */
void pass_leave_crowded(const struct engine_context *at, struct snapshot *s)
{
	bool *is_free = NULL, done = false;

	for (int r = 0; !done && r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run->state != RUN_ASSIGNED || run->stop_reason != STOP_NONE ||
		    run_held(run) == 0 || !engine_of(run)->crowded_out ||
		    !(clock_boot_s() - run->assigned_boot_s > PASS_AWAITED_S))
			continue;
		if (!is_free && !(is_free = find_free(s)))
			return;
		done = leave(at, s, run, is_free);
	}
	free(is_free);
}

/* --- all --- */

int pass_judge_devices(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	/* A device that is not usable for a moment is its run's to keep. */
	for (int d = 0; d < s->devices.count; d++) {
		struct device *device = &s->devices.items[d];

		if (!device->keeps_runs || device->left_out)
			continue;
		for (int r = 0; !device->usable && r < s->runs.count; r++) {
			const struct run *run = &s->runs.items[r];

			if ((run->state == RUN_ASSIGNED &&
			     clock_boot_s() - run->assigned_boot_s > PASS_AWAITED_S) ||
			    !run_holds(run, device))
				continue;
			device->usable = true;
			device->reason[0] = '\0';
		}
	}
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
