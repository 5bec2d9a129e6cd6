/* crowded.c - runs that wait for devices which others have taken since, where machines are shared
 * with people who do not use pollux. */
#include <stdio.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/device_lock.h"
#include "snapshot.h"

static bool is_held(const struct snapshot *s, const struct device *device)
{
	for (int r = 0; r < s->runs.count; r++)
		for (int i = 0; i < run_held(&s->runs.items[r]); i++)
			if (device_is_same(&s->runs.items[r].devices[i], device))
				return true;
	return false;
}

/* The free devices of that kind on a node. */
static int count_free(const struct snapshot *s, const char *node, const char *kind)
{
	int n = 0;

	for (int d = 0; d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];

		n += device->usable && !strcmp(device->node, node) &&
		     !strcmp(device->kind, kind) && !is_held(s, device);
	}
	return n;
}

static int count_on(const struct run *run, const char *node)
{
	int n = 0;

	for (int i = 0; i < run_held(run); i++)
		n += !strcmp(run->devices[i].node, node);
	return n;
}

/* The devices of a node follow each other in the list. */
static bool is_first_of_node(const struct device_list *devices, int d)
{
	return d == 0 || strcmp(devices->items[d - 1].node, devices->items[d].node) != 0;
}

/* True if as many nodes as the run has could give it as many free devices each. */
static bool has_room(const struct snapshot *s, const struct run *run)
{
	int most = 1, with_room = 0, nodes = 0;

	for (int i = 0; i < run_held(run); i++) {
		int n = count_on(run, run->devices[i].node);

		most = n > most ? n : most;
	}
	nodes = (run_held(run) + most - 1) / most;
	for (int d = 0; d < s->devices.count && with_room < nodes; d++)
		if (is_first_of_node(&s->devices, d))
			with_room += count_free(s, s->devices.items[d].node,
						run->devices[0].kind) >= most;
	return with_room >= nodes;
}

static bool is_crowded_out(const struct engine_context *at, const struct run *run)
{
	const struct engine *engine = engine_of(run);

	return run->state == RUN_ASSIGNED && run_held(run) > 0 && engine->crowded_out &&
	       clock_boot_s() - run->assigned_boot_s > PASS_AWAITED_S &&
	       engine->crowded_out(at, run);
}

static void take_devices(struct snapshot *s, const struct run *run)
{
	for (int d = 0; d < s->devices.count; d++)
		for (int i = 0; i < run_held(run); i++)
			if (device_is_same(&run->devices[i], &s->devices.items[d])) {
				s->devices.items[d].usable = false;
				s->elsewhere[d] = true;
				snprintf(s->devices.items[d].reason,
					 sizeof(s->devices.items[d].reason),
					 DEVICE_LOCK_OTHER " has it");
			}
}

/* One run in a pass: the room that one finds is not there for the next. */
void pass_leave_crowded(const struct engine_context *at, struct snapshot *s)
{
	for (int r = 0; r < s->runs.count; r++)
		if (is_crowded_out(at, &s->runs.items[r]) && has_room(s, &s->runs.items[r])) {
			take_devices(s, &s->runs.items[r]);
			return;
		}
}
