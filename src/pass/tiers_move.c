/* tiers_move.c - which runs go on on devices that are joined better than theirs and are free: by a
 * relaunch that pays; or, where a suspended run can go on on any devices, there in place. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "tiers.h"

/* A job is left alone for so long after its launch, as in sched/curve.h. */
#define SETTLE_RELAUNCHES 2
#define SETTLE_SLICES 0.1

static bool any_is_overdue(const struct snapshot *s, const struct decision *d)
{
	for (int j = 0; j < d->n_asked; j++)
		if (d->choices[j].replicas == 0 && d->choices[j].overdue_s <= s->now_boot_s)
			return true;
	return false;
}

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

static bool has_settled(const struct snapshot *s, const struct decision *d, int j)
{
	const struct sched_job *job = &d->sched_jobs[j];

	return s->now_boot_s - job->launched_s >= fmax(SETTLE_RELAUNCHES * relaunch_s(job),
						       SETTLE_SLICES * s->config->slice_s);
}

bool tiers_go_on_anywhere(const struct decision *d, int j)
{
	return comes_back(d, j) && !run_is_bound(d->candidates[j].suspended);
}

/* True if the job has a run on several devices that could have others. */
static bool may_move(const struct snapshot *s, const struct decision *d, int j)
{
	if (d->choices[j].replicas < 2)
		return false;
	if (comes_back(d, j))
		return tiers_go_on_anywhere(d, j) || may_be_relaunched(d, j);
	return tiers_stays(s, d, j) && d->candidates[j].run->state == RUN_RUNNING &&
	       may_be_relaunched(d, j) && has_settled(s, d, j);
}

static bool pays(const struct snapshot *s, const struct decision *d, int j, double here,
		 double there)
{
	const struct sched_job *job = &d->sched_jobs[j];
	double cost_s = relaunch_s(job);

	if (tiers_go_on_anywhere(d, j))
		return there > here;
	return tier_move_pays(here, there, job->remaining_samples, s->config->slice_s, cost_s,
			      cost_s + job->unsaved_s);
}

/* Devices that are not free now are out of the question. So are, for a suspended run, those on
 * which other suspended runs keep memory: check_device_memory() could take them from the job again,
 * which would then have none. */
static double *free_now(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	double *free_s = tiers_free_times(s, d, j);

	for (int i = 0; i < s->devices.count; i++)
		if (!(free_s[i] <= s->now_boot_s) ||
		    (c->suspended && device_memory_kept(s, i, c->job) > 0))
			free_s[i] = HUGE_VAL;
	return free_s;
}

static void move_to(const struct snapshot *s, struct decision *d, int j, const bool *set,
		    int tier, double gain)
{
	d->tiers->holds[j].moves = !tiers_go_on_anywhere(d, j);
	tiers_give(s, d, j, set);
	d->choices[j].reconfigure = false;
	tiers_explain_move(s, d, j, set, tier, gain);
}

static void move_one(const struct snapshot *s, struct decision *d, int j)
{
	enum configuration_tier now = tiers_given(s, d, j);
	bool *set = xcalloc((size_t)s->devices.count, sizeof(*set));
	double *free_s = free_now(s, d, j), here = tiers_value_in_run(d, j, now);
	int r = d->choices[j].replicas;

	for (int t = 0; t < (int)now - TIER_FAST; t++) {
		double there = tiers_value_in_run(d, j, (enum configuration_tier)(TIER_FAST + t));

		if (tier_earliest_set(&d->tiers->links, free_s, r, t, set) > s->now_boot_s ||
		    !pays(s, d, j, here, there))
			continue;
		move_to(s, d, j, set, t, there / here);
		break;
	}
	free(free_s);
	free(set);
}

void tiers_move(const struct snapshot *s, struct decision *d)
{
	if (any_is_overdue(s, d))
		return;
	for (int j = 0; j < d->n_asked; j++)
		if (may_move(s, d, j))
			move_one(s, d, j);
}
