/* claims.c - overdue jobs, stuck jobs, and all claims together, see claims.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "claims.h"
#include "pollux/mem.h"
#include "worth.h"

/* --- how long a job may wait before it is overdue: B of policy.h --- */

/* A submitted job, and the device-seconds of its slice and of those submitted before. */
struct submission {
	double at_s, round_device_s;
};

static int by_time(const void *a, const void *b)
{
	const struct submission *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* The device-seconds of the slices of all jobs that were submitted at or before a time. */
static double round_device_s(const struct submission *list, int n, double since_s)
{
	int low = 0;

	while (low < n) {
		int middle = (low + n) / 2;

		if (list[middle].at_s <= since_s)
			low = middle + 1;
		else
			n = middle;
	}
	return low ? list[low - 1].round_device_s : 0;
}

/* The limit on a wait that began at a time. */
static double limit_of_s(const struct curves *curves, const struct submission *list, double since_s)
{
	double round = round_device_s(list, curves->in->n_jobs, since_s) /
		       fmax(curves->n_devices, 1);

	return CLAIMS_LIMIT_ROUNDS * fmax(curves->slice_s, round);
}

/* Sets the limits of each job, and turn_s. */
static void set_limits(const struct curves *curves, struct claims *claims)
{
	int n = curves->in->n_jobs;
	autofree struct submission *list = xcalloc((size_t)n, sizeof(*list));
	double slice_s = curves->slice_s, end_s = 0;

	for (int i = 0; i < n; i++) {
		const struct curve *c = &curves->items[i];

		list[i].at_s = isnan(c->job->submitted_s) ? -HUGE_VAL : c->job->submitted_s;
		list[i].round_device_s = c->least * c->slice_s;
		slice_s = fmax(slice_s, fmax(c->slice_s, curves->slice_s + c->restart_s));
		if (!isnan(c->remaining_device_s))
			end_s = fmax(end_s, CLAIMS_END_RESTARTS * c->restart_s);
	}
	claims->turn_s = slice_s + end_s;
	qsort(list, (size_t)n, sizeof(*list), by_time);
	for (int i = 1; i < n; i++)
		list[i].round_device_s += list[i - 1].round_device_s;
	claims->limits_s = xcalloc((size_t)n, sizeof(*claims->limits_s));
	claims->waits_s = xcalloc((size_t)n, sizeof(*claims->waits_s));
	for (int i = 0; i < n; i++) {
		const struct curve *c = &curves->items[i];
		double since_s = claims_waiting_since_s(curves, c);
		double present_s = c->held ? curves->in->now_s : since_s;

		claims->waits_s[i] = limit_of_s(curves, list, since_s);
		claims->limits_s[i] = limit_of_s(curves, list, present_s);
	}
}

/* --- claims --- */

bool claim_allows(const struct claim *claim, int at)
{
	switch (claim->kind) {
	case CLAIM_FREE:
		return true;
	case CLAIM_SOME:
		return at > 0 && at != claim->below;
	case CLAIM_EXACT:
		return at == claim->at;
	case CLAIM_KEEP:
		return !at || at == claim->at;
	case CLAIM_EITHER:
		return at == claim->at || (at > 0 && at == claim->held);
	}
	return false;
}

double claims_waiting_since_s(const struct curves *curves, const struct curve *c)
{
	if (!isnan(c->job->waiting_since_s))
		return c->job->waiting_since_s;
	return isnan(c->job->submitted_s) ? curves->in->now_s : c->job->submitted_s;
}

int claims_first_rank(const struct curve *c)
{
	if (c->held)
		return 0;
	return c->job->guaranteed ? INT_MAX : c->job->first;
}

void claims_not_fixed(const struct curves *curves, const struct claims *claims, int *left)
{
	for (int k = 0; k < curves->n_kinds; k++)
		left[k] = curves->kinds[k].n - claims->fixed[k];
}

double claims_overdue_s(const struct curves *curves, const struct claims *claims,
			const struct curve *c)
{
	double limit_s = claims_first_rank(c) > 0 ? 0 : claims->limits_s[c - curves->items];

	return claims_waiting_since_s(curves, c) + limit_s;
}

double claims_turn_worth(const struct curves *curves, const struct claims *claims,
			 const struct curve *c)
{
	double waited_s = curves->in->now_s - claims_waiting_since_s(curves, c);

	if (!c->job->guaranteed || c->held || !claims->worths)
		return 0;
	return waited_s >= claims->limits_s[c - curves->items] ? HUGE_VAL
		: worth_per_device(claims->worths, c);
}

static void count_slice(struct claims_rest *rest, const struct curve *c)
{
	/* otherwise a clock was set back */
	bool is_past = c->job->launched_s <= rest->curves->in->now_s;

	if (c->job->preemptible && (!c->held || is_past))
		rest->slices_end_s =
			fmax(rest->slices_end_s, curve_slice_end_s(rest->curves, c, !c->held));
}

/* --- overdue --- */
struct overdue {
	int index;		/* of the curve */
	int first;		/* claims_first_rank */
	double turn_worth, since_s;
};

static int overdue_order(const void *a, const void *b)
{
	const struct overdue *x = a, *y = b;

	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	if (x->turn_worth < y->turn_worth || x->turn_worth > y->turn_worth)
		return x->turn_worth > y->turn_worth ? -1 : 1;
	if (x->since_s < y->since_s || x->since_s > y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Finds the overdue jobs, in the order of claims.h. Returns their number. */
static int find_overdue(const struct claims_rest *rest, struct overdue *overdue)
{
	const struct curves *curves = rest->curves;
	int n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		double since_s = claims_waiting_since_s(curves, c);
		int first = claims_first_rank(c);

		if (c->held || !c->least ||
		    !(first > 0 || curves->in->now_s - since_s >= rest->claims->limits_s[i]))
			continue;
		rest->claims->items[i].overdue = true;
		overdue[n++] = (struct overdue){
			i, first, claims_turn_worth(curves, rest->claims, c), since_s,
		};
	}
	qsort(overdue, (size_t)n, sizeof(*overdue), overdue_order);
	return n;
}

void claims_take(struct claims_rest *rest, int at)
{
	rest->left[curve_kind_at(rest->curves, at)] -= curve_devices_at(rest->curves, at);
}

/* --- behind the stuck job --- */

/* Devices that a job which is not preemptible has until end_s. */
struct blocker {
	double end_s;
	int devices;
};

bool claims_is_behind(const struct curves *curves, const struct stuck_job *r,
		      const struct curve *c)
{
	double start_s = curve_launched_s(curves, c, !c->held);

	return start_s >= r->overdue_s && !(c->job->submitted_s <= r->since_s);
}

static double expected_end_s(const struct curves *curves, const struct curve *c)
{
	double now_s = curves->in->now_s, length_device_s = worth_length_device_s(curves, c);
	double launched_s = curve_launched_s(curves, c, !c->held);

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

/* The stuck job at an index, by the claims made so far. not_fixed: by claims_not_fixed(). */
static struct stuck_job stuck_job_of(const struct curves *curves, const struct claims *claims,
				     int index, const int *not_fixed)
{
	const struct curve *c = &curves->items[index];
	struct stuck_job r = {
		.since_s = claims_waiting_since_s(curves, c),
		.overdue_s = claims_overdue_s(curves, claims, c), .start_s = curves->in->now_s,
		.device_kind = curve_nearest_kind(curves, c, not_fixed),
	};
	autofree struct blocker *blockers = xcalloc((size_t)curves->in->n_jobs, sizeof(*blockers));
	int left = curves->kinds[r.device_kind].n, least = c->least_on[r.device_kind], n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *other = &curves->items[i];
		int at = claims->items[i].at;
		bool counts_as_ended = other->held && isnan(other->remaining_device_s) &&
				       claims_is_behind(curves, &r, other);

		if (!curve_stays(other) || !at || counts_as_ended ||
		    curve_kind_at(curves, at) != r.device_kind)
			continue;
		blockers[n++] = (struct blocker){
			expected_end_s(curves, other), curve_devices_at(curves, at),
		};
		left -= curve_devices_at(curves, at);
	}
	qsort(blockers, (size_t)n, sizeof(*blockers), by_end);
	for (int i = 0; i < n && (left < least || blockers[i].end_s <= r.start_s); i++) {
		left += blockers[i].devices;
		r.start_s = fmax(r.start_s, blockers[i].end_s);
	}
	r.spare = left > least ? left - least : 0;
	return r;
}

/* True if the job may start. It then claims the spare devices that it needs. */
static bool may_start_behind(const struct curves *curves, struct stuck_job *r,
			     const struct curve *c, struct claim *claim)
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

/* Claims devices for an overdue job. False: the job gathers devices, and no job behind it may
 * start. */
static bool force(struct claims_rest *rest, int index)
{
	const struct curve *c = &rest->curves->items[index];
	struct claim *claim = &rest->claims->items[index];
	struct claims *claims = rest->claims;
	int not_fixed[SCHED_KINDS], at;

	claims_not_fixed(rest->curves, claims, not_fixed);
	if (!curve_least_within(rest->curves, c, not_fixed)) {
		if (claims->stuck < 0) {
			claims->stuck = index;
			claims->stuck_job = stuck_job_of(rest->curves, claims, index, not_fixed);
		}
		return true;
	}
	if (claims->stuck >= 0 && !c->job->preemptible &&
	    !may_start_behind(rest->curves, &claims->stuck_job, c, claim))
		return true;
	claims_protect_ending(rest, claims_overdue_s(rest->curves, claims, c));
	at = curve_least_within(rest->curves, c, rest->left);
	if (!at && c->job->guaranteed) {
		claims_end_slices(rest);
		at = curve_least_within(rest->curves, c, rest->left);
	}
	if (claim->kind == CLAIM_KEEP)
		at = curve_devices_at(rest->curves, claim->at) <=
		     rest->left[curve_kind_at(rest->curves, claim->at)] ? claim->at : 0;
	if (!at) {
		claims->gathering = index;
		claims->gathered_kind = curve_nearest_kind(rest->curves, c, rest->left);
		return false;
	}
	claim->kind = claim->kind == CLAIM_KEEP ? CLAIM_EXACT : CLAIM_SOME;
	claim->at = at;
	claims_take(rest, at);
	count_slice(rest, c);
	if (curve_stays(c))
		claims->fixed[curve_kind_at(rest->curves, at)] +=
			curve_devices_at(rest->curves, at);
	return true;
}

static void restrict_to_stuck(const struct claims_rest *rest)
{
	const struct curves *curves = rest->curves;
	int left[SCHED_KINDS];

	claims_not_fixed(curves, rest->claims, left);
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		struct claim *claim = &rest->claims->items[i];
		bool fits = curve_least_within(curves, c, left);

		if (claim->kind == CLAIM_FREE && !c->held && !c->job->preemptible &&
		    !(fits && may_start_behind(curves, &rest->claims->stuck_job, c, claim)))
			claim->kind = CLAIM_EXACT;
	}
}

/* --- without slices --- */

void claims_add_first(const struct curves *curves, struct claims *claims)
{
	struct claims_rest rest = { .curves = curves, .claims = claims };
	autofree struct overdue *overdue = xcalloc((size_t)curves->in->n_jobs, sizeof(*overdue));
	bool stuck = false;
	int n_overdue;

	claims_not_fixed(curves, claims, rest.left);
	claims->limits_s = xcalloc((size_t)curves->in->n_jobs, sizeof(*claims->limits_s));
	for (int i = 0; i < curves->in->n_jobs; i++)
		claims->limits_s[i] = HUGE_VAL;	/* nobody becomes overdue by waiting */
	n_overdue = find_overdue(&rest, overdue);
	for (int i = 0; i < n_overdue && !stuck; i++) {
		int index = overdue[i].index;
		int at = curve_least_within(curves, &curves->items[index], rest.left);

		stuck = !at;
		if (stuck)
			continue;
		claims->items[index].kind = CLAIM_SOME;
		claims->items[index].at = at;
		claims_take(&rest, at);
	}
	for (int i = 0; stuck && i < curves->in->n_jobs; i++)
		if (claims->items[i].kind == CLAIM_FREE && !curves->items[i].held &&
		    !curves->items[i].job->preemptible)
			claims->items[i] = (struct claim){ .kind = CLAIM_EXACT };
}

/* --- all --- */

struct claims claims_of(const struct curves *curves, const struct worths *worths)
{
	struct claims claims = claims_of_fixed(curves);
	struct claims_rest rest = {
		.curves = curves, .claims = &claims, .slices_end_s = -HUGE_VAL,
	};
	autofree struct overdue *overdue = xcalloc((size_t)curves->in->n_jobs, sizeof(*overdue));
	int n_overdue;

	claims.worths = worths;
	set_limits(curves, &claims);
	claims_not_fixed(curves, &claims, rest.left);
	claims_protect_running(&rest);
	n_overdue = find_overdue(&rest, overdue);
	for (int i = 0; i < curves->in->n_jobs; i++)
		if (curves->items[i].held)
			count_slice(&rest, &curves->items[i]);
	for (int i = 0; i < n_overdue && force(&rest, overdue[i].index); i++)
		;
	if (claims.gathering >= 0) {
		claims_gather(&rest);
	} else {
		claims_protect_ending(&rest, HUGE_VAL);
		claims_start_brief(&rest);
		if (claims.stuck >= 0)
			restrict_to_stuck(&rest);
	}
	return claims;
}

void claims_release(struct claims *claims)
{
	free(claims->items);
	free(claims->limits_s);
	free(claims->waits_s);
}
