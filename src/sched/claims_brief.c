/* claims_brief.c - waiting jobs that take at most a slice in all, see claims.h. */
#include <math.h>
#include <stdlib.h>

#include "claims.h"
#include "lengths.h"
#include "pollux/mem.h"

/* A turn that costs less, in slices, is a suspension, or as good. */
#define SUSPENSION_SLICES 0.02
/* The rounding of a time limit that is as long as a slice. */
#define ROUNDING 1e-9

/* The longest time that the job still runs on its least devices; INFINITY: not known. */
static double most_left_s(const struct curve *c)
{
	double left_s = c->job->time_left_s > 0 ? c->job->time_left_s : HUGE_VAL;

	if (c->job->remaining_spread <= SCHED_TRUSTED_SPREAD && c->remaining_device_s > 0)
		left_s = fmin(left_s, c->remaining_device_s / c->least);
	return left_s;
}

bool claims_is_brief(const struct curves *curves, const struct curve *c)
{
	return c->least && curve_service_device_s(c) / c->least + most_left_s(c) <=
				   curves->slice_s * (1 + ROUNDING);
}

bool claims_is_new_brief(const struct curves *curves, const struct curve *c)
{
	return !c->held && !(curve_service_device_s(c) > 0) && claims_is_brief(curves, c);
}

double claims_brief_device_s(const struct curve *c)
{
	return curve_service_device_s(c) + c->least * most_left_s(c);
}

double claims_brief_left_device_s(const struct curves *curves)
{
	double left_device_s = CLAIMS_BRIEF_PART * SCHED_BRIEF_SLICES * curves->slice_s *
			       curves->n_devices - fmax(curves->in->brief_device_s, 0);

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		if (c->held && claims_is_brief(curves, c))
			left_device_s -= claims_brief_device_s(c);
	}
	return left_device_s;
}

/* --- the order --- */

struct brief {
	int index;		/* of the curve */
	double device_s;
};

static int shorter(const void *a, const void *b)
{
	const struct brief *x = a, *y = b;

	if (x->device_s < y->device_s || x->device_s > y->device_s)
		return x->device_s < y->device_s ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* --- what makes room --- */

/* When the slice of a running job was over, while the brief one waited. */
static double slice_over_s(const struct curves *curves, const struct curve *c,
			   const struct brief *brief)
{
	return fmax(curve_slice_end_s(curves, c, false),
		    claims_waiting_since_s(curves, &curves->items[brief->index]));
}

/* True if it is known that the running job ends sooner than the brief one would. That may be wrong,
 * and is believed for a slice. */
static bool ends_sooner(const struct curves *curves, const struct curve *c,
			const struct brief *brief)
{
	return c->spread <= SCHED_TRUSTED_SPREAD &&
	       lengths_kept_device_s(c) <= brief->device_s &&
	       curves->in->now_s < slice_over_s(curves, c, brief) + curves->slice_s;
}

/* True if the running job was about to end, and did not for so long. */
static bool outstays(const struct claims_rest *rest, int index, const struct brief *brief)
{
	const struct curve *c = &rest->curves->items[index];
	const struct claim *claim = &rest->claims->items[index];

	return claim->kind == CLAIM_EXACT && c->held && claim->at == c->held && !curve_stays(c) &&
	       rest->curves->in->now_s >= slice_over_s(rest->curves, c, brief) +
						  CLAIMS_END_RESTARTS * c->restart_s;
}

/* Counts the devices of each kind that are left to the brief job. */
static void left_for(const struct claims_rest *rest, const struct brief *brief, int *left)
{
	const struct curves *curves = rest->curves;

	for (int k = 0; k < curves->n_kinds; k++)
		left[k] = rest->left[k];
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		if (c->held && rest->claims->items[i].kind == CLAIM_FREE &&
		    ends_sooner(curves, c, brief))
			left[c->held_kind] -= c->held_devices;
	}
}

static bool may_be_suspended(const struct claims_rest *rest, int index, const struct brief *brief)
{
	const struct curves *curves = rest->curves;
	const struct curve *c = &curves->items[index];

	return rest->claims->items[index].kind == CLAIM_SOME && c->held && c->settled &&
	       !curve_stays(c) && c->turn_cost_s < SUSPENSION_SLICES * curves->slice_s &&
	       !claims_was_overdue(curves, rest->claims, c, false) && !claims_is_brief(curves, c) &&
	       !ends_sooner(curves, c, brief);
}

static bool makes_room(const struct claims_rest *rest, int index, const struct brief *brief,
		       const int *left)
{
	const struct curve *c = &rest->curves->items[index];
	int least = rest->curves->items[brief->index].least_on[c->held_kind];

	return least && least <= c->held_devices + left[c->held_kind] &&
	       (may_be_suspended(rest, index, brief) || outstays(rest, index, brief));
}

/* Takes its devices from the job whose slice ends first among those that make room. */
static void make_room(struct claims_rest *rest, const struct brief *brief, int *left)
{
	const struct curve *first = NULL;

	for (int i = 0; i < rest->curves->in->n_jobs; i++) {
		const struct curve *c = &rest->curves->items[i];

		if (makes_room(rest, i, brief, left) &&
		    (!first || curve_slice_end_s(rest->curves, c, false) <
				       curve_slice_end_s(rest->curves, first, false)))
			first = c;
	}
	if (!first)
		return;
	rest->claims->items[first - rest->curves->items] = (struct claim){ .kind = CLAIM_EXACT };
	rest->left[first->held_kind] += first->held_devices;
	left[first->held_kind] += first->held_devices;
}

/* --- all --- */

static void start(struct claims_rest *rest, const struct brief *brief)
{
	const struct curves *curves = rest->curves;
	const struct curve *c = &curves->items[brief->index];
	struct claim *claim = &rest->claims->items[brief->index];
	int left[SCHED_KINDS], at;

	claim->brief = true;
	left_for(rest, brief, left);
	if (!curve_least_within(curves, c, left))
		make_room(rest, brief, left);
	at = curve_least_within(curves, c, left);
	if (!at)
		return;
	*claim = (struct claim){ .kind = CLAIM_SOME, .at = at, .brief = true };
	claims_take(rest, at);
	if (curve_stays(c))
		rest->claims->fixed[curve_kind_at(curves, at)] += curve_devices_at(curves, at);
}

void claims_start_brief(struct claims_rest *rest)
{
	const struct curves *curves = rest->curves;
	autofree struct brief *list = xcalloc((size_t)curves->in->n_jobs, sizeof(*list));
	double left_device_s = claims_brief_left_device_s(curves);
	int n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		if (claims_is_new_brief(curves, c) && rest->claims->items[i].kind == CLAIM_FREE &&
		    (c->job->preemptible || rest->claims->stuck < 0))
			list[n++] = (struct brief){ i, claims_brief_device_s(c) };
	}
	qsort(list, (size_t)n, sizeof(*list), shorter);
	for (int k = 0; k < n; k++) {
		left_device_s -= list[k].device_s;
		if (left_device_s < 0)
			break;
		start(rest, &list[k]);
	}
}
