/* crowded.c - runs that wait for devices which others have taken since, where machines are shared
 * with people who do not use pollux. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/device_lock.h"
#include "pollux/mem.h"
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
static bool is_first_of_node(const struct device *devices, int d)
{
	return d == 0 || strcmp(devices[d - 1].node, devices[d].node) != 0;
}

struct crowd {
	const struct run *run;
	bool *out;			/* by device of the run: others crowd it out */
	int nodes, most;		/* with such devices; the most of the run on one node */
};

static void find_crowd(const struct engine_context *at, struct crowd *c)
{
	const struct run *run = c->run;

	for (int i = 0; i < run_held(run); i++) {
		int n = count_on(run, run->devices[i].node);
		bool first = is_first_of_node(run->devices, i);

		c->out[i] = first ? engine_of(run)->crowded_out(at, run, run->devices[i].node)
				  : c->out[i - 1];
		c->nodes += first && c->out[i];
		c->most = n > c->most ? n : c->most;
	}
}

/* True if as many nodes as are crowded have that many free devices each, or one node has enough for
 * the whole run. */
static bool has_room(const struct snapshot *s, const struct crowd *c)
{
	int with_room = 0;

	for (int d = 0; d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];
		int n;

		if (!is_first_of_node(s->devices.items, d))
			continue;
		n = count_free(s, device->node, c->run->devices[0].kind);
		if (n >= run_held(c->run))
			return true;
		with_room += n >= c->most && count_on(c->run, device->node) == 0;
	}
	return with_room >= c->nodes;
}

static bool has_waited(const struct run *run)
{
	return run->state == RUN_ASSIGNED && run->stop_reason == STOP_NONE && run_held(run) > 0 &&
	       engine_of(run)->crowded_out &&
	       clock_boot_s() - run->assigned_boot_s > PASS_AWAITED_S;
}

static void take_devices(struct snapshot *s, const struct crowd *c)
{
	for (int d = 0; d < s->devices.count; d++)
		for (int i = 0; i < run_held(c->run); i++) {
			struct device *device = &s->devices.items[d];

			if (!c->out[i] || !device_is_same(&c->run->devices[i], device))
				continue;
			device->usable = false;
			s->elsewhere[d] = true;
			snprintf(device->reason, sizeof(device->reason),
				 DEVICE_LOCK_OTHER " has it");
		}
}

/* One run in a pass: the room that one finds is not there for the next. */
void pass_leave_crowded(const struct engine_context *at, struct snapshot *s)
{
	bool done = false;

	for (int r = 0; !done && r < s->runs.count; r++) {
		struct crowd c = { .run = &s->runs.items[r] };

		if (!has_waited(c.run))
			continue;
		c.out = xcalloc((size_t)run_held(c.run), sizeof(*c.out));
		find_crowd(at, &c);
		done = c.nodes > 0 && has_room(s, &c);
		if (done)
			take_devices(s, &c);
		free(c.out);
	}
}
