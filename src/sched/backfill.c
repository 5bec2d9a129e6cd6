/* backfill.c - the devices kept for the stuck job, and what fits before and beside it. */
#include <math.h>
#include <stdlib.h>

#include "backfill.h"
#include "pollux/mem.h"
#include "worth.h"

/* Devices that a job which is not preemptible has until end_s. */
struct blocker {
	double end_s;
	int devices;
};

bool backfill_is_behind(const struct curves *curves, const struct stuck_job *r,
			const struct curve *c)
{
	double start_s = c->held ? c->job->launched_s : curves->in->now_s;

	return start_s >= r->overdue_s && !(c->job->submitted_s <= r->since_s);
}

static double expected_end_s(const struct curves *curves, const struct curve *c)
{
	double now_s = curves->in->now_s, length_device_s = worth_length_device_s(curves, c);
	double launched_s = c->held ? c->job->launched_s : now_s;

	if (isnan(c->remaining_device_s))
		return now_s + length_device_s / (c->held ? c->held_devices : c->least);
	return fmax(now_s, launched_s + c->restart_s) +
	       length_device_s / (c->held ? c->now : c->least);
}

static int by_end(const void *a, const void *b)
{
	const struct blocker *x = a, *y = b;

	return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* Finds the blockers on the kind of device on which the stuck job is to start. */
static int find_blockers(const struct curves *curves, const struct stuck_job *r,
			 const struct claim *items, struct blocker *blockers)
{
	int n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		bool counts_as_ended =
			c->held && isnan(c->remaining_device_s) && backfill_is_behind(curves, r, c);

		if (curve_stays(c) && items[i].at && !counts_as_ended &&
		    curve_kind_at(curves, items[i].at) == r->device_kind)
			blockers[n++] = (struct blocker){
				expected_end_s(curves, c), curve_devices_at(curves, items[i].at),
			};
	}
	qsort(blockers, (size_t)n, sizeof(*blockers), by_end);
	return n;
}

struct stuck_job backfill_stuck_job(const struct curves *curves, const struct claims *claims,
				    int stuck, double overdue_s)
{
	const struct curve *c = &curves->items[stuck];
	int not_fixed[SCHED_KINDS], n, left, least;
	struct stuck_job r = {
		.since_s = claims_waiting_since_s(curves, c), .overdue_s = overdue_s,
		.start_s = curves->in->now_s,
	};
	struct blocker *blockers = xcalloc((size_t)curves->in->n_jobs, sizeof(*blockers));

	claims_not_fixed(curves, claims, not_fixed);
	r.device_kind = curve_nearest_kind(curves, c, not_fixed);
	n = find_blockers(curves, &r, claims->items, blockers);
	left = curves->kinds[r.device_kind].n;
	least = c->least_on[r.device_kind];
	for (int i = 0; i < n; i++)
		left -= blockers[i].devices;
	for (int i = 0; i < n && (left < least || blockers[i].end_s <= r.start_s); i++) {
		left += blockers[i].devices;
		r.start_s = fmax(r.start_s, blockers[i].end_s);
	}
	r.spare = left > least ? left - least : 0;
	free(blockers);
	return r;
}

bool backfill_allows(const struct curves *curves, struct stuck_job *r, const struct curve *c,
		     struct claim *claim)
{
	int left[SCHED_KINDS], at = 0;

	if (expected_end_s(curves, c) <= r->start_s)
		return true;
	for (int k = 0; k < curves->n_kinds; k++)
		left[k] = k == r->device_kind ? r->spare : curves->kinds[k].n;
	if (!isnan(c->remaining_device_s))
		at = curve_least_within(curves, c, left);
	if (!at)
		return false;
	if (curve_kind_at(curves, at) == r->device_kind)
		r->spare -= curve_devices_at(curves, at);
	*claim = (struct claim){ .kind = CLAIM_KEEP, .at = at, .overdue = claim->overdue };
	return true;
}
