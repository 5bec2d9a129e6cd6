/* claims.c - overdue jobs, and all claims together, see claims.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "backfill.h"
#include "claims_rest.h"
#include "pollux/mem.h"

/* --- how long a job may wait before it is overdue: B of policy.h --- */

/* The longest wait before a job is overdue, in rounds. In one round each job has its slice. With 16
 * rounds, mean completion times on one GPU are up to 4 % longer (desk.sh). */
#define LIMIT_ROUNDS 24

/* A submitted job, and the device-seconds of its slice and of those submitted before. */
struct submission {
	double at_s, round_device_s;
};

static int by_time(const void *a, const void *b)
{
	const struct submission *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static struct submission *submissions_of(const struct curves *curves)
{
	int n = curves->in->n_jobs;
	struct submission *list = xcalloc((size_t)n, sizeof(*list));

	for (int i = 0; i < n; i++) {
		const struct curve *c = &curves->items[i];

		list[i].at_s = isnan(c->job->submitted_s) ? -HUGE_VAL : c->job->submitted_s;
		list[i].round_device_s = c->least * c->slice_s;
	}
	qsort(list, (size_t)n, sizeof(*list), by_time);
	for (int i = 1; i < n; i++)
		list[i].round_device_s += list[i - 1].round_device_s;
	return list;
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

/* The limit of each job, seconds, in the order of the curves; the caller frees the result. For a
 * running job it is the limit on a wait that begins now. */
static double *wait_limits_of(const struct curves *curves)
{
	int n = curves->in->n_jobs;
	struct submission *list = submissions_of(curves);
	double *limits_s = xcalloc((size_t)n, sizeof(*limits_s));

	for (int i = 0; i < n; i++) {
		const struct curve *c = &curves->items[i];
		double since_s = c->held ? curves->in->now_s : claims_waiting_since_s(curves, c);

		limits_s[i] = LIMIT_ROUNDS * fmax(curves->slice_s,
						  round_device_s(list, n, since_s) /
							  fmax(curves->n_devices, 1));
	}
	free(list);
	return limits_s;
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

static void count_slice(struct claims_rest *rest, const struct curve *c)
{
	/* otherwise a clock was set back */
	bool is_past = c->job->launched_s <= rest->curves->in->now_s;

	if (c->job->preemptible && (!c->held || is_past))
		rest->slices_end_s =
			fmax(rest->slices_end_s, curve_slice_end_s(rest->curves, c, !c->held));
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

static void find_overdue(struct claims_rest *rest)
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

static void take_claim(struct claims_rest *rest, int at)
{
	rest->left[curve_kind_at(rest->curves, at)] -= curve_devices_at(rest->curves, at);
}

/* Returns the index if as many devices of its kind are left; otherwise 0. */
static int kept_within(const struct claims_rest *rest, int at)
{
	int left = rest->left[curve_kind_at(rest->curves, at)];

	return curve_devices_at(rest->curves, at) <= left ? at : 0;
}

/* Claims devices for an overdue job. False: the job gathers devices, and no job behind it may
 * start. */
static bool force(struct claims_rest *rest, const struct overdue *overdue)
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
	claims_protect_ending(rest, overdue_s);
	at = claim->kind == CLAIM_KEEP ? kept_within(rest, claim->at)
				       : curve_least_within(rest->curves, c, rest->left);
	if (!at) {
		claims->gathering = index;
		claims->gathered_kind = curve_nearest_kind(rest->curves, c, rest->left);
		return false;
	}
	claim->kind = claim->kind == CLAIM_KEEP ? CLAIM_EXACT : CLAIM_SOME;
	claim->at = at;
	take_claim(rest, at);
	count_slice(rest, c);
	if (curve_stays(c))
		claims->fixed[curve_kind_at(rest->curves, at)] +=
			curve_devices_at(rest->curves, at);
	return true;
}

/* --- behind the stuck job --- */

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
		    !(fits && backfill_allows(curves, &rest->claims->stuck_job, c, claim)))
			claim->kind = CLAIM_EXACT;
	}
}

/* --- without slices --- */

void claims_add_first(const struct curves *curves, struct claims *claims)
{
	struct claims_rest rest = {
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
		take_claim(&rest, at);
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
	struct claims_rest rest = { .curves = curves, .claims = &claims };

	claims_protect_fixed(&rest);
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
	struct claims_rest rest = {
		.curves = curves, .claims = &claims,
		.slices_end_s = -HUGE_VAL, .overdue = xcalloc(n_jobs, sizeof(*rest.overdue)),
	};

	claims_protect_fixed(&rest);
	claims_protect_guaranteed(&rest);
	claims_protect_slices(&rest);
	find_overdue(&rest);
	for (size_t i = 0; i < n_jobs; i++)
		if (curves->items[i].held)
			count_slice(&rest, &curves->items[i]);
	for (int i = 0; i < rest.n_overdue && force(&rest, &rest.overdue[i]); i++)
		;
	if (claims.gathering >= 0) {
		claims_gather(&rest);
	} else {
		claims_protect_ending(&rest, HUGE_VAL);
		if (claims.stuck >= 0)
			restrict_to_stuck(&rest);
	}
	free(rest.overdue);
	return claims;
}

void claims_release(struct claims *claims)
{
	free(claims->items);
	free(claims->limits_s);
}
