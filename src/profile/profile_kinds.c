/* profile_kinds.c - measure one device of each kind; see pollux/profile_kinds.h. */
#include <stdlib.h>
#include <string.h>

#include "profile_state.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/profile_kinds.h"
#include "pollux/store_measurements.h"
#include "pollux/tier_fit.h"

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

static int link_between(const struct profiling *p, const struct device *a, const struct device *b)
{
	struct device pair[] = { *a, *b };

	return devices_farthest(&p->profile->devices, pair, 2);
}

static bool find_pair(const struct profiling *p, const struct device *group, int n, int link,
		      struct device pair[2])
{
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++)
			if (link_between(p, &group[i], &group[k]) == link) {
				pair[0] = group[i];
				pair[1] = group[k];
				return true;
			}
	return false;
}

/* Keeps the times of a pair under the name of its tier. */
static void name_tier(struct measure_result *r, enum configuration_tier tier)
{
	int kept = 0;

	for (int i = 0; i < r->list.count; i++) {
		struct device_measurement m = r->list.items[i];

		if (m.devices != 2 || m.bytes == 0)
			continue;
		tier_variant(tier, m.what == MEASURED_COPY, m.variant);
		r->list.items[kept++] = m;
	}
	r->list.count = kept;
}

static void measure_pair(struct profiling *p, const struct device pair[2],
			 enum configuration_tier tier, struct measure_result *result)
{
	struct measure_options options = { .quick = p->settings->quick };
	struct measure_result exchange;
	struct err err = { 0 };

	p->settings->progress(&pair[0], true);
	if (measure_exchange(pair, 2, &options, &exchange, &err)) {
		strings_addf(&result->notes, "no exchange between %s and %s: %s", pair[0].id,
			     pair[1].id, err.text);
		return;
	}
	name_tier(&exchange, tier);
	merge(result, &exchange);
}

/* Puts two devices to the front of the group. */
static void put_first(struct device *group, int n, const struct device pair[2])
{
	for (int i = 0; i < 2; i++)
		for (int k = i; k < n; k++)
			if (!strcmp(group[k].id, pair[i].id)) {
				struct device other = group[i];

				group[i] = group[k];
				group[k] = other;
			}
}

/* Where devices are joined in several ways, measures one pair of each, and puts the pair that is
 * joined best to the front: what is expected of a job is for that pair. */
static void measure_tiers(struct profiling *p, struct device *group, int n,
			  struct measure_result *result)
{
	struct device pairs[DEVICE_LINK_MACHINE + 1][2];
	bool has[DEVICE_LINK_MACHINE + 1];
	int n_tiers = 0, best = -1;

	for (int link = 0; link <= DEVICE_LINK_MACHINE; link++) {
		has[link] = find_pair(p, group, n, link, pairs[link]);
		n_tiers += has[link];
		best = has[link] && best < 0 ? link : best;
	}
	if (n_tiers < 2)
		return;
	for (int link = 0; link <= DEVICE_LINK_MACHINE; link++)
		if (has[link])
			measure_pair(p, pairs[link], (enum configuration_tier)(TIER_FAST + link),
				     result);
	put_first(group, n, pairs[best]);
}

static void measure_exchanges(struct profiling *p, int first, struct measure_result *result)
{
	struct measure_options options = { .quick = p->settings->quick };
	struct device *group = xcalloc((size_t)p->profile->devices.count, sizeof(*group));
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
	free(group);
}

static int keep_measurements(struct profiling *p, const struct profiled_kind *kind, struct err *err)
{
	if (store_begin(p->claims.store, err))
		return -1;
	if (store_device_measurements_set(p->claims.store, kind->device->kind, &kind->result.list,
					  p->profile->time_s, err)) {
		store_rollback(p->claims.store);
		return -1;
	}
	return store_commit(p->claims.store, err);
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
	device_claims_drop(&p->claims);
	return keep_measurements(p, kind, err);
}

static int measure_named(struct profiling *p, struct err *err)
{
	for (int d = 0; d < p->profile->devices.count; d++)
		if (!strcmp(p->profile->devices.items[d].id, p->settings->device))
			return device_claims_take(&p->claims, d, err) ||
			       measure_kind(p, d, err) ? -1 : 0;
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
		if (device_claims_take(&p->claims, d, &one) == 0 && measure_kind(p, d, &one) == 0)
			return 0;
		device_claims_drop(&p->claims);
		/* If a measurement could not be stored, one of another device would not be stored
		 * either. */
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
		device_claims_drop(&p->claims);
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

static int open_claims(struct profiling *p, struct err *err)
{
	if (device_claims_open(&p->claims, p->settings->config, false, &p->profile->devices, err))
		return -1;
	p->profile->kinds = xcalloc((size_t)p->profile->devices.count, sizeof(*p->profile->kinds));
	return 0;
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
	rc = open_claims(&p, err);
	if (rc == 0)
		rc = settings->device ? measure_named(&p, err) : measure_all(&p, err);
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
