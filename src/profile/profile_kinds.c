/* profile_kinds.c - measure one device of each kind; see pollux/profile_kinds.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device_lock.h"
#include "pollux/device_owners.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/profile_kinds.h"
#include "profile_state.h"

struct profiling {
	const struct profile_kinds_settings *settings;
	const struct paths *paths;
	struct store *store;
	struct run_list runs;		/* that have not ended */
	struct reserved_list reserved;	/* devices reserved by profiles of jobs */
	/* For each device, a descriptor or -1: its lock, and the mark that tells other processes
	 * that a measurement holds the lock. */
	int *locks, *marks;
	struct devices_profile *profile;
};

/* --- who holds what --- */

static int held(const struct profiling *p, const struct device *device, struct err *err)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };
	const char *other = engine_for_new_runs()->device_holder(&at, device);
	int64_t job_id = profile_job_on(&p->runs, &p->reserved, device);

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
	char *path = paths_measure_lock(p->paths, p->profile->devices.items[d].id);
	struct err ignored;

	p->marks[d] = lock_take(path, &ignored);
	free(path);
}

/* Take the lock of device d, unless somebody has or is about to have the device. */
static int take(struct profiling *p, int d, struct err *err)
{
	const struct device *device = &p->profile->devices.items[d];
	char *path;

	if (p->locks[d] >= 0)
		return 0;
	if (!device->usable)
		return err_set(err, EX_UNAVAILABLE, "device '%s' cannot be used: %s", device->id,
			       device->reason);
	if (profile_job_on(&p->runs, &p->reserved, device))
		return held(p, device, err);
	path = paths_device_lock(p->paths, device->id);
	p->locks[d] = lock_take(path, err);
	free(path);
	if (p->locks[d] < 0)
		return p->locks[d] == LOCK_HELD ? held(p, device, err) : -1;
	mark(p, d);
	return 0;
}

static void give_back(struct profiling *p)
{
	for (int d = 0; p->locks && d < p->profile->devices.count; d++) {
		if (p->marks[d] >= 0)
			close(p->marks[d]);
		if (p->locks[d] >= 0)
			close(p->locks[d]);
		p->locks[d] = p->marks[d] = -1;
	}
}

/* --- measuring --- */

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

/* Take the devices of one kind, from the first on, that share nothing with one another. The notes
 * name the devices that cannot be had. */
static int gather(struct profiling *p, int first, struct device *group, struct strings *notes)
{
	int n = 0;

	for (int d = first; d < p->profile->devices.count; d++) {
		const struct device *device = &p->profile->devices.items[d];
		bool overlaps = false;
		struct err err;

		for (int i = 0; i < n; i++)
			overlaps |= device_overlaps(&group[i], device);
		if (strcmp(device->kind, p->profile->devices.items[first].kind) != 0 || overlaps)
			continue;
		if (take(p, d, &err) == 0)
			group[n++] = *device;
		else
			strings_addf(notes, "no exchange with '%s': %s", device->id, err.text);
	}
	return n;
}

static void measure_exchanges(struct profiling *p, int first, struct measure_result *result)
{
	struct measure_options options = { .quick = p->settings->quick };
	struct device *group = xcalloc((size_t)p->profile->devices.count, sizeof(*group));
	int n = gather(p, first, group, &result->notes);

	/* Between 2, 4, 8 ... devices, and between all. */
	for (int count = 2, next; count <= n; count = next) {
		struct measure_result exchange;
		struct err err = { 0 };

		next = count == n ? n + 1 : 2 * count < n ? 2 * count : n;
		p->settings->progress(&group[0], true);
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
	if (store_begin(p->store, err))
		return -1;
	if (store_device_measurements_set(p->store, kind->device->kind, &kind->result.list,
					  p->profile->time_s, err)) {
		store_rollback(p->store);
		return -1;
	}
	return store_commit(p->store, err);
}

/* Measure the kind of device d on this device, which is locked. */
static int measure_kind(struct profiling *p, int d, struct err *err)
{
	struct measure_options options = { .quick = p->settings->quick };
	struct profiled_kind *kind = &p->profile->kinds[p->profile->n_kinds];

	kind->device = &p->profile->devices.items[d];
	p->settings->progress(kind->device, false);
	if (measure_device(kind->device, &options, &kind->result, err))
		return -1;
	p->profile->n_kinds++;
	if (!p->settings->device)
		measure_exchanges(p, d, &kind->result);
	give_back(p);
	return keep(p, kind, err);
}

static int measure_named(struct profiling *p, struct err *err)
{
	for (int d = 0; d < p->profile->devices.count; d++)
		if (!strcmp(p->profile->devices.items[d].id, p->settings->device))
			return take(p, d, err) || measure_kind(p, d, err) ? -1 : 0;
	return err_set(err, EX_NOINPUT, "no device '%s'; see 'pollux devices'",
		       p->settings->device);
}

static bool is_new_kind(const struct profiling *p, int d)
{
	for (int e = 0; e < d; e++)
		if (!strcmp(p->profile->devices.items[e].kind, p->profile->devices.items[d].kind))
			return false;
	return true;
}

/* Measure the kind of device `first` on the first of its devices that can be had and measured. */
static int measure_one_of(struct profiling *p, int first, struct err *err)
{
	const struct device *devices = p->profile->devices.items;
	struct err why = { 0 };

	for (int d = first; d < p->profile->devices.count; d++) {
		int n_before = p->profile->n_kinds;
		struct err one = { 0 };

		if (strcmp(devices[d].kind, devices[first].kind) != 0)
			continue;
		if (take(p, d, &one) == 0 && measure_kind(p, d, &one) == 0)
			return 0;
		give_back(p);
		/* Measured, but not kept: another kind would not be kept either. */
		if (p->profile->n_kinds > n_before) {
			*err = one;
			return -1;
		}
		if (!why.exit_status)
			why = one;
	}
	*err = why;
	return -1;
}

/* A kind that cannot be measured does not keep the others from it. Without any kind measured, the
 * profile fails. */
static int measure_all(struct profiling *p, struct err *err)
{
	struct err why = { 0 };

	for (int d = 0; d < p->profile->devices.count; d++) {
		struct err one = { 0 };

		if (!is_new_kind(p, d) || measure_one_of(p, d, &one) == 0)
			continue;
		give_back(p);
		strings_add(&p->profile->left_out, one.text);
		if (!why.exit_status)
			why = one;
	}
	if (p->profile->n_kinds > 0)
		return 0;
	*err = why;
	return why.exit_status ? -1 : err_set(err, EX_UNAVAILABLE, "no device to measure");
}

/* --- all of it --- */

static int look(struct profiling *p, struct err *err)
{
	struct device_settings settings = { .slots = p->settings->slots };
	struct devices_profile *profile = p->profile;
	size_t n;

	if (store_runs_active(p->store, &p->runs, err) ||
	    store_reserved_list(p->store, &p->reserved, err) ||
	    engine_for_new_runs()->list(&settings, &profile->devices, err) ||
	    device_owners_check(p->store, &p->runs, &profile->devices, err))
		return -1;
	n = (size_t)profile->devices.count;
	p->locks = xcalloc(n, sizeof(*p->locks));
	p->marks = xcalloc(n, sizeof(*p->marks));
	for (size_t d = 0; d < n; d++)
		p->locks[d] = p->marks[d] = -1;
	profile->kinds = xcalloc(n, sizeof(*profile->kinds));
	return 0;
}

int profile_kinds(const struct profile_kinds_settings *settings, struct devices_profile *profile,
		  struct err *err)
{
	struct profiling p = {
		.settings = settings, .paths = &settings->session->paths,
		.store = &settings->session->store, .profile = profile,
	};
	int rc;

	*profile = (struct devices_profile){ .time_s = clock_wall_s(), .quick = settings->quick };
	rc = look(&p, err);
	if (rc == 0)
		rc = settings->device ? measure_named(&p, err) : measure_all(&p, err);
	give_back(&p);
	free(p.locks);
	free(p.marks);
	run_list_release(&p.runs);
	reserved_list_release(&p.reserved);
	return rc;
}

void devices_profile_release(struct devices_profile *profile)
{
	for (int i = 0; i < profile->n_kinds; i++)
		measure_result_release(&profile->kinds[i].result);
	free(profile->kinds);
	strings_release(&profile->left_out);
	devices_release(&profile->devices);
	*profile = (struct devices_profile){ 0 };
}
