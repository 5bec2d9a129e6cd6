/* crowded.c - runs that wait for devices which others have taken since, where machines are shared
 * with people who do not use pollux. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/device_users.h"
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

/* True if the run was crowded out, and has lost those devices. */
static bool leave(const struct engine_context *at, struct snapshot *s, const struct run *run,
		  const bool *is_free)
{
	struct crowd c = { .run = run, .out = xcalloc((size_t)run_held(run), sizeof(*c.out)) };
	bool leaves;

	find_crowd(at, &c);
	leaves = c.nodes > 0 && has_room(s, &c, is_free);
	if (leaves)
		take_devices(s, &c);
	free(c.out);
	return leaves;
}

/* By device, for the caller to free; NULL: none is free. */
static bool *find_free(const struct snapshot *s)
{
	bool *is_free = xcalloc((size_t)s->devices.count + 1, sizeof(*is_free)), any = false;

	for (int d = 0; d < s->devices.count; d++) {
		is_free[d] = s->devices.items[d].usable && !is_held(s, &s->devices.items[d]);
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
		if (!has_waited(&s->runs.items[r]))
			continue;
		if (!is_free && !(is_free = find_free(s)))
			return;
		done = leave(at, s, &s->runs.items[r], is_free);
	}
	free(is_free);
}
