/* profile_kinds.c - measures one device of each kind, and tries a freeze on each free GPU; see
 * profile.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"
#include "pollux/store_measurements.h"
#include "pollux/time_ratio.h"
#include "profile_state.h"

struct profiling {
	const struct profile_kinds_settings *settings;
	struct device_claims claims;
	struct devices_profile *profile;
};

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
static int gather_group(struct profiling *p, int first, struct device *group, struct strings *notes)
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
		if (device_claims_take(&p->claims, d, &err) == 0)
			group[n++] = *device;
		else
			strings_addf(notes, "no exchange with '%s': %s", device->id, err.text);
	}
	return n;
}

/* Measures a pair and keeps its times under the name of its tier. */
static void measure_pair(struct profiling *p, const struct device pair[2],
			 enum configuration_tier tier, struct measure_result *result)
{
	struct measure_options options = { .quick = p->settings->quick };
	struct measure_result exchange;
	struct err err = { 0 };
	int kept = 0;

	p->settings->progress(&pair[0], true);
	if (measure_exchange(pair, 2, &options, &exchange, &err)) {
		strings_addf(&result->notes, "no exchange between %s and %s: %s", pair[0].id,
			     pair[1].id, err.text);
		return;
	}
	for (int i = 0; i < exchange.list.count; i++) {
		struct device_measurement m = exchange.list.items[i];

		if (m.devices != 2 || m.bytes == 0)
			continue;
		tier_variant(tier, m.what == MEASURED_COPY, m.variant);
		exchange.list.items[kept++] = m;
	}
	exchange.list.count = kept;
	merge(result, &exchange);
}

/* Where devices are joined in several ways, measures the first pair of each, and puts the pair that
 * is joined best to the front: what is expected of a job is for that pair. */
static void measure_tiers(struct profiling *p, struct device *group, int n,
			  struct measure_result *result)
{
	struct {
		int i, k;		/* i < k; 0 and 0: there is none */
	} pairs[DEVICE_LINK_MACHINE + 1] = { { 0, 0 } };
	int n_tiers = 0, best = -1;

	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++) {
			struct device pair[] = { group[i], group[k] };
			int link = devices_farthest(&p->profile->devices, pair, 2);

			if (link < 0 || link > DEVICE_LINK_MACHINE || pairs[link].k)
				continue;
			pairs[link].i = i;
			pairs[link].k = k;
			n_tiers++;
			best = best < 0 || link < best ? link : best;
		}
	if (n_tiers < 2)
		return;
	for (int link = 0; link <= DEVICE_LINK_MACHINE; link++)
		if (pairs[link].k) {
			struct device pair[] = { group[pairs[link].i], group[pairs[link].k] };

			measure_pair(p, pair, (enum configuration_tier)(TIER_FAST + link), result);
		}
	for (int at = 0; at < 2; at++) {	/* k, if it is first, was changed for i: i < k */
		int from = at ? pairs[best].k : pairs[best].i;
		struct device other = group[at];

		group[at] = group[from];
		group[from] = other;
	}
}

static void measure_exchanges(struct profiling *p, int first, struct measure_result *result)
{
	struct measure_options options = { .quick = p->settings->quick };
	autofree struct device *group = xcalloc((size_t)p->profile->devices.count, sizeof(*group));
	int n = gather_group(p, first, group, &result->notes);

	measure_tiers(p, group, n, result);

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
}

/* Measure the kind of device d on this device, which is locked. */
static int measure_kind(struct profiling *p, int d, struct err *err)
{
	struct measure_options options = { .quick = p->settings->quick };
	struct profiled_kind *kind = &p->profile->kinds[p->profile->n_kinds];
	struct store *store = p->claims.store;

	kind->device = &p->profile->devices.items[d];
	p->settings->progress(kind->device, false);
	if (measure_device(kind->device, &options, &kind->result, err))
		return -1;
	p->profile->n_kinds++;
	if (!p->settings->device)
		measure_exchanges(p, d, &kind->result);
	device_claims_drop(&p->claims);
	if (store_begin(store, err))
		return -1;
	if (store_device_measurements_set(store, kind->device->kind, &kind->result.list,
					  p->profile->time_s, err)) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, err);
}

/* Measures the kind of device `first` on the first of its devices that can be had and measured. If
 * a measurement cannot be stored, one of another device would not be stored either. */
static int measure_one_of(struct profiling *p, int first, struct err *err)
{
	const struct device *devices = p->profile->devices.items;
	int n_before = p->profile->n_kinds;
	struct err one;

	for (int d = first; d < p->profile->devices.count && p->profile->n_kinds == n_before; d++) {
		if (strcmp(devices[d].kind, devices[first].kind) != 0)
			continue;
		one = (struct err){ 0 };
		if (device_claims_take(&p->claims, d, &one) == 0 && measure_kind(p, d, &one) == 0)
			return 0;
		device_claims_drop(&p->claims);
		if (!err->exit_status || p->profile->n_kinds > n_before)
			*err = one;
	}
	return -1;
}

/* Measures the device that was named, or one of each kind. A kind that cannot be measured does not
 * keep the others from it. Without any kind measured, the profile fails. */
static int measure_all(struct profiling *p, struct err *err)
{
	const struct device *devices = p->profile->devices.items;
	struct err why = { 0 };

	for (int d = 0; d < p->profile->devices.count; d++) {
		struct err one = { 0 };
		int first = 0;

		if (p->settings->device && strcmp(devices[d].id, p->settings->device) != 0)
			continue;
		if (p->settings->device)
			return device_claims_take(&p->claims, d, err) ||
			       measure_kind(p, d, err) ? -1 : 0;
		while (strcmp(devices[first].kind, devices[d].kind) != 0)
			first++;
		if (first < d || measure_one_of(p, d, &one) == 0)
			continue;
		strings_add(&p->profile->left_out, one.text);
		if (!why.exit_status)
			why = one;
	}
	if (p->settings->device)
		return err_set(err, EX_NOINPUT, "no device '%s'; see 'pollux devices'",
			       p->settings->device);
	if (p->profile->n_kinds > 0)
		return 0;
	*err = why;
	return why.exit_status ? -1 : err_set(err, EX_UNAVAILABLE, "no device to measure");
}

int profile_kinds(const struct profile_kinds_settings *settings, struct devices_profile *profile,
		  struct err *err)
{
	struct profiling p = {
		.settings = settings, .profile = profile,
		.claims = { .paths = &settings->session->paths,
			    .store = &settings->session->store },
	};
	int rc;

	*profile = (struct devices_profile){ .time_s = clock_wall_s(), .quick = settings->quick };
	rc = device_claims_open(&p.claims, settings->config, false, &profile->devices, err);
	if (rc == 0) {
		profile->kinds = xcalloc((size_t)profile->devices.count, sizeof(*profile->kinds));
		rc = measure_all(&p, err);
	}
	device_claims_release(&p.claims);
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

/* --- the self-test: a freeze on each free GPU --- */

/* A device that is in use, or has no room now, keeps its earlier result. */
static int test_one(struct device_claims *claims, int d, const struct self_test_settings *settings,
		    struct self_test *t, struct err *err)
{
	struct self_tested *tested = &t->items[t->n++];

	*tested = (struct self_tested){ .device = &t->devices.items[d] };
	if (device_claims_take(claims, d, &tested->why) == 0) {
		if (settings->progress)
			settings->progress(tested->device);
		tested->passed = freeze_test(tested->device, 0, &tested->test, &tested->why) == 0;
	} else {
		tested->why.exit_status = EX_TEMPFAIL;
	}
	device_claims_drop(claims);
	if (!tested->passed && tested->why.exit_status == EX_TEMPFAIL)
		return 0;
	return store_freeze_test_set(claims->store, tested->device, t->driver,
				     tested->passed ? &tested->test : NULL, tested->why.text, err);
}

int self_test_run(const struct self_test_settings *settings, struct self_test *t, struct err *err)
{
	scoped(device_claims_release) struct device_claims claims = {
		.paths = &settings->session->paths, .store = &settings->session->store,
	};
	const char *note = "";
	int rc;

	*t = (struct self_test){ 0 };
	rc = device_claims_open(&claims, settings->config, true, &t->devices, err);
	t->items = xcalloc((size_t)t->devices.count + 1, sizeof(*t->items));
	for (int i = 0; i < t->devices.n_drivers; i++) {
		if (t->devices.drivers[i].backend->freezer)	/* there is one such driver */
			snprintf(t->driver, sizeof(t->driver), "%s",
				 t->devices.drivers[i].version);
		note = *note ? note : t->devices.drivers[i].note;
	}
	for (int d = 0; rc == 0 && d < t->devices.count; d++) {
		const struct device_backend *b = device_backend_of(t->devices.items[d].id);

		if (b && b->freezer && !t->devices.items[d].left_out)
			rc = test_one(&claims, d, settings, t, err);
	}
	if (rc == 0 && t->n == 0)
		rc = err_set(err, EX_UNAVAILABLE, "there is no GPU to test%s%s",
			     *note ? ": " : "", note);
	return rc;
}

void self_test_release(struct self_test *t)
{
	free(t->items);
	devices_release(&t->devices);
	*t = (struct self_test){ 0 };
}
