/* people_turns.c - devices that several people share: how many of them are this store's for now,
 * what the other people are told, and what the jobs that wait are told of the other people. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/people_shares.h"
#include "stages.h"

/* On a cluster its manager shares the devices among people. */
static bool is_shared(const struct snapshot *s)
{
	return s->people.is_shared && !(s->devices.count > 0 && s->devices.items[0].node[0]);
}

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

/* --- the shares --- */

/* A person whose slots are larger or smaller counts in devices of this store. */
static int count_here(const struct snapshot *s, const struct person *p, int n)
{
	int here = s->devices.count;

	return (n * here + p->devices - 1) / p->devices;
}

/* All people, this store last. */
struct everybody {
	struct person_share *items;		/* owned */
	int count;
	int n_devices;			/* that they share */
};

/* Each store computes, for all people, since when they have been without what is due to them.
 * Devices that are held by somebody who tells nothing are not shared out. */
static struct everybody everybody_of(const struct snapshot *s, const struct decision *d,
				     const struct possession *n)
{
	int others = 0, count = s->people.count;
	struct everybody all = {
		.items = xcalloc((size_t)count + 1, sizeof(*all.items)), .count = count + 1,
	};

	for (int i = 0; i <= count; i++) {
		const struct person *p = i < count ? &s->people.items[i] : &d->me;
		struct person_share *share = &all.items[i];

		*share = (struct person_share){
			.held = count_here(s, p, p->held), .wanted = count_here(s, p, p->wanted),
			.weight = p->weight, .without_since_s = p->without_since_boot_s,
			.gained_s = p->gained_boot_s,
		};
		memcpy(share->name, p->name, sizeof(share->name));
		others += i < count ? share->held : 0;
	}
	all.n_devices = n->held + n->free + (others < d->n_elsewhere ? others : d->n_elsewhere);
	for (int i = 0; i <= count; i++) {
		const struct person *told = i < count ? &s->people.items[i] : &s->people.me;
		struct person_share *p = &all.items[i];
		double exact = people_exact_share(all.items, all.count, i, all.n_devices);

		p->stay_s = people_stay_s(p, exact, &d->input);
		if (told->devices > 0)
			p->without_since_s = people_without_since_s(
				p, exact, count_here(s, told, told->held), told->at_boot_s,
				&d->input);
	}
	return all;
}

static struct person myself(const struct snapshot *s, int held, int wanted)
{
	const struct person *before = &s->people.me;
	bool was_there = before->devices > 0;
	struct person me = {
		.held = held, .wanted = wanted, .devices = s->devices.count,
		.weight = s->config->shared_weight, .at_boot_s = s->now_boot_s,
		.without_since_boot_s = was_there ? before->without_since_boot_s : s->now_boot_s,
		.gained_boot_s = was_there && held <= before->held ? before->gained_boot_s
								   : s->now_boot_s,
	};

	memcpy(me.name, s->people.own, sizeof(me.name));
	return me;
}

/* The devices that are free for good. An unlocked device within another person's share is not: that
 * person is handing it from one job to the next. */
static int count_free(const struct everybody *all, const struct decision *d,
		      const struct possession *n)
{
	int theirs = 0, left;

	for (int i = 0; i < all->count - 1; i++)
		theirs += all->items[i].held < all->items[i].devices ? all->items[i].held
								      : all->items[i].devices;
	left = theirs > d->n_elsewhere ? n->free - (theirs - d->n_elsewhere) : n->free;
	return left > 0 ? left : 0;
}

/* Returns how many devices the policy may give out. */
static int allowed(const struct snapshot *s, struct decision *d, const struct possession *n)
{
	const struct sched_input *in = &d->input;
	const struct person *before = &s->people.me;
	struct everybody all = everybody_of(s, d, n);
	int own = all.count - 1, kept = people_protected(s->policy, in), left;
	/* also where the rounded-up share is not this person's turn */
	double exact = people_exact_share(all.items, all.count, own, all.n_devices);
	int most = (int)ceil(exact);

	/* devices that stay for this store's next jobs, although others want them */
	if (before->devices > 0 && people_keep_turn(before->gained_boot_s, in) &&
	    before->held - n->kept > kept)
		kept = before->held - n->kept;
	d->me.without_since_boot_s = all.items[own].without_since_s;
	people_divide(all.items, all.count, all.n_devices);
	left = people_allowed(all.items, all.count, own, count_free(&all, d, n)) - n->kept;
	/* a device that no job here can use does not lie idle */
	if (!people_devices_are_of_use(in, d->choices, most - n->kept))
		d->me.wanted = n->held;
	/* the policy does not replace a job within its slice by another one */
	if (left + n->kept >= n->held && people_leave_soon(&all.items[own], exact))
		for (int j = 0; j < in->n_jobs; j++) {
			struct sched_job *job = &d->sched_jobs[j];
			double age_s = in->now_s - job->launched_s;

			if (job->replicas > 0 && age_s < PEOPLE_TURN_SLICES * in->slice_s)
				job->launched_s = fmax(job->launched_s,
						       in->now_s - in->slice_s / 2);
		}
	free(all.items);
	left = left < kept ? kept : left;
	return left < d->n_usable ? left : d->n_usable;
}

/* Tells the policy of no more devices than these: leaves to other people some of the kinds of which
 * the jobs hold least. */
static void tell_fewer(struct decision *d, int n_devices)
{
	struct sched_input *in = &d->input;

	for (int lacking = sched_devices(in) - n_devices; lacking > 0; lacking--) {
		int most = 0, most_free = INT_MIN;

		for (int k = 0; k < d->n_kinds; k++) {
			int n = in->kinds[k].n_devices;

			for (int j = 0; j < d->n_asked; j++)
				n -= d->sched_jobs[j].kind == k ? d->sched_jobs[j].replicas : 0;
			if (in->kinds[k].n_devices > 0 && n > most_free) {
				most = k;
				most_free = n;
			}
		}
		in->kinds[most].n_devices--;
	}
}

/* True if only this device will do for a run of this store that is suspended. */
static bool is_awaited(const struct snapshot *s, int d)
{
	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run->suspension > SUSPENSION_ASKED && run_is_bound(run) &&
		    run_has(run, &s->devices.items[d]))
			return true;
	}
	return false;
}

void leave_to_others(const struct snapshot *s, struct decision *d)
{
	const struct sched_input *in = &d->input;
	struct possession n = { 0 };
	struct sched_job *jobs;
	struct sched_input one;
	int left;

	if (!is_shared(s) || s->devices.count == 0)
		return;
	for (int i = 0; i < s->devices.count; i++) {
		bool mine = is_mine(s, i);

		n.held += mine;
		n.kept += mine && !d->usable[i];
		n.free += d->usable[i] && !mine;
	}
	jobs = xcalloc((size_t)in->n_jobs, sizeof(*jobs));
	one = sched_merge_kinds(in, jobs);
	one.kinds[0].n_devices += d->n_elsewhere;
	s->policy->decide(&one, d->choices);
	d->me = myself(s, n.held, n.kept + people_wanted(&one, d->choices));
	free(jobs);
	if (s->people.count == 0) {
		d->me.without_since_boot_s = s->now_boot_s;
		return;
	}
	tell_fewer(d, allowed(s, d, &n));
	/* the policy chooses among several kinds of devices */
	if (d->n_kinds > 1)
		return;
	/* The free devices beyond those are for others. A job that replaces another one would take
	 * a free device before the other job's device is free: where two jobs take turns in each
	 * pass, nobody else would ever find a free device. */
	left = sched_devices(in);
	for (int i = 0; i < s->devices.count; i++)
		left -= d->usable[i] && (is_mine(s, i) || is_awaited(s, i));
	for (int i = 0; i < s->devices.count; i++)
		if (d->usable[i] && !is_mine(s, i) && !is_awaited(s, i))
			d->left[i] = left-- <= 0;
}

/* --- telling --- */

void tell_others(const struct engine_context *at, const struct snapshot *s,
		 const struct decision *d)
{
	int held = 0;
	struct person me;
	struct err ignored;

	if (!is_shared(s))
		return;
	if (s->jobs.count == 0 || s->devices.count == 0) {
		people_leave(at->paths);
		return;
	}
	for (int i = 0; i < s->devices.count; i++)
		held += d->owner[i] >= 0 || is_mine(s, i);
	me = myself(s, held, d->me.wanted);
	me.without_since_boot_s = d->me.without_since_boot_s;
	people_tell(at->paths, &me, &ignored);
}

/* The policy does not know of the devices that others have, so its verdict on a job that needs
 * more devices than there are is wrong. */
void explain_sharing(const struct snapshot *s, struct decision *d)
{
	int n = 0;		/* devices of the jobs that keep or get devices */

	if (!is_shared(s) || s->people.count == 0)
		return;
	for (int i = 0; i < s->devices.count; i++)
		n += d->owner[i] >= 0;
	for (int j = 0; j < d->n; j++) {
		struct sched_choice *choice = &d->choices[j];

		if (choice->replicas > 0)
			continue;
		if (d->sched_jobs[j].min_replicas > n)
			choice->verdict = (struct verdict){ .n = 0 };
		verdict_put_first(&choice->verdict, (struct fact){
			FACT_PEOPLE, .people = &s->people, .n = n, .of = most_devices(d),
		});
	}
}
