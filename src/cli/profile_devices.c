/* profile_devices.c - pollux profile --devices: measure each kind of device, keep it, show it.
 *
 * A device is measured under its lock, as a supervisor takes it, and only when nothing holds it or
 * is about to: no job is disturbed. A pass that assigns it meanwhile has its supervisor wait. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "pollux/clock.h"
#include "pollux/config.h"
#include "pollux/device_lock.h"
#include "pollux/device_owners.h"
#include "pollux/devices_profile.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/session.h"
#include "pollux/table.h"
#include "profile.h"

struct profiling {
	struct session session;
	struct device_list devices;
	struct run_list runs;		/* that have not ended */
	struct reserved_list reserved;	/* by jobs that are profiles */
	const struct profile_options *options;
	int *locks, *marks; /* of each device: -1, or the descriptor; marks tell others who it is */
	struct devices_profile profile;
};

/* --- who holds what --- */

/* The job that has the device, or cores of it, or is about to; 0: none. */
static int64_t holder_of(const struct profiling *p, const struct device *device)
{
	for (int r = 0; r < p->runs.count; r++)
		for (int i = 0; i < p->runs.items[r].configuration.replicas; i++)
			if (device_overlaps(device, &p->runs.items[r].devices[i]))
				return p->runs.items[r].job_id;
	for (int i = 0; i < p->reserved.count; i++)
		if (device_overlaps(device, &p->reserved.items[i].device))
			return p->reserved.items[i].job_id;
	return 0;
}

static int held(const struct profiling *p, const struct device *device, struct err *err)
{
	int64_t job_id = holder_of(p, device);
	const char *other = device_lock_holder(&p->session.paths, device->id);

	if (job_id)
		return err_set(err, EX_TEMPFAIL,
			       "device '%s' is held by job %lld; measure it when that has ended",
			       device->id, (long long)job_id);
	return err_set(err, EX_TEMPFAIL, "device '%s' is held by %s; try again later", device->id,
		       other ? other : DEVICE_LOCK_ENDED);
}

/* Take a second lock that tells other processes that a measurement holds the device. Without the
 * mark they would name an unknown process. */
static void mark(struct profiling *p, int d)
{
	char *path = paths_measure_lock(&p->session.paths, p->devices.items[d].id);
	struct err ignored;

	p->marks[d] = lock_take(path, &ignored);
	free(path);
}

/* The lock of devices.items[d], if nobody has or is about to have it. */
static int take(struct profiling *p, int d, struct err *err)
{
	const struct device *device = &p->devices.items[d];
	char *path;

	if (p->locks[d] >= 0)
		return 0;
	if (!device->usable)
		return err_set(err, EX_UNAVAILABLE, "device '%s' cannot be used: %s", device->id,
			       device->reason);
	if (holder_of(p, device))
		return held(p, device, err);
	path = paths_device_lock(&p->session.paths, device->id);
	p->locks[d] = lock_take(path, err);
	free(path);
	if (p->locks[d] < 0)
		return p->locks[d] == LOCK_HELD ? held(p, device, err) : -1;
	mark(p, d);
	return 0;
}

static void give_back(struct profiling *p)
{
	for (int d = 0; p->locks && d < p->devices.count; d++) {
		if (p->marks[d] >= 0)
			close(p->marks[d]);
		if (p->locks[d] >= 0)
			close(p->locks[d]);
		p->locks[d] = p->marks[d] = -1;
	}
}

/* --- measuring --- */

static void say(const char *what, const char *id)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "pollux: measuring %s%s ...\n", what, id);
}

static void merge(struct measure_result *into, struct measure_result *from)
{
	struct device_measurement_list *list = &into->list;

	list->items = xreallocarray(list->items, (size_t)list->count + (size_t)from->list.count + 1,
				    sizeof(*list->items));
	for (int i = 0; i < from->list.count; i++)
		list->items[list->count++] = from->list.items[i];
	for (size_t i = 0; i < from->notes.count; i++)
		strings_add(&into->notes, from->notes.items[i]);
	measure_result_release(from);
}

/* Those of the kind of devices.items[first], beginning with it, that can be had and share nothing.
 * What cannot be had is named in the notes. */
static int gather(struct profiling *p, int first, struct device *group, struct strings *notes)
{
	int n = 0;

	for (int d = first; d < p->devices.count; d++) {
		const struct device *device = &p->devices.items[d];
		bool overlaps = false;
		struct err err;

		for (int i = 0; i < n; i++)
			overlaps |= device_overlaps(&group[i], device);
		if (strcmp(device->kind, p->devices.items[first].kind) != 0 || overlaps)
			continue;
		if (take(p, d, &err) == 0)
			group[n++] = *device;
		else
			strings_addf(notes, "no exchange with '%s': %s", device->id, err.text);
	}
	return n;
}

/* 2, 4, 8 ..., and all. */
static int next_count(int count, int n)
{
	return count == n ? n + 1 : 2 * count < n ? 2 * count : n;
}

static void measure_exchanges(struct profiling *p, int first, struct measure_result *result)
{
	struct measure_options options = { .quick = p->options->quick };
	struct device *group = xcalloc((size_t)p->devices.count, sizeof(*group));
	int n = gather(p, first, group, &result->notes);

	for (int count = 2; count <= n; count = next_count(count, n)) {
		struct measure_result exchange;
		struct err err = { 0 };

		say("exchanges from ", group[0].id);
		if (measure_exchange(group, count, &options, &exchange, &err) == 0)
			merge(result, &exchange);
		else
			strings_addf(&result->notes, "no exchange between %d devices: %s", count,
				     err.text);
	}
	free(group);
}

static int keep(struct profiling *p, const struct profiled_kind *kind, struct err *err)
{
	struct store *s = &p->session.store;

	if (store_begin(s, err))
		return -1;
	if (store_device_measurements_set(s, kind->device->kind, &kind->result.list,
					  p->profile.time_s, err)) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

/* devices.items[d], which is locked. */
static int measure_kind(struct profiling *p, int d, struct err *err)
{
	struct measure_options options = { .quick = p->options->quick };
	struct profiled_kind *kind = &p->profile.kinds[p->profile.n_kinds];

	kind->device = &p->devices.items[d];
	say("", kind->device->id);
	if (measure_device(kind->device, &options, &kind->result, err))
		return -1;
	p->profile.n_kinds++;
	if (!p->options->device)
		measure_exchanges(p, d, &kind->result);
	give_back(p);
	return keep(p, kind, err);
}

static int measure_named(struct profiling *p, struct err *err)
{
	for (int d = 0; d < p->devices.count; d++)
		if (!strcmp(p->devices.items[d].id, p->options->device))
			return take(p, d, err) || measure_kind(p, d, err) ? -1 : 0;
	return err_set(err, EX_NOINPUT, "no device '%s'; see 'pollux devices'", p->options->device);
}

static bool is_new_kind(const struct profiling *p, int d)
{
	for (int e = 0; e < d; e++)
		if (!strcmp(p->devices.items[e].kind, p->devices.items[d].kind))
			return false;
	return true;
}

/* The first of the kind of devices.items[first] that can be had and measured. */
static int measure_one_of(struct profiling *p, int first, struct err *err)
{
	struct err why = { 0 };

	for (int d = first; d < p->devices.count; d++) {
		int n_before = p->profile.n_kinds;
		struct err one = { 0 };

		if (strcmp(p->devices.items[d].kind, p->devices.items[first].kind) != 0)
			continue;
		if (take(p, d, &one) == 0 && measure_kind(p, d, &one) == 0)
			return 0;
		give_back(p);
		/* Measured, but not kept: another kind would not be kept either. */
		if (p->profile.n_kinds > n_before) {
			*err = one;
			return -1;
		}
		if (!why.exit_status)
			why = one;
	}
	*err = why;
	return -1;
}

/* One kind that cannot be measured is no reason to leave out the others; none at all is a
 * failure. */
static int measure_all(struct profiling *p, struct err *err)
{
	struct err why = { 0 };

	for (int d = 0; d < p->devices.count; d++) {
		struct err one = { 0 };

		if (!is_new_kind(p, d) || measure_one_of(p, d, &one) == 0)
			continue;
		give_back(p);
		strings_add(&p->profile.left_out, one.text);
		if (!why.exit_status)
			why = one;
	}
	if (p->profile.n_kinds > 0)
		return 0;
	*err = why;
	return why.exit_status ? -1 : err_set(err, EX_UNAVAILABLE, "no device to measure");
}

/* --- all of it --- */

static int look(struct profiling *p, struct err *err)
{
	struct device_settings settings;
	struct config config;

	if (session_settings(&p->session, &config, err))
		return -1;
	settings = (struct device_settings){
		.slots = p->options->slots > 0 ? (int)p->options->slots : config.slots,
	};
	if (store_runs_active(&p->session.store, &p->runs, err) ||
	    store_reserved_list(&p->session.store, &p->reserved, err) ||
	    engine_for_new_runs()->list(&settings, &p->devices, err) ||
	    device_owners_check(&p->session.store, &p->runs, &p->devices, err))
		return -1;
	p->locks = xcalloc((size_t)p->devices.count, sizeof(*p->locks));
	p->marks = xcalloc((size_t)p->devices.count, sizeof(*p->marks));
	for (int d = 0; d < p->devices.count; d++)
		p->locks[d] = p->marks[d] = -1;
	p->profile.kinds = xcalloc((size_t)p->devices.count, sizeof(*p->profile.kinds));
	p->profile.time_s = clock_wall_s();
	p->profile.quick = p->options->quick;
	return 0;
}

static void show(const struct profiling *p)
{
	struct output out = output_stdout(p->options->color);

	if (p->options->json)
		devices_profile_print_json(&p->profile, stdout);
	else
		devices_profile_print(&p->profile, &out);
}

static void release(struct profiling *p)
{
	give_back(p);
	for (int i = 0; i < p->profile.n_kinds; i++)
		measure_result_release(&p->profile.kinds[i].result);
	free(p->profile.kinds);
	strings_release(&p->profile.left_out);
	free(p->locks);
	free(p->marks);
	devices_release(&p->devices);
	run_list_release(&p->runs);
	reserved_list_release(&p->reserved);
	session_close(&p->session);
}

int profile_devices(const struct profile_options *o, struct err *err)
{
	struct profiling p = { .options = o };
	int rc;

	if (session_open(&p.session, STORE_WRITE, err))
		return -1;
	rc = look(&p, err);
	if (rc == 0)
		rc = o->device ? measure_named(&p, err) : measure_all(&p, err);
	if (rc == 0)
		show(&p);
	release(&p);
	return rc;
}
