/* tiers_settle.c - who waits for devices that are joined better, once the policy has decided and
 * devices were assigned; and which runs go on on better ones that are free: by a relaunch that
 * pays, or, where a suspended run can go on on any devices, there in place.
 *
 * A job is weighed at the best tier that so many devices can have. Once the devices are assigned, a
 * job that got worse ones either waits (tier_wait.h) or has its goodput on them; then the policy is
 * asked once more, about the jobs that do not wait and the devices that are not kept
 * for those that do. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "stages.h"

/* A job whose length is not known is taken to go on for so many slices, as in sched/worth.h. */
#define LENGTH_SLICES 12

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

/* True if the job's run goes on on the devices that it has. */
static bool stays(const struct snapshot *s, const struct decision *d, int j)
{
	const struct run *run = d->candidates[j].run;

	if (!run || d->choices[j].replicas != run->configuration.replicas)
		return false;
	for (int i = 0; i < s->devices.count; i++)
		if (d->owner[i] == j && !run_holds(run, &s->devices.items[i]))
			return false;
	return true;
}

/* When each device is free for the candidate. The caller frees the result. */
static double *free_times(const struct snapshot *s, const struct decision *d, int j)
{
	double *free_s = xcalloc((size_t)s->devices.count, sizeof(*free_s));

	for (int i = 0; i < s->devices.count; i++) {
		int k = d->owner[i];

		if (!d->usable[i] || d->left[i] || d->tiers->promised[i] || d->tiers->kept[i])
			free_s[i] = HUGE_VAL;
		else if (k == ASSIGN_FREE || k == j)
			free_s[i] = s->now_boot_s;
		else
			free_s[i] = k < d->n && stays(s, d, k) ? ends_s(s, d, k) : HUGE_VAL;
		if (d->kind_of[i] != d->choices[j].kind)
			free_s[i] = HUGE_VAL;
	}
	return free_s;
}

/* --- waiting --- */

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
	/* the wall clock may have been set back */
	double waited_s = isnan(job->tier_wait_since_s)
		? 0 : fmax(s->now_wall_s - job->tier_wait_since_s, 0);
	const struct sched_job *told = &d->sched_jobs[j];
	int r = d->choices[j].replicas;
	struct tier_offer o = {
		.links = d->tiers->links, .free_s = free_s, .replicas = r,
		.now_s = s->now_boot_s, .tier_now = (int)tiers_given(s, d, j) - TIER_FAST,
		.worst = worst == TIER_UNKNOWN ? TIER_LINKS - 1 : (int)worst - TIER_FAST,
		.work = told->remaining_samples, .since_s = s->now_boot_s - waited_s,
	};

	if (isnan(o.work))
		o.work = unit_of(d, j) * (fmax(told->attained_service_device_s, 0) +
					  LENGTH_SLICES * s->config->slice_s);
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
		/* not where a run has it, even one that is about to leave */
		d->tiers->kept[i] = keeps && free_s[i] <= s->now_boot_s;
		for (int r = 0; r < s->runs.count; r++)
			d->tiers->kept[i] &= !run_holds(&s->runs.items[r], &s->devices.items[i]);
	}
	d->choices[j] = (struct sched_choice){ .next_start_s = (double)NAN,
					       .overdue_s = d->choices[j].overdue_s };
}

/* Gives the candidate the devices of the set, which are free, in place of those assigned. */
static void give(const struct snapshot *s, struct decision *d, int j, const bool *set)
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
	double *free_s = free_times(s, d, j);
	struct tier_offer o = offer_to(s, d, j, free_s);
	struct tier_answer a = { .wanted = xcalloc((size_t)s->devices.count, sizeof(bool)) };

	tier_ask(&o, &a);
	if (a.waits && a.start_s <= s->now_boot_s) {
		give(s, d, j, a.wanted);
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

/* True if a suspended run of the job goes on in place on whatever devices the job is given. */
static bool goes_on_anywhere(const struct decision *d, int j)
{
	return comes_back(d, j) && !run_is_bound(d->candidates[j].suspended);
}

/* True if the job does not accept devices of the tier. */
static bool is_refused(const struct decision *d, int j, enum configuration_tier given)
{
	enum configuration_tier worst = d->candidates[j].job->declared.worst_tier;

	return worst != TIER_UNKNOWN && given > worst;
}

/* True if some jobs are to be decided on again. Each job is asked once, when all have devices for
 * the first time; a job to which the next decision gives worse ones takes them. refused: looks only
 * at jobs that do not accept the devices that they got. Each round then makes one of these wait for
 * good, or takes a number of devices from those that the job may have. So the rounds end. */
static bool look_again(const struct snapshot *s, struct decision *d, bool refused_only)
{
	const struct pass_tiers *t = d->tiers;
	bool again = false;

	for (int j = 0; j < d->n_asked; j++) {
		int r = d->choices[j].replicas, kind = d->choices[j].kind;
		enum configuration_tier given = r > 1 ? tiers_given(s, d, j) : TIER_UNKNOWN;
		bool refused = is_refused(d, j, given), lower;
		/* it begins on several devices of its own, or on more than it has */
		bool begins = r > 1 && d->places[j].device < 0 && !comes_back(d, j) &&
			      !d->tiers->holds[j].waits && !stays(s, d, j);
		struct throughput_place place = { .nodes = 1, .replicas = r };
		double value;

		if (!begins && !(refused && goes_on_anywhere(d, j)))
			continue;
		if (given <= t->best[kind * t->n_best + r] || (refused_only && !refused))
			continue;
		if (!d->candidates[j].run && asks_to_wait(s, d, j)) {
			again = true;
			continue;
		}
		/* By what it makes of the devices that it got; not of those that it refuses. */
		given = tiers_given(s, d, j);
		if (is_refused(d, j, given)) {
			again |= tiers_set_value(d, j, kind, r, (double)NAN);
			continue;
		}
		place.tier = given;
		value = tiers_value(d, j, kind, r, given);
		lower = value > 0 && tiers_set_value(d, j, kind, r, value);
		again |= plan_ways_lower(d, j, kind, place) || lower;
	}
	return again;
}

/* --- moving --- */

/* A job is left alone for so long after its launch, as in sched/curve.h. */
#define SETTLE_RELAUNCHES 2
#define SETTLE_SLICES 0.1

/* What a relaunch takes, also where a turn only suspends the run. */
static double relaunch_s(const struct sched_job *job)
{
	return job->relaunch_s > 0 ? job->relaunch_s : job->restart_s;
}

/* True if a relaunch of the job's run in its plan is in question. */
static bool may_be_relaunched(const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];

	return c->relaunchable && d->sched_jobs[j].preemptible &&
	       !(c->plans && d->choices[j].reconfigure);
}

/* True if the job has a run on several devices that could have others. */
static bool may_move(const struct snapshot *s, const struct decision *d, int j)
{
	const struct sched_job *job = &d->sched_jobs[j];

	if (d->choices[j].replicas < 2)
		return false;
	if (comes_back(d, j))
		return goes_on_anywhere(d, j) || may_be_relaunched(d, j);
	return stays(s, d, j) && d->candidates[j].run->state == RUN_RUNNING &&
	       may_be_relaunched(d, j) &&
	       s->now_boot_s - job->launched_s >= fmax(SETTLE_RELAUNCHES * relaunch_s(job),
						       SETTLE_SLICES * s->config->slice_s);
}

static void move_one(const struct snapshot *s, struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	enum configuration_tier now = tiers_given(s, d, j);
	bool *set = xcalloc((size_t)s->devices.count, sizeof(*set));
	double *free_s = free_times(s, d, j), here = tiers_value_in_run(d, j, now);
	const struct sched_job *job = &d->sched_jobs[j];
	bool anywhere = goes_on_anywhere(d, j);

	/* Devices that are not free now are out of the question. So are, for a suspended run, those
	 * on which other suspended runs keep memory: check_device_memory() could take them from the
	 * job again, which would then have none. */
	for (int i = 0; i < s->devices.count; i++)
		if (!(free_s[i] <= s->now_boot_s) ||
		    (c->suspended && device_memory_kept(s, NULL, i, c->job) > 0))
			free_s[i] = HUGE_VAL;
	for (int t = 0; t < (int)now - TIER_FAST; t++) {
		double there = tiers_value_in_run(d, j, (enum configuration_tier)(TIER_FAST + t));

		if (tier_earliest_set(&d->tiers->links, free_s, d->choices[j].replicas, t, set) >
		    s->now_boot_s)
			continue;
		if (anywhere ? !(there > here)
			     : !tier_move_pays(here, there, job->remaining_samples,
					       s->config->slice_s, relaunch_s(job),
					       relaunch_s(job) + job->unsaved_s))
			continue;
		d->tiers->holds[j].moves = !anywhere;
		give(s, d, j, set);
		d->choices[j].reconfigure = false;
		tiers_explain_move(s, d, j, set, t, there / here);
		break;
	}
	free(free_s);
	free(set);
}

void tiers_settle(const struct snapshot *s, struct decision *d)
{
	struct pass_tiers *t = d->tiers;

	if (!t->several || (s->policy != &policy_goodput && !t->pinned &&
			    !s->policy->models_goodput))
		return;
	for (bool first = true; look_again(s, d, !first); first = false)
		decide_and_assign(s, d);
	if (s->policy != &policy_goodput)
		return;
	for (int j = 0; j < d->n_asked; j++)
		if (d->choices[j].replicas == 0 && d->choices[j].overdue_s <= s->now_boot_s)
			return;
	for (int j = 0; j < d->n_asked; j++)
		if (may_move(s, d, j))
			move_one(s, d, j);
}
