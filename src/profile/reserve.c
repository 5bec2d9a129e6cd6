/* reserve.c - takes devices that nobody has: those of a profile, for its job, in one transaction,
 * and those that are measured themselves. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/device_owners.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "profile_state.h"

/* The runs and the reservations at one moment. */
struct holders {
	struct run_list runs;
	struct reserved_list reserved;
};

/* The outside holder of a device, which is no run and no profile; NULL: none. */
static const char *outsider_on(const struct profile *p, const struct holders *h,
			       const struct device *device)
{
	struct engine_context at = { .paths = p->paths, .store = p->store };

	return engine_outsider(&at, &h->runs, device);
}

/* The job that has the device, or cores of the device, or for which it is reserved; 0: none. */
static int64_t job_on(const struct run_list *runs, const struct reserved_list *reserved,
		      const struct device *device)
{
	for (int i = 0; i < reserved->count; i++)
		if (device_overlaps(device, &reserved->items[i].device))
			return reserved->items[i].job_id;
	for (int i = 0; i < runs->count; i++)
		for (int k = 0; k < run_held(&runs->items[i]); k++)
			if (device_overlaps(device, &runs->items[i].devices[k]))
				return runs->items[i].job_id;
	return 0;
}

static int most_wanted(const struct job *job)
{
	return job->declared.max_replicas > 0 ? job->declared.max_replicas : DEVICE_MAX;
}

static bool is_beside(const struct device *a, const struct device *b)
{
	return !strcmp(a->kind, b->kind) && !strcmp(a->node, b->node);
}

static bool is_allowed(const struct profile *p, const struct device *device)
{
	return device->usable && declaration_wants_kind(&p->job->declared, device->kind);
}

/* Chooses free devices of one kind, that of the first free device: measurements on one kind tell
 * nothing about another kind. They are on one node: of several, the one with most that are free. */
static void choose_devices(struct profile *p, const struct device_list *list,
			   const struct holders *h)
{
	autofree struct device *some = xcalloc((size_t)list->count + 1, sizeof(*some));
	int first = 0, most = 0, n = 0;

	for (int d = 0; d < list->count; d++) {
		const struct device *device = &list->items[d];

		if (is_allowed(p, device) && !job_on(&h->runs, &h->reserved, device) &&
		    !outsider_on(p, h, device) && (n == 0 || !strcmp(some[0].kind, device->kind)))
			some[n++] = *device;
	}
	for (int i = 0, count; i < n; i++) {
		for (count = 0; i + count < n && is_beside(&some[i], &some[i + count]);)
			count++;
		if (count > most) {
			most = count;
			first = i;
		}
	}
	p->n_devices = most < most_wanted(p->job) ? most : most_wanted(p->job);
	p->devices = xcalloc((size_t)p->n_devices + 1, sizeof(*p->devices));
	memcpy(p->devices, some + first, (size_t)p->n_devices * sizeof(*p->devices));
	/* A point is measured on the first devices, as many as it needs. */
	p->tiers = xcalloc((size_t)p->n_devices + 1, sizeof(*p->tiers));
	for (int i = 2; i <= p->n_devices; i++) {
		int link = devices_farthest(list, p->devices, i);

		if (link >= 0)
			p->tiers[i] = (enum configuration_tier)(TIER_FAST + link);
	}
}

static void describe_holders(const struct profile *p, const struct device_list *list,
			     const struct holders *h, struct text *t)
{
	for (int d = 0; d < list->count; d++) {
		const struct device *device = &list->items[d];
		const char *comma = t->length ? ", " : "", *other = outsider_on(p, h, device);
		int64_t holder = job_on(&h->runs, &h->reserved, device);

		if (!device->usable)
			text_addf(t, "%s%s", comma, device->reason);
		else if (holder)
			text_addf(t, "%s%s has job %lld", comma, device->name, (long long)holder);
		else if (other)
			text_addf(t, "%s%s is held by %s", comma, device->name, other);
	}
}

static int refuse_profile(const struct profile *p, const struct device_list *list,
			  const struct holders *h, int usable, struct err *err)
{
	const struct declaration *d = &p->job->declared;
	scoped(text_release) struct text t = TEXT_INIT;

	if (usable < d->min_replicas) {
		declaration_add_kinds(d, &t);
		text_addf(&t, ", but %d can be used here", usable);
		if (d->kind || d->not_kind)
			devices_add_kinds(list, &t);
		err_set(err, EX_UNAVAILABLE, "the profile needs %d device%s%s; see "
			"'pollux devices'", d->min_replicas, plural(d->min_replicas), t.data);
	} else {
		describe_holders(p, list, h, &t);
		if (p->n_devices == 0)
			err_set(err, EX_TEMPFAIL, "no device is free: %s", t.data);
		else if (!t.length)	/* nobody has a device: no other time is better */
			err_set(err, EX_UNAVAILABLE, "the profile needs %d devices of one kind, on "
				"one node, and there %s %d of '%s': --kind chooses another kind",
				d->min_replicas, p->n_devices == 1 ? "is" : "are", p->n_devices,
				p->devices[0].kind);
		else
			err_set(err, EX_TEMPFAIL, "%d device%s free, %d are needed: %s",
				p->n_devices, p->n_devices == 1 ? " is" : "s are",
				d->min_replicas, t.data);
	}
	return -1;
}

/* Adds the job. Takes the lock before the commit, so that no pass sees the job without a lock. */
static int insert_profile_job(struct profile *p, const struct job_command *command, struct err *err)
{
	struct dependency_list none = { 0 };

	p->job->profile = true;
	p->job->state = JOB_RUNNING;
	p->job->submit_time_s = clock_wall_s();
	if (store_job_insert(p->store, p->job, command, &none, err))
		return -1;
	p->lock = job_lock_take(p->paths, JOB_LOCK_PROFILE, p->job->id, err);
	if (p->lock == LOCK_HELD)
		return err_set(err, EX_TEMPFAIL, "another process measures job %lld",
			       (long long)p->job->id);
	if (p->lock < 0)
		return -1;
	if (p->settings->parameters > 0 &&
	    store_workload_set_parameters(p->store, p->job->declared.workload,
					  p->settings->parameters, err))
		return -1;
	for (int i = 0; i < p->n_devices; i++)
		if (store_device_reserve(p->store, p->job->id, &p->devices[i], err))
			return -1;
	return 0;
}

/* The users were looked up before the transaction: a directory of users may be slow, and nobody
 * else can write now. */
static int reserve_devices(struct profile *p, const struct job_command *command,
			   struct device_user_list *users, struct device_list *list,
			   struct err *err)
{
	struct holders h = { .runs = { 0 } };
	int usable = 0, most = 0;
	struct text t = TEXT_INIT;
	int rc = store_runs_active(p->store, &h.runs, err) ||
		 store_reserved_list(p->store, &h.reserved, err) ||
		 device_owners_match(p->store, list, &h.runs, users, err) ? -1 : 0;

	for (int d = 0; d < list->count; d++)
		usable += is_allowed(p, &list->items[d]);
	if (rc == 0) {
		device_owners_refuse(users, &h.runs, list);
		choose_devices(p, list, &h);
		if (p->n_devices < p->job->declared.min_replicas || p->n_devices == 0)
			rc = refuse_profile(p, list, &h, usable, err);
	}
	for (int d = 0; rc == 0 && d < list->count; d++)
		most += is_beside(&list->items[d], &p->devices[0]);
	if (rc == 0 && p->n_devices < most && p->n_devices < most_wanted(p->job)) {
		describe_holders(p, list, &h, &t);	/* of devices that it could have used */
		p->missing = text_detach(&t);
	}
	if (rc == 0)
		rc = insert_profile_job(p, command, err);
	run_list_release(&h.runs);
	reserved_list_release(&h.reserved);
	return rc;
}

int profile_reserve(struct profile *p, const struct job_command *command, struct err *err)
{
	scoped(device_user_list_release) struct device_user_list users = { 0 };
	scoped(devices_release) struct device_list list = { 0 };
	int rc;

	if (engine_devices(&p->settings->config, false, &list, err))
		return -1;
	device_users_look(&list, &users);
	rc = store_begin(p->store, err) || reserve_devices(p, command, &users, &list, err) ||
	     store_commit(p->store, err) ? -1 : 0;
	if (rc) {
		store_rollback(p->store);
		if (p->lock >= 0) {
			job_lock_remove(p->paths, JOB_LOCK_PROFILE, p->job->id);
			close(p->lock);
			p->lock = -1;
		}
		p->job->id = 0;
	}
	return rc;
}

/* ---- locks of devices, to measure them only when no job has them ---- */

int device_claims_open(struct device_claims *c, const struct config *config, bool in_full,
		       struct device_list *devices, struct err *err)
{
	size_t n;

	c->devices = devices;
	if (store_runs_active(c->store, &c->runs, err) ||
	    store_reserved_list(c->store, &c->reserved, err) ||
	    engine_devices(config, in_full, devices, err) ||
	    device_owners_check(c->store, &c->runs, devices, err))
		return -1;
	n = (size_t)devices->count;
	c->locks = xcalloc(n, sizeof(*c->locks));
	c->marks = xcalloc(n, sizeof(*c->marks));
	c->shared = xcalloc(n, sizeof(*c->shared));
	for (size_t d = 0; d < n; d++)
		c->locks[d] = c->marks[d] = c->shared[d] = -1;
	return 0;
}

static int held(const struct device_claims *c, const struct device *device, struct err *err)
{
	struct engine_context at = { .paths = c->paths, .store = c->store };
	const char *other = engine_outsider(&at, &c->runs, device);
	int64_t job_id = job_on(&c->runs, &c->reserved, device);

	if (job_id)
		return err_set(err, EX_TEMPFAIL,
			       "device '%s' is held by job %lld; try again when that has ended",
			       device->id, (long long)job_id);
	return err_set(err, EX_TEMPFAIL, "device '%s' is held by %s; try again later", device->id,
		       other ? other : DEVICE_LOCK_ENDED);
}

int device_claims_take(struct device_claims *c, int d, struct err *err)
{
	const struct device *device = &c->devices->items[d];
	struct err ignored;
	char *path;

	if (c->locks[d] >= 0)
		return 0;
	if (!device->usable)
		return err_set(err, EX_UNAVAILABLE, "device '%s' cannot be used: %s", device->id,
			       device->reason);
	if (job_on(&c->runs, &c->reserved, device))
		return held(c, device, err);
	path = paths_device_lock(c->paths, device->id);
	c->locks[d] = lock_take(path, err);
	free(path);
	if (c->locks[d] < 0)
		return c->locks[d] == LOCK_HELD ? held(c, device, err) : -1;
	c->shared[d] = shared_lock_take(c->paths, device, err);
	if (c->shared[d] < 0 && c->shared[d] != SHARED_LOCK_NONE) {
		lock_drop(c->locks[d]);
		c->locks[d] = -1;
		return c->shared[d] == LOCK_HELD ? held(c, device, err) : -1;
	}
	/* Tells other processes that a measurement holds the device. Without this mark they would
	 * name an unknown process. */
	path = paths_measure_lock(c->paths, device->id);
	c->marks[d] = lock_take(path, &ignored);
	free(path);
	return 0;
}

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void device_claims_drop(struct device_claims *c)
{
	for (int d = 0; c->locks && d < c->devices->count; d++) {
		close_if_open(&c->marks[d]);
		close_if_open(&c->shared[d]);
		close_if_open(&c->locks[d]);
	}
}

void device_claims_release(struct device_claims *c)
{
	device_claims_drop(c);
	free(c->locks);
	free(c->marks);
	free(c->shared);
	run_list_release(&c->runs);
	reserved_list_release(&c->reserved);
}
