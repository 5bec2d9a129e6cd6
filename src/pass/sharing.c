/* sharing.c - devices that several people share: how many of them are this store's for now, what
 * the other people are told, and what the jobs that wait are told of the other people. */
#include <stdio.h>
#include <stdlib.h>

#include "decision.h"
#include "pollux/mem.h"
#include "pollux/shares.h"

/* --- what is whose --- */

static bool is_mine(const struct snapshot *s, int d)
{
	if (s->holds && s->holds[d].job_id)
		return true;
	for (int r = 0; r < s->runs.count; r++)
		for (int i = 0; i < run_held(&s->runs.items[r]); i++)
			if (device_overlaps(&s->runs.items[r].devices[i], &s->devices.items[d]))
				return true;
	return false;
}

/* Numbers of devices of this store. */
struct possession {
	int held, free;
	int kept;			/* held, and not to be given out */
};

static struct possession possession_of(const struct snapshot *s, const struct decision *d)
{
	struct possession n = { 0 };

	for (int i = 0; i < s->devices.count; i++) {
		bool mine = is_mine(s, i);

		n.held += mine;
		n.kept += mine && !d->usable[i];
		n.free += d->usable[i] && !mine;
	}
	return n;
}

/* --- the shares --- */

/* A person whose slots are larger or smaller counts in devices of this store. */
static int count_here(const struct snapshot *s, const struct person *p, int n)
{
	int here = s->devices.count;

	return (n * here + p->devices - 1) / p->devices;
}

static struct share share_of(const struct snapshot *s, const struct person *p)
{
	struct share share = {
		.held = count_here(s, p, p->held), .wanted = count_here(s, p, p->wanted),
		.weight = p->weight, .without_since_s = p->without_since_boot_s,
	};

	snprintf(share.name, sizeof(share.name), "%s", p->name);
	return share;
}

/* The devices that this store may use, of those that are its own or free. Devices that somebody
 * has who tells nothing are nobody's to share. */
static int allowed(const struct snapshot *s, const struct decision *d, const struct possession *n)
{
	int count = s->people.count, others = 0, result;
	struct share *all = xcalloc((size_t)count + 1, sizeof(*all));

	for (int i = 0; i < count; i++) {
		all[i] = share_of(s, &s->people.items[i]);
		others += all[i].held;
	}
	all[count] = share_of(s, &d->me);
	shares_divide(all, count + 1, n->held + n->free +
		      (others < d->n_elsewhere ? others : d->n_elsewhere));
	result = shares_allowed(all, count + 1, count, n->free);
	free(all);
	return result;
}

/* Since when this store has less than it wants: the beginning is kept while it loses nothing. */
static double without_since_s(const struct snapshot *s, const struct person *now)
{
	const struct person *before = &s->people.me;
	bool was_without = before->devices > 0 && before->held < before->wanted;

	return was_without && now->held >= before->held ? before->without_since_boot_s
							: s->now_boot_s;
}

static struct person myself(const struct snapshot *s, int held, int wanted)
{
	struct person me = {
		.held = held, .wanted = wanted, .devices = s->devices.count,
		.weight = s->config->shared_weight,
	};

	snprintf(me.name, sizeof(me.name), "%s", s->people.own);
	me.without_since_boot_s = without_since_s(s, &me);
	return me;
}

void leave_to_others(const struct snapshot *s, struct decision *d, struct sched_input *in)
{
	struct possession n = possession_of(s, d);
	int kept, left;

	if (!s->people.is_shared || s->devices.count == 0)
		return;
	in->n_devices = d->n_usable + d->n_elsewhere;
	s->policy->decide(in, d->choices);
	d->me = myself(s, n.held, n.kept + shares_wanted(in, d->choices));
	in->n_devices = d->n_usable;
	if (s->people.count == 0)
		return;
	kept = shares_protected(s->policy, in);
	left = d->n_usable - (n.held + n.free - allowed(s, d, &n));
	in->n_devices = left < kept ? kept : left;
	if (in->n_devices > d->n_usable)
		in->n_devices = d->n_usable;
}

/* --- telling --- */

static int held_after(const struct snapshot *s, const struct decision *d)
{
	int n = 0;

	for (int i = 0; i < s->devices.count; i++)
		n += d->owner[i] >= 0 || is_mine(s, i);
	return n;
}

void tell_others(const struct engine_context *at, const struct snapshot *s,
		 const struct decision *d)
{
	struct person me;
	struct err ignored;

	if (!s->people.is_shared)
		return;
	if (s->jobs.count == 0 || s->devices.count == 0) {
		people_leave(at->paths);
		return;
	}
	me = myself(s, held_after(s, d), d->me.wanted);
	people_tell(at->paths, &me, &ignored);
}

/* The devices that the jobs have which keep or get some. */
static int given(const struct snapshot *s, const struct decision *d)
{
	int n = 0;

	for (int i = 0; i < s->devices.count; i++)
		n += d->owner[i] >= 0;
	return n;
}

/* The policy does not know of the devices that others have: what it says of a job for which there
 * are too few is wrong. */
void explain_sharing(const struct snapshot *s, struct decision *d)
{
	struct text why = TEXT_INIT;
	int n;

	if (s->people.count == 0)
		return;
	n = given(s, d);
	people_describe(&s->people, n, d->n_usable + d->n_elsewhere, &why);
	for (int j = 0; j < d->n; j++) {
		struct sched_choice *choice = &d->choices[j];

		if (choice->replicas > 0)
			continue;
		if (d->sched_jobs[j].min_replicas > n)
			choice->reason[0] = '\0';
		put_reason_first(choice->reason, why.data);
	}
	text_release(&why);
}
