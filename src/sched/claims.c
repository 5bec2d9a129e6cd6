/* claims.c - protected, overdue and gathering jobs, see claims.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "backfill.h"
#include "claims.h"
#include "pollux/mem.h"
#include "wait_limits.h"

struct overdue {
	int index;		/* of the curve */
	int first;		/* claims_first_rank */
	double since_s;
};

/* The devices left to claim, while claims are made one after the other. */
struct rest {
	const struct curves *curves;
	struct claims *claims;
	int left[SCHED_KINDS];	/* devices not claimed */
	double slices_end_s;	/* of the last slice of all jobs that run or are to start */
	struct overdue *overdue;	/* longest waiting first */
	int n_overdue;
};

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

double claims_overdue_s(const struct curves *curves, const struct claims *claims,
			const struct curve *c)
{
	double limit_s = claims_first_rank(c) > 0 ? 0 : claims->limits_s[c - curves->items];

	return claims_waiting_since_s(curves, c) + limit_s;
}

/* --- protected --- */

static void protect(struct rest *rest, int index, enum claim_kind kind)
{
	const struct curve *c = &rest->curves->items[index];
	struct claim *claim = &rest->claims->items[index];

	int *left = &rest->left[c->held_kind], first = rest->curves->kinds[c->held_kind].first;

	*claim = (struct claim){ .kind = kind, .at = c->held };
	if (c->held_devices > *left) {	/* devices went away: the job keeps fewer, or none */
		claim->kind = CLAIM_EXACT;
		claim->at = first + *left;
		while (claim->at > first && isnan(c->of[claim->at]))
			claim->at--;
		if (claim->at == first)
			claim->at = 0;
	}
	*left -= curve_devices_at(rest->curves, claim->at);
}

static void set_left(struct rest *rest)
{
	for (int k = 0; k < rest->curves->n_kinds; k++)
		rest->left[k] = rest->curves->kinds[k].n;
}

void claims_not_fixed(const struct curves *curves, const struct claims *claims, int *left)
{
	for (int k = 0; k < curves->n_kinds; k++)
		left[k] = curves->kinds[k].n - claims->fixed[k];
}

static void protect_fixed(struct rest *rest)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++)
		if (rest->curves->items[i].held && !rest->curves->items[i].job->preemptible)
			protect(rest, i, CLAIM_EXACT);
	for (int k = 0; k < rest->curves->n_kinds; k++)
		rest->claims->fixed[k] = rest->curves->kinds[k].n - rest->left[k];
}

/* The index of the devices that a running job with a guarantee claims; 0: too few are left. */
static int guaranteed_least(const struct rest *rest, const struct curve *c)
{
	int kind = c->held_kind, least = c->least_on[kind];

	if (least && least <= rest->left[kind])
		return rest->curves->kinds[kind].first + least;
	return curve_least_within(rest->curves, c, rest->left);
}

static void protect_guaranteed_job(struct rest *rest, int index)
{
	const struct curve *c = &rest->curves->items[index];
	struct claim *claim = &rest->claims->items[index];
	bool below = !curve_keeps_guarantee(rest->curves, c);
	int at = guaranteed_least(rest, c);

	if (!at || (!below && c->in_slice && !c->settled)) {
		protect(rest, index, CLAIM_EXACT);
		return;
	}
	*claim = (struct claim){
		.kind = CLAIM_SOME, .at = at, .held = below ? 0 : c->held,
		.below = below ? c->held : 0,
	};
	rest->left[curve_kind_at(rest->curves, at)] -= curve_devices_at(rest->curves, at);
}

static void protect_guaranteed(struct rest *rest)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];
		int at, kind;

		if (!c->held || !c->job->guaranteed || !c->job->preemptible)
			continue;
		protect_guaranteed_job(rest, i);
		at = rest->claims->items[i].at;
		kind = curve_kind_at(rest->curves, at);
		rest->claims->fixed[kind] += curve_guaranteed_devices(rest->curves, c, at);
	}
}

static void count_slice(struct rest *rest, const struct curve *c)
{
	/* otherwise a clock was set back */
	bool is_past = c->job->launched_s <= rest->curves->in->now_s;

	if (c->job->preemptible && (!c->held || is_past))
		rest->slices_end_s =
			fmax(rest->slices_end_s, curve_slice_end_s(rest->curves, c, !c->held));
}

/* --- about to end --- */

static bool is_ending(const struct curve *c)
{
	return c->job->preemptible && c->ends_in_s < c->restart_s;
}

/* The time until which an overdue job lets this job run. */
static double end_awaited_s(const struct rest *rest, const struct curve *c, double overdue_s)
{
	return fmax(overdue_s, rest->slices_end_s) + CLAIMS_END_RESTARTS * c->restart_s;
}

static void protect_ending(struct rest *rest, double overdue_s)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (rest->claims->items[i].kind == CLAIM_FREE && is_ending(c) &&
		    c->held_devices <= rest->left[c->held_kind] &&
		    rest->curves->in->now_s < end_awaited_s(rest, c, overdue_s))
			protect(rest, i, CLAIM_EXACT);
	}
}

/* --- overdue --- */

static double turn_s(const struct curves *curves)
{
	double slice_s = curves->slice_s, end_s = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		slice_s = fmax(slice_s, c->slice_s);
		if (!isnan(c->remaining_device_s))
			end_s = fmax(end_s, CLAIMS_END_RESTARTS * c->restart_s);
	}
	return slice_s + end_s;
}

static int longer_waiting(const void *a, const void *b)
{
	const struct overdue *x = a, *y = b;

	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	if (x->since_s < y->since_s || x->since_s > y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void find_overdue(struct rest *rest)
{
	const struct curves *curves = rest->curves;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		double since_s = claims_waiting_since_s(curves, c);

		int first = claims_first_rank(c);

		if (c->held || !c->least ||
		    !(first > 0 || curves->in->now_s - since_s >= rest->claims->limits_s[i]))
			continue;
		rest->claims->items[i].overdue = true;
		rest->overdue[rest->n_overdue++] =
			(struct overdue){ i, first, since_s };
	}
	qsort(rest->overdue, (size_t)rest->n_overdue, sizeof(*rest->overdue), longer_waiting);
}

static void take(struct rest *rest, int at)
{
	rest->left[curve_kind_at(rest->curves, at)] -= curve_devices_at(rest->curves, at);
}

/* Returns the index if as many devices of its kind are left; otherwise 0. */
static int kept_within(const struct rest *rest, int at)
{
	int left = rest->left[curve_kind_at(rest->curves, at)];

	return curve_devices_at(rest->curves, at) <= left ? at : 0;
}

/* Claims devices for an overdue job. False: the job gathers devices, and no job behind it may
 * start. */
static bool force(struct rest *rest, const struct overdue *overdue)
{
	int index = overdue->index;
	const struct curve *c = &rest->curves->items[index];
	struct claim *claim = &rest->claims->items[index];
	struct claims *claims = rest->claims;
	double overdue_s = claims_overdue_s(rest->curves, claims, c);
	int not_fixed[SCHED_KINDS], at;

	claims_not_fixed(rest->curves, claims, not_fixed);
	if (!curve_least_within(rest->curves, c, not_fixed)) {
		if (claims->stuck < 0) {
			claims->stuck = overdue->index;
			claims->stuck_job = backfill_stuck_job(rest->curves, claims, index,
							       overdue_s);
		}
		return true;
	}
	if (claims->stuck >= 0 && !c->job->preemptible &&
	    !backfill_allows(rest->curves, &claims->stuck_job, c, claim))
		return true;
	protect_ending(rest, overdue_s);
	at = claim->kind == CLAIM_KEEP ? kept_within(rest, claim->at)
				       : curve_least_within(rest->curves, c, rest->left);
	if (!at) {
		claims->gathering = index;
		claims->gathered_kind = curve_nearest_kind(rest->curves, c, rest->left);
		return false;
	}
	claim->kind = claim->kind == CLAIM_KEEP ? CLAIM_EXACT : CLAIM_SOME;
	claim->at = at;
	take(rest, at);
	count_slice(rest, c);
	if (curve_stays(c))
		claims->fixed[curve_kind_at(rest->curves, at)] +=
			curve_devices_at(rest->curves, at);
	return true;
}

/* --- gathering --- */

static void restrict_to_gathering(const struct curve *c, struct claim *claim)
{
	if (claim->kind == CLAIM_SOME)
		claim->kind = claim->held ? CLAIM_EITHER : CLAIM_EXACT;
	else if (claim->kind == CLAIM_FREE)
		*claim = (struct claim){
			.kind = CLAIM_KEEP, .at = c->held, .overdue = claim->overdue,
		};
}

static void restrict_to_stuck(const struct rest *rest, const struct curve *c, struct claim *claim)
{
	int left[SCHED_KINDS];
	bool fits;

	claims_not_fixed(rest->curves, rest->claims, left);
	fits = curve_least_within(rest->curves, c, left);
	if (claim->kind == CLAIM_FREE && !c->held && !c->job->preemptible &&
	    !(fits && backfill_allows(rest->curves, &rest->claims->stuck_job, c, claim)))
		claim->kind = CLAIM_EXACT;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The time until which a job that keeps exactly what it has is protected from the gathering job. */
static double protected_s(const struct rest *rest, const struct curve *c, bool starts_now)
{
	const struct curve *gathering = &rest->curves->items[rest->claims->gathering];
	double overdue_s = claims_overdue_s(rest->curves, rest->claims, gathering);
	double slice_end_s = curve_slice_end_s(rest->curves, c, starts_now);

	if (!c->job->preemptible)
		return HUGE_VAL;
	if (!is_ending(c) &&
	    !(starts_now && c->remaining_device_s / c->of[c->least_at] < c->restart_s))
		return slice_end_s;
	return fmax(slice_end_s, end_awaited_s(rest, c, overdue_s));
}

/* The number of devices that the gathering job lacks. */
static int missing_devices(const struct rest *rest)
{
	int kind = rest->claims->gathered_kind;

	return rest->curves->items[rest->claims->gathering].least_on[kind] - rest->left[kind];
}

/* The time at which protected jobs have left enough devices for the gathering job; NaN: unknown. */
static double gathered_s(const struct rest *rest)
{
	const struct curves *curves = rest->curves;
	double *ends_s = xcalloc((size_t)curves->n_devices + 1, sizeof(*ends_s));
	int missing = missing_devices(rest), n = 0;
	double end_s;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		const struct claim *claim = &rest->claims->items[i];
		bool runs_on = c->held && c->held == claim->at;

		if (claim->kind != CLAIM_EXACT || (c->held && !c->job->preemptible) ||
		    curve_kind_at(curves, claim->at) != rest->claims->gathered_kind)
			continue;
		for (int k = 0; k < curve_devices_at(curves, claim->at); k++)
			ends_s[n++] = protected_s(rest, c, !runs_on);
	}
	qsort(ends_s, (size_t)n, sizeof(*ends_s), compare);
	end_s = missing > 0 && missing <= n ? ends_s[missing - 1] : HUGE_VAL;
	free(ends_s);
	return isfinite(end_s) ? end_s : (double)NAN;
}

/* If the jobs that are about to end have the devices that are lacking: the first of these jobs.
 * Otherwise -1. */
static int awaited(const struct rest *rest)
{
	int missing = missing_devices(rest), first = -1;

	for (int i = rest->curves->in->n_jobs - 1; i >= 0; i--) {
		const struct curve *c = &rest->curves->items[i];

		if (!c->in_slice && is_ending(c) && rest->claims->items[i].kind == CLAIM_EXACT &&
		    c->held_kind == rest->claims->gathered_kind) {
			missing -= c->held_devices;
			first = i;
		}
	}
	return missing <= 0 ? first : -1;
}

/* --- without slices --- */

void claims_add_first(const struct curves *curves, struct claims *claims)
{
	struct rest rest = {
		.curves = curves, .claims = claims,
		.overdue = xcalloc((size_t)curves->in->n_jobs, sizeof(*rest.overdue)),
	};
	bool stuck = false;

	claims_not_fixed(curves, claims, rest.left);
	claims->limits_s = xcalloc((size_t)curves->in->n_jobs, sizeof(*claims->limits_s));
	for (int i = 0; i < curves->in->n_jobs; i++)
		claims->limits_s[i] = HUGE_VAL;	/* nobody becomes overdue by waiting */
	find_overdue(&rest);
	for (int i = 0; i < rest.n_overdue && !stuck; i++) {
		struct claim *claim = &claims->items[rest.overdue[i].index];
		int at = curve_least_within(curves, &curves->items[rest.overdue[i].index],
					    rest.left);

		stuck = !at;
		if (stuck)
			continue;
		claim->kind = CLAIM_SOME;
		claim->at = at;
		take(&rest, at);
	}
	for (int i = 0; stuck && i < curves->in->n_jobs; i++)
		if (claims->items[i].kind == CLAIM_FREE && !curves->items[i].held &&
		    !curves->items[i].job->preemptible)
			claims->items[i] = (struct claim){ .kind = CLAIM_EXACT };
	free(rest.overdue);
}

/* --- all --- */

struct claims claims_of_fixed(const struct curves *curves)
{
	struct claims claims = {
		.items = xcalloc((size_t)curves->in->n_jobs, sizeof(*claims.items)),
		.gathering = -1, .gathered_s = (double)NAN, .awaited = -1, .stuck = -1,
	};
	struct rest rest = { .curves = curves, .claims = &claims };

	set_left(&rest);
	protect_fixed(&rest);
	return claims;
}

struct claims claims_of(const struct curves *curves)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	struct claims claims = {
		.items = xcalloc(n_jobs, sizeof(*claims.items)),
		.limits_s = wait_limits_of(curves), .turn_s = turn_s(curves),
		.gathering = -1, .gathered_s = (double)NAN, .awaited = -1, .stuck = -1,
	};
	struct rest rest = {
		.curves = curves, .claims = &claims,
		.slices_end_s = -HUGE_VAL, .overdue = xcalloc(n_jobs, sizeof(*rest.overdue)),
	};

	set_left(&rest);
	protect_fixed(&rest);
	protect_guaranteed(&rest);
	for (int i = 0; i < curves->in->n_jobs; i++)
		if (curves->items[i].in_slice && !curve_stays(&curves->items[i]))
			protect(&rest, i, curves->items[i].settled ? CLAIM_SOME : CLAIM_EXACT);
	find_overdue(&rest);
	for (size_t i = 0; i < n_jobs; i++)
		if (curves->items[i].held)
			count_slice(&rest, &curves->items[i]);
	for (int i = 0; i < rest.n_overdue && force(&rest, &rest.overdue[i]); i++)
		;
	if (claims.gathering < 0)
		protect_ending(&rest, HUGE_VAL);
	for (size_t i = 0; i < n_jobs; i++)
		if (claims.gathering >= 0)
			restrict_to_gathering(&curves->items[i], &claims.items[i]);
		else if (claims.stuck >= 0)
			restrict_to_stuck(&rest, &curves->items[i], &claims.items[i]);
	if (claims.gathering >= 0) {
		claims.gathered_s = gathered_s(&rest);
		claims.awaited = awaited(&rest);
	}
	free(rest.overdue);
	return claims;
}

void claims_release(struct claims *claims)
{
	free(claims->items);
	free(claims->limits_s);
}
