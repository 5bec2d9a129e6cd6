/* claims_protected.c - the claims of running jobs that keep devices, see claims.h. */
#include <math.h>
#include <stdlib.h>

#include "claims_rest.h"
#include "pollux/mem.h"

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

void claims_protect_fixed(struct claims_rest *rest)
{
	for (int k = 0; k < rest->curves->n_kinds; k++)
		rest->left[k] = rest->curves->kinds[k].n;
	for (int i = 0; i < rest->curves->in->n_jobs; i++)
		if (rest->curves->items[i].held && !rest->curves->items[i].job->preemptible)
			protect(rest, i, CLAIM_EXACT);
	for (int k = 0; k < rest->curves->n_kinds; k++)
		rest->claims->fixed[k] = rest->curves->kinds[k].n - rest->left[k];
}

/* The index of the devices that a running job with a guarantee claims; 0: too few are left. */
static int guaranteed_least(const struct claims_rest *rest, const struct curve *c)
{
	int kind = c->held_kind, least = c->least_on[kind];

	if (least && least <= rest->left[kind])
		return rest->curves->kinds[kind].first + least;
	return curve_least_within(rest->curves, c, rest->left);
}

static void protect_guaranteed_job(struct claims_rest *rest, int index)
{
	const struct curve *c = &rest->curves->items[index];
	struct claim *claim = &rest->claims->items[index];
	bool below = !curve_keeps_guarantee(c);
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

void claims_protect_guaranteed(struct claims_rest *rest)
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

void claims_protect_slices(struct claims_rest *rest)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (c->in_slice && !curve_stays(c))
			protect(rest, i, c->settled ? CLAIM_SOME : CLAIM_EXACT);
	}
}

/* --- about to end --- */

bool claims_is_ending(const struct curve *c)
{
	return c->job->preemptible && c->ends_in_s < c->restart_s;
}

double claims_end_awaited_s(const struct claims_rest *rest, const struct curve *c,
			    double overdue_s)
{
	return fmax(overdue_s, rest->slices_end_s) + CLAIMS_END_RESTARTS * c->restart_s;
}

void claims_protect_ending(struct claims_rest *rest, double overdue_s)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (rest->claims->items[i].kind == CLAIM_FREE && claims_is_ending(c) &&
		    c->held_devices <= rest->left[c->held_kind] &&
		    rest->curves->in->now_s < claims_end_awaited_s(rest, c, overdue_s))
			protect(rest, i, CLAIM_EXACT);
	}
}

/* --- jobs that gather devices --- */

static void keep_or_leave(const struct curve *c, struct claim *claim)
{
	if (claim->kind == CLAIM_SOME)
		claim->kind = claim->held ? CLAIM_EITHER : CLAIM_EXACT;
	else if (claim->kind == CLAIM_FREE)
		*claim = (struct claim){
			.kind = CLAIM_KEEP, .at = c->held, .overdue = claim->overdue,
		};
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The time until which a job that keeps exactly what it has is protected from the gathering job. */
static double protected_s(const struct claims_rest *rest, const struct curve *c, bool starts_now)
{
	const struct curve *gathering = &rest->curves->items[rest->claims->gathering];
	double overdue_s = claims_overdue_s(rest->curves, rest->claims, gathering);
	double slice_end_s = curve_slice_end_s(rest->curves, c, starts_now);

	if (!c->job->preemptible)
		return HUGE_VAL;
	if (!claims_is_ending(c) &&
	    !(starts_now && c->remaining_device_s / c->of[c->least_at] < c->restart_s))
		return slice_end_s;
	return fmax(slice_end_s, claims_end_awaited_s(rest, c, overdue_s));
}

/* The number of devices that the gathering job lacks. */
static int missing_devices(const struct claims_rest *rest)
{
	int kind = rest->claims->gathered_kind;

	return rest->curves->items[rest->claims->gathering].least_on[kind] - rest->left[kind];
}

/* The time at which protected jobs have left enough devices for the gathering job; NaN: unknown. */
static double gathered_s(const struct claims_rest *rest)
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
	qsort(ends_s, (size_t)n, sizeof(*ends_s), compare_doubles);
	end_s = missing > 0 && missing <= n ? ends_s[missing - 1] : HUGE_VAL;
	free(ends_s);
	return isfinite(end_s) ? end_s : (double)NAN;
}

/* If the jobs that are about to end have the devices that are lacking: the first of these jobs.
 * Otherwise -1. */
static int awaited(const struct claims_rest *rest)
{
	int missing = missing_devices(rest), first = -1;

	for (int i = rest->curves->in->n_jobs - 1; i >= 0; i--) {
		const struct curve *c = &rest->curves->items[i];

		if (!c->in_slice && claims_is_ending(c) &&
		    rest->claims->items[i].kind == CLAIM_EXACT &&
		    c->held_kind == rest->claims->gathered_kind) {
			missing -= c->held_devices;
			first = i;
		}
	}
	return missing <= 0 ? first : -1;
}

void claims_gather(struct claims_rest *rest)
{
	for (int i = 0; i < rest->curves->in->n_jobs; i++)
		keep_or_leave(&rest->curves->items[i], &rest->claims->items[i]);
	rest->claims->gathered_s = gathered_s(rest);
	rest->claims->awaited = awaited(rest);
}
