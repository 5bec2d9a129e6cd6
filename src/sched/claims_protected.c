/* claims_protected.c - the claims of running jobs that keep devices, and what they leave to a job
 * that gathers devices, see claims.h. */
#include <math.h>
#include <stdlib.h>

#include "claims.h"
#include "pollux/mem.h"
#include "pollux/text.h"

static void protect(struct claims_rest *rest, int index, enum claim_kind kind)
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

struct claims claims_of_fixed(const struct curves *curves)
{
	struct claims claims = {
		.items = xcalloc((size_t)curves->in->n_jobs, sizeof(*claims.items)),
		.gathering = -1, .gathered_s = (double)NAN, .awaited = -1, .stuck = -1,
	};
	struct claims_rest rest = { .curves = curves, .claims = &claims };

	claims_not_fixed(curves, &claims, rest.left);
	for (int i = 0; i < curves->in->n_jobs; i++)
		if (curves->items[i].held && !curves->items[i].job->preemptible)
			protect(&rest, i, CLAIM_EXACT);
	for (int k = 0; k < curves->n_kinds; k++)
		claims.fixed[k] = curves->kinds[k].n - rest.left[k];
	return claims;
}

static void protect_guaranteed(struct claims_rest *rest, int index)
{
	const struct curves *curves = rest->curves;
	const struct curve *c = &curves->items[index];
	struct claim *claim = &rest->claims->items[index];
	int kind = c->held_kind, least = c->least_on[kind];
	/* 0: too few devices are left. */
	int at = least && least <= rest->left[kind] ? curves->kinds[kind].first + least
		: curve_least_within(curves, c, rest->left);
	bool below = !curve_keeps_guarantee(c);

	if (!at || (!below && c->in_slice && !c->settled)) {
		protect(rest, index, CLAIM_EXACT);
	} else {
		*claim = (struct claim){
			.kind = CLAIM_SOME, .at = at, .held = below ? 0 : c->held,
			.below = below ? c->held : 0,
		};
		claims_take(rest, at);
	}
	rest->claims->fixed[curve_kind_at(curves, claim->at)] +=
		curve_guaranteed_devices(curves, c, claim->at);
}

bool claims_was_overdue(const struct curves *curves, const struct claims *claims,
			const struct curve *c, bool starts_now)
{
	double waited_s = curve_launched_s(curves, c, starts_now) -
			  claims_waiting_since_s(curves, c);

	return waited_s >= claims->waits_s[c - curves->items] && !(starts_now && c->held);
}

double claims_kept_until_s(const struct curves *curves, const struct claims *claims,
			   const struct curve *c, bool starts_now)
{
	double launched_s = curve_launched_s(curves, c, starts_now);
	double slice_end_s = curve_slice_end_s(curves, c, starts_now);

	if (c->spread > SCHED_TRUSTED_SPREAD || claims_was_overdue(curves, claims, c, starts_now))
		return slice_end_s;
	return fmin(slice_end_s, launched_s + fmax(curve_settle_s(curves, c),
						   CURVE_SLICE_RESTARTS * c->restart_s));
}

static bool is_kept(const struct claims_rest *rest, const struct curve *c)
{
	const struct curves *curves = rest->curves;

	return c->in_slice &&
	       curves->in->now_s < claims_kept_until_s(curves, rest->claims, c, false);
}

void claims_protect_running(struct claims_rest *rest)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (c->held && c->job->guaranteed && c->job->preemptible)
			protect_guaranteed(rest, i);
	}
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (is_kept(rest, c) && !curve_stays(c))
			protect(rest, i, c->settled ? CLAIM_SOME : CLAIM_EXACT);
	}
}

static bool yields_to_guaranteed(const struct claims_rest *rest, const struct curve *c,
				 bool starts_now)
{
	return !curve_stays(c) &&
	       !claims_was_overdue(rest->curves, rest->claims, c, starts_now);
}

void claims_end_slices(struct claims_rest *rest)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];
		struct claim *claim = &rest->claims->items[i];

		if (claim->kind != CLAIM_SOME || !c->held ||
		    !yields_to_guaranteed(rest, c, false))
			continue;
		rest->left[c->held_kind] += curve_devices_at(rest->curves, claim->at);
		*claim = (struct claim){ .kind = CLAIM_FREE };
	}
}

/* --- about to end --- */

static bool is_ending(const struct curve *c)
{
	return c->job->preemptible && c->ends_in_s < c->restart_s;
}

/* The time until which an overdue job lets this job run. */
static double end_awaited_s(const struct claims_rest *rest, const struct curve *c,
			    double overdue_s)
{
	return fmax(overdue_s, rest->slices_end_s) + CLAIMS_END_RESTARTS * c->restart_s;
}

void claims_protect_ending(struct claims_rest *rest, double overdue_s)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (rest->claims->items[i].kind == CLAIM_FREE && is_ending(c) &&
		    c->held_devices <= rest->left[c->held_kind] &&
		    rest->curves->in->now_s < end_awaited_s(rest, c, overdue_s))
			protect(rest, i, CLAIM_EXACT);
	}
}

/* --- jobs that gather devices --- */

/* The time until which a job that keeps exactly what it has is protected from the gathering job. */
static double protected_s(const struct claims_rest *rest, const struct curve *c, bool starts_now)
{
	const struct curve *gathering = &rest->curves->items[rest->claims->gathering];
	double overdue_s = claims_overdue_s(rest->curves, rest->claims, gathering);
	double kept_s = claims_kept_until_s(rest->curves, rest->claims, c, starts_now);

	if (!c->job->preemptible)
		return HUGE_VAL;
	if (gathering->job->guaranteed && yields_to_guaranteed(rest, c, starts_now))
		kept_s = fmin(kept_s, curve_launched_s(rest->curves, c, starts_now) +
				      curve_settle_s(rest->curves, c));
	if (!is_ending(c) &&
	    !(starts_now && c->remaining_device_s / c->of[c->least_at] < c->restart_s))
		return kept_s;
	return fmax(kept_s, end_awaited_s(rest, c, overdue_s));
}

/* The time at which protected jobs have left the missing devices for the gathering job; NaN:
 * unknown. */
static double gathered_s(const struct claims_rest *rest, int missing)
{
	const struct curves *curves = rest->curves;
	autofree double *ends_s = xcalloc((size_t)curves->n_devices + 1, sizeof(*ends_s));
	int n = 0;
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
	qsort(ends_s, (size_t)n, sizeof(*ends_s), number_compare);
	end_s = missing > 0 && missing <= n ? ends_s[missing - 1] : HUGE_VAL;
	return isfinite(end_s) ? end_s : (double)NAN;
}

void claims_gather(struct claims_rest *rest)
{
	const struct curves *curves = rest->curves;
	struct claims *claims = rest->claims;
	int kind = claims->gathered_kind, first = -1;
	int missing = curves->items[claims->gathering].least_on[kind] - rest->left[kind];

	for (int i = 0; i < curves->in->n_jobs; i++) {
		struct claim *claim = &claims->items[i];

		if (claim->kind == CLAIM_SOME)
			claim->kind = claim->held ? CLAIM_EITHER : CLAIM_EXACT;
		else if (claim->kind == CLAIM_FREE)
			*claim = (struct claim){
				.kind = CLAIM_KEEP, .at = curves->items[i].held,
				.overdue = claim->overdue,
			};
	}
	claims->gathered_s = gathered_s(rest, missing);
	/* The first of the jobs that are about to end, if these have the missing devices. */
	for (int i = curves->in->n_jobs - 1; i >= 0; i--) {
		const struct curve *c = &curves->items[i];

		if (is_kept(rest, c) || !is_ending(c) || claims->items[i].kind != CLAIM_EXACT ||
		    c->held_kind != kind)
			continue;
		missing -= c->held_devices;
		first = i;
	}
	claims->awaited = missing <= 0 ? first : -1;
}
