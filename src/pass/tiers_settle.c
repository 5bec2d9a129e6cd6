/* tiers_settle.c - who waits for devices that are joined better, once the policy has decided and
 * devices were assigned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "pollux/mem.h"
#include "tiers.h"

/* Rounds of deciding again for what is better; then what was assigned stands, but for jobs that do
 * not accept it. */
#define MOST_ROUNDS 32
/* A job whose length is not known is taken to go on for so many slices, as in sched/worth.h. */
#define LENGTH_SLICES 12

/* --- what is known of a candidate --- */

/* The number of devices and the goodput that a length in device-seconds is counted in. */
static double unit_of(const struct decision *d, int j)
{
	const struct sched_job *job = &d->sched_jobs[j];
	int kind = d->choices[j].kind;

	for (int r = 1; r <= job->max_replicas && r < d->tiers->n_best; r++)
		if (offers_at(job, kind, 0, r).goodput > 0)
			return offers_at(job, kind, 0, r).goodput / r;
	return (double)NAN;
}

static double work_of(const struct snapshot *s, const struct decision *d, int j)
{
	const struct sched_job *job = &d->sched_jobs[j];

	if (!isnan(job->remaining_samples))
		return job->remaining_samples;
	return unit_of(d, j) * (fmax(job->attained_service_device_s, 0) +
				LENGTH_SLICES * s->config->slice_s);
}

/* When a running job that keeps its devices ends, as far as its work is known. */
static double ends_s(const struct snapshot *s, const struct decision *d, int j)
{
	const struct sched_job *job = &d->sched_jobs[j];
	const struct run *run = d->candidates[j].run;
	int r = d->choices[j].replicas, kind = d->choices[j].kind;
	double rate = job->goodput_now;

	if (isnan(rate))
		rate = r > 1 ? tiers_value(d, j, kind, r, run->configuration.tier)
			     : unit_of(d, j);
	return s->now_boot_s + job->remaining_samples / rate;
}

static bool is_running_on(const struct snapshot *s, const struct run *run, int device)
{
	for (int i = 0; run && i < run_held(run); i++)
		if (device_is_same(&s->devices.items[device], &run->devices[i]))
			return true;
	return false;
}

bool tiers_stays(const struct snapshot *s, const struct decision *d, int j)
{
	const struct run *run = d->candidates[j].run;

	if (!run || d->choices[j].replicas != run->configuration.replicas)
		return false;
	for (int i = 0; i < s->devices.count; i++)
		if (d->owner[i] == j && !is_running_on(s, run, i))
			return false;
	return true;
}

double *tiers_free_times(const struct snapshot *s, const struct decision *d, int j)
{
	double *free_s = xcalloc((size_t)s->devices.count, sizeof(*free_s));

	for (int i = 0; i < s->devices.count; i++) {
		int k = d->owner[i];

		if (!d->usable[i] || d->left[i] || d->tiers->promised[i] || d->tiers->kept[i])
			free_s[i] = HUGE_VAL;
		else if (k == ASSIGN_FREE || k == j)
			free_s[i] = s->now_boot_s;
		else
			free_s[i] = k < d->n && tiers_stays(s, d, k) ? ends_s(s, d, k) : HUGE_VAL;
		if (d->kind_of[i] != d->choices[j].kind)
			free_s[i] = HUGE_VAL;
	}
	return free_s;
}

/* --- waiting --- */

/* From the wall clock, which may have been set back. */
static double since_s(const struct snapshot *s, const struct job *job)
{
	if (isnan(job->tier_wait_since_s))
		return s->now_boot_s;
	return s->now_boot_s - fmax(s->now_wall_s - job->tier_wait_since_s, 0);
}

/* Other policies than goodput do not tell when a job must start. */
static double overdue_s(const struct snapshot *s, const struct decision *d, int j)
{
	return s->policy == &policy_goodput ? d->choices[j].overdue_s : (double)NAN;
}

static struct tier_offer offer_to(const struct snapshot *s, const struct decision *d, int j,
				  const double *free_s)
{
	const struct job *job = d->candidates[j].job;
	enum configuration_tier worst = job->declared.worst_tier;
	int r = d->choices[j].replicas;
	struct tier_offer o = {
		.links = d->tiers->links, .free_s = free_s, .replicas = r,
		.now_s = s->now_boot_s, .tier_now = (int)tiers_given(s, d, j) - TIER_FAST,
		.worst = worst == TIER_UNKNOWN ? TIER_LINKS - 1 : (int)worst - TIER_FAST,
		.work = work_of(s, d, j), .since_s = since_s(s, job),
	};

	o.latest_s = fmin(overdue_s(s, d, j), o.since_s + s->config->locality_wait_s);
	for (int t = 0; t < TIER_LINKS; t++) {
		o.goodput[t] = s->policy == &policy_goodput
			? tiers_value(d, j, d->choices[j].kind, r,
				      (enum configuration_tier)(TIER_FAST + t)) : (double)NAN;
		o.usual_wait_s[t] = tier_usual_wait_s(s->tier_past, s->n_tier_past, r, t,
						      s->now_wall_s, s->config->slice_s);
	}
	return o;
}

/* True if no run has the device, not even one that is about to leave. */
static bool is_idle(const struct snapshot *s, int device)
{
	for (int i = 0; i < s->runs.count; i++)
		if (is_running_on(s, &s->runs.items[i], device))
			return false;
	return true;
}

/* Promises the devices of the set to the job. Those that are free are kept for it if the others are
 * expected within a slice, for which nobody else could work on them much, or if it waited for as
 * long as any job may. */
static void hold(const struct snapshot *s, struct decision *d, int j, const double *free_s,
		 const struct tier_answer *a)
{
	bool keeps = a->start_s - s->now_boot_s <= s->config->slice_s ||
		     overdue_s(s, d, j) <= s->now_boot_s;

	for (int i = 0; i < s->devices.count; i++) {
		if (!a->wanted[i])
			continue;
		d->tiers->promised[i] = true;
		d->tiers->kept[i] = keeps && free_s[i] <= s->now_boot_s && is_idle(s, i);
	}
	d->choices[j] = (struct sched_choice){ .next_start_s = (double)NAN,
					       .overdue_s = d->choices[j].overdue_s };
}

void tiers_give(const struct snapshot *s, struct decision *d, int j, const bool *set)
{
	for (int i = 0; i < s->devices.count; i++)
		if (set[i])
			d->owner[i] = j;
		else if (d->owner[i] == j)
			d->owner[i] = ASSIGN_FREE;
}

/* True if the job waits: then the others are to be decided on again. */
static bool asks_to_wait(const struct snapshot *s, struct decision *d, int j)
{
	double *free_s = tiers_free_times(s, d, j);
	struct tier_offer o = offer_to(s, d, j, free_s);
	struct tier_answer a = { .wanted = xcalloc((size_t)s->devices.count, sizeof(bool)) };

	tier_ask(&o, &a);
	if (a.waits && a.start_s <= s->now_boot_s) {
		tiers_give(s, d, j, a.wanted);
		a.waits = false;
	} else if (a.waits) {
		d->tiers->holds[j] = (struct tier_hold){
			.waits = true, .tier = a.tier, .since_s = o.since_s,
			.until_s = a.until_s, .start_s = a.start_s,
		};
		hold(s, d, j, free_s, &a);
		tiers_explain_wait(s, d, j, &o, &a);
	}
	free(a.wanted);
	free(free_s);
	return a.waits;
}

/* --- rounds --- */

/* True if the job begins on several devices of its own, or on more than it has. */
static bool is_given_several(const struct snapshot *s, const struct decision *d, int j)
{
	return d->choices[j].replicas > 1 && d->places[j].device < 0 && !comes_back(d, j) &&
	       !d->tiers->holds[j].waits && !tiers_stays(s, d, j);
}

static enum configuration_tier best_for(const struct decision *d, int j)
{
	const struct pass_tiers *t = d->tiers;

	return t->best[d->choices[j].kind * t->n_best + d->choices[j].replicas];
}

/* True if the job does not accept devices of the tier. */
static bool is_refused(const struct decision *d, int j, enum configuration_tier given)
{
	enum configuration_tier worst = d->candidates[j].job->declared.worst_tier;

	return worst != TIER_UNKNOWN && given > worst;
}

/* True if the job is to be decided on again, by what it makes of the devices that it got. */
static bool is_weighed_again(struct decision *d, int j, enum configuration_tier given)
{
	int r = d->choices[j].replicas, kind = d->choices[j].kind;
	double value = tiers_value(d, j, kind, r, given);
	struct throughput_place place = throughput_place_on(1, r);
	bool lower;

	if (is_refused(d, j, given))
		return tiers_set_value(d, j, kind, r, (double)NAN);
	place.tier = given;
	lower = value > 0 && tiers_set_value(d, j, kind, r, value);
	return plan_ways_lower(d, j, kind, place) || lower;
}

/* True if some jobs are to be decided on again. forced: looks only at jobs that do not accept the
 * devices that they got. Each round then makes one of these wait for good, or takes a number of
 * devices from those that the job may have. So the rounds end. */
static bool look_again(const struct snapshot *s, struct decision *d, bool forced)
{
	bool again = false;

	for (int j = 0; j < d->n_asked; j++) {
		enum configuration_tier given = d->choices[j].replicas > 1 ? tiers_given(s, d, j)
									   : TIER_UNKNOWN;
		bool refused = is_refused(d, j, given);

		if (!is_given_several(s, d, j) && !(refused && tiers_go_on_anywhere(d, j)))
			continue;
		if (given <= best_for(d, j) || (forced && !refused))
			continue;
		if (!d->candidates[j].run && asks_to_wait(s, d, j))
			return true;
		again |= is_weighed_again(d, j, tiers_given(s, d, j));
	}
	return again;
}

void tiers_settle(const struct snapshot *s, struct decision *d)
{
	struct pass_tiers *t = d->tiers;

	if (!t->several || (s->policy != &policy_goodput && !t->pinned &&
			    !s->policy->models_goodput))
		return;
	for (int round = 0; look_again(s, d, round >= MOST_ROUNDS); round++)
		decide_and_assign(s, d);
	if (s->policy == &policy_goodput)
		tiers_move(s, d);
}
