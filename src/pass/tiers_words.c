/* tiers_words.c - what people are told of waits for devices that are joined better, and what is
 * written of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan.h"
#include "tiers.h"

#define MOST_NAMES 4

const char *tier_words(const struct snapshot *s, int tier)
{
	const struct device_backend *backend = device_backend_of(s->devices.items[0].id);

	switch ((enum device_link)tier) {
	case DEVICE_LINK_FAST:
		return backend && backend->words ? backend->words->fast_link : "fast links";
	case DEVICE_LINK_SWITCH:
		return backend && backend->is_accelerator ? "one switch" : "one cache";
	case DEVICE_LINK_NUMA:
		return "one NUMA node";
	case DEVICE_LINK_MACHINE:
		break;
	}
	return "one machine";
}

/* "gpu:0+gpu:1" */
static void add_devices(const struct snapshot *s, const bool *set, struct text *t)
{
	int n = 0;

	for (int i = 0; i < s->devices.count; i++)
		if (set[i] && n++ < MOST_NAMES)
			text_addf(t, "%s%s", n > 1 ? "+" : "", s->devices.items[i].name);
	if (n > MOST_NAMES)
		text_addf(t, "+%d more", n - MOST_NAMES);
}

static void add_time(double seconds, struct text *t)
{
	if (seconds < 60)
		text_addf(t, "%.0f s", fmax(ceil(seconds), 1));
	else if (seconds < 3600)
		text_addf(t, "%.0f min", ceil(seconds / 60));
	else
		text_addf(t, "%.1f h", seconds / 3600);
}

static void put_reason(const struct text *t, char *reason)
{
	snprintf(reason, SCHED_REASON_SIZE, "%s", t->data ? t->data : "");
}

/* "waits up to 4 min for gpu:0+gpu:1 (NVLink): gpu:0+gpu:2 would be 31 % slower" */
void tiers_explain_wait(const struct snapshot *s, struct decision *d, int j,
			const struct tier_offer *o, const struct tier_answer *a)
{
	struct sched_choice *choice = &d->choices[j];
	struct text t = TEXT_INIT;

	if (isinf(a->until_s)) {
		text_addf(&t, "waits for %d devices joined by %s: --tier %s", o->replicas,
			  tier_words(s, a->tier),
			  worst_tier_names.names[d->candidates[j].job->declared.worst_tier]);
	} else {
		bool now[DEVICE_MAX] = { false };

		for (int i = 0; i < s->devices.count && i < DEVICE_MAX; i++)
			now[i] = d->owner[i] == j;
		text_add(&t, "waits up to ");
		add_time(a->until_s - o->since_s, &t);
		text_add(&t, " for ");
		add_devices(s, a->wanted, &t);
		text_addf(&t, " (%s): ", tier_words(s, a->tier));
		add_devices(s, now, &t);
		text_addf(&t, " would be %.0f %% slower",
			  100 * (1 - o->goodput[o->tier_now] / o->goodput[a->tier]));
		choice->next_start_s = a->until_s;
	}
	put_reason(&t, choice->reason);
	text_release(&t);
}

void tiers_explain_move(const struct snapshot *s, struct decision *d, int j, const bool *set,
			int tier, double gain)
{
	struct text t = TEXT_INIT;

	text_add(&t, "moves to ");
	add_devices(s, set, &t);
	text_addf(&t, " (%s): %.0f %% faster there", tier_words(s, tier), 100 * (gain - 1));
	put_reason(&t, d->choices[j].reason);
	text_release(&t);
}

/* --- what is written --- */

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
