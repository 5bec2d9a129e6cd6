/* plan_tiers.c - what is written of waits for devices that are joined better. */
#include <math.h>

#include "plan.h"
#include "tiers.h"

/* Times that differ by less than this are not written again. */
#define SAME_TIME_S 2.0

static void add_waited(const struct snapshot *s, const struct decision *d, int j,
		       enum configuration_tier tier, struct plan *p)
{
	const struct job *job = d->candidates[j].job;

	plan_add(p, ACTION_TIER_WAITED, job->id, NULL, NULL)->waited = (struct tier_past){
		.time_s = s->now_wall_s, .replicas = d->choices[j].replicas,
		.tier = (int)tier - TIER_FAST,
		.wait_s = fmax(s->now_wall_s - job->tier_wait_since_s, 0),
	};
}

/* A job that takes worse devices in the end has waited for the better ones for at least as long. */
static void keep_waited(const struct snapshot *s, const struct decision *d, int j, struct plan *p)
{
	const struct pass_tiers *t = d->tiers;
	enum configuration_tier given = tiers_given(s, d, j), best;

	if (given == TIER_UNKNOWN)
		return;
	best = t->best[d->choices[j].kind * t->n_best + d->choices[j].replicas];
	add_waited(s, d, j, given, p);
	if (best < given)
		add_waited(s, d, j, best, p);
}

static void set_wait(const struct job *job, double since_s, double until_s, struct plan *p)
{
	struct action *a = plan_add(p, ACTION_TIER_WAIT, job->id, NULL, NULL);

	a->since_s = since_s;
	a->until_s = until_s;
}

void end_tier_wait(const struct job *job, struct plan *p)
{
	if (!isnan(job->tier_wait_since_s))
		set_wait(job, (double)NAN, (double)NAN, p);
}

void keep_tier_wait(const struct snapshot *s, const struct decision *d, int j, struct plan *p)
{
	const struct tier_hold *hold = d->tiers ? &d->tiers->holds[j] : NULL;
	const struct job *job = d->candidates[j].job;
	bool waited = !isnan(job->tier_wait_since_s);

	if (hold && hold->waits) {
		double to_wall_s = s->now_wall_s - s->now_boot_s;
		double since_s = waited ? job->tier_wait_since_s : hold->since_s + to_wall_s;
		double until_s = isinf(hold->until_s) ? (double)NAN : hold->until_s + to_wall_s;

		if (!waited || isnan(until_s) != isnan(job->tier_wait_until_s) ||
		    fabs(until_s - job->tier_wait_until_s) > SAME_TIME_S)
			set_wait(job, since_s, until_s, p);
	} else {
		if (waited && d->tiers && d->choices[j].replicas > 1)
			keep_waited(s, d, j, p);
		end_tier_wait(job, p);
	}
}
