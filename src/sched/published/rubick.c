/* rubick.c - Rubick (X. Zhang et al., MLSys 2025) as its paper describes the policy, for
 * comparison.
 *
 * goodput[r] is that of the fastest plan on r devices. The slope of a job from r to r' devices is
 *
 *	|goodput(r') - goodput(r)| / |r' - r| / reference_goodput
 *
 * 1. The jobs take turns: first the jobs that have waited for WAITING_S and still wait, then the
 *    guaranteed jobs, then the others, by falling slope to their next number of devices. In its
 *    turn a job grows by steps while it can. It takes free devices. Where there are too few, the
 *    job of lowest slope gives up a step, if that slope is below the slope of the taker's step, or
 *    if the taker's guarantee is to be kept.
 * 2. The devices left go by steps to the job of highest slope.
 *
 * A running job is changed only where its restarts, with the restart of this change, have cost at
 * most RESTARTS of its age. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/policy.h"

#define WAITING_S (20 * 3600.)
#define RESTARTS 0.1

enum { OVERDUE, GUARANTEED, OTHER };	/* classes, in the order of their turns */

/* A job, and the devices that it gets. */
struct turn {
	const struct sched_job *job;
	int class, count, trial;	/* trial: while a step is looked at */
	bool touchable;
	double slope;			/* to its next number; -1: there is none */
};

struct state {
	struct turn *turns;		/* in the order of the jobs */
	int n, free;
};

static double goodput(const struct sched_job *job, int r)
{
	return r && job->offers[0].goodput[0] ? offers_at(job, 0, 0, r).goodput : 0;
}

/* The next larger number on which the job is faster; 0: none. */
static int next_up(const struct sched_job *job, int r)
{
	for (int more = r + 1; more <= job->max_replicas; more++)
		if (more >= job->min_replicas && goodput(job, more) > goodput(job, r))
			return more;
	return 0;
}

/* The next smaller number from which the job could grow to r; -1: none. */
static int next_down(const struct sched_job *job, int r)
{
	int less = 0, more;

	while ((more = next_up(job, less)) && more < r)
		less = more;
	return r > 0 && (less || (job->preemptible && !job->guaranteed)) ? less : -1;
}

static double slope(const struct sched_job *job, int from, int to)
{
	double gain = fabs(goodput(job, to) - goodput(job, from)) / abs(to - from);

	return gain / job->reference_goodput;
}

static struct turn turn_of(const struct sched_input *in, const struct sched_job *job)
{
	double age_s = in->now_s - job->submitted_s;
	double restart_s = isnan(job->restart_s) ? 0 : job->restart_s;
	int more = next_up(job, job->replicas);

	return (struct turn){
		.job = job, .count = job->replicas,
		.class = !job->replicas && age_s > WAITING_S ? OVERDUE
			: job->guaranteed ? GUARANTEED : OTHER,
		.touchable = !job->replicas || (job->preemptible &&
			     (job->restarts + 1) * restart_s <= RESTARTS * age_s),
		.slope = more ? slope(job, job->replicas, more) : -1,
	};
}

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = *(struct turn *const *)a, *y = *(struct turn *const *)b;

	if (x->class != y->class)
		return x->class - y->class;
	if (x->slope > y->slope || x->slope < y->slope)
		return x->slope > y->slope ? -1 : 1;
	return (x->job->id > y->job->id) - (x->job->id < y->job->id);
}

/* The job, other than the taker, that loses least by a step down; NULL: none may give one up. */
static struct turn *find_victim(const struct state *s, const struct turn *taker, double below,
				bool keeps_guarantee)
{
	struct turn *victim = NULL;
	double least = HUGE_VAL;

	for (struct turn *t = s->turns; t < s->turns + s->n; t++) {
		int less = t->trial ? next_down(t->job, t->trial) : -1;
		double loss;

		if (t == taker || less < 0 || !t->touchable || t->class == OVERDUE)
			continue;
		loss = slope(t->job, t->trial, less);
		if (loss < least && (loss < below || keeps_guarantee)) {
			least = loss;
			victim = t;
		}
	}
	return victim;
}

/* A step of the job, at the cost of others if need be. */
static bool grow(struct state *s, struct turn *taker)
{
	const struct sched_job *job = taker->job;
	int more = next_up(job, taker->count), missing = more - taker->count - s->free;
	bool keeps_guarantee = job->guaranteed && taker->count < job->min_replicas;
	bool first = !taker->count && taker->class == OVERDUE;

	if (!more)
		return false;
	for (int i = 0; i < s->n; i++)
		s->turns[i].trial = s->turns[i].count;
	while (missing > 0) {
		struct turn *victim = find_victim(
			s, taker, first ? HUGE_VAL : slope(job, taker->count, more),
			keeps_guarantee);
		int had = victim ? victim->trial : 0;

		if (!victim)
			return false;
		victim->trial = next_down(victim->job, had);
		missing -= had - victim->trial;
	}
	s->free = -missing;
	taker->trial = more;
	for (int i = 0; i < s->n; i++)
		s->turns[i].count = s->turns[i].trial;
	return true;
}

/* Gives the job of highest slope a step of the free devices. Returns false if none takes any. */
static bool give_leftovers(struct state *s)
{
	struct turn *best = NULL;
	double highest = 0;

	for (struct turn *t = s->turns; t < s->turns + s->n; t++) {
		int more = next_up(t->job, t->count);
		double gain = more ? slope(t->job, t->count, more) : 0;

		if (!more || more - t->count > s->free || !t->touchable || !(gain > highest))
			continue;
		highest = gain;
		best = t;
	}
	return best && grow(s, best);
}

static void decide(const struct sched_input *in, struct sched_choice *choices)
{
	size_t n = (size_t)in->n_jobs;
	struct state s = {
		.turns = xcalloc(n, sizeof(*s.turns)), .n = in->n_jobs, .free = sched_devices(in),
	};
	autofree struct turn **order = xcalloc(n, sizeof(struct turn *));

	for (size_t i = 0; i < n; i++) {
		s.turns[i] = turn_of(in, &in->jobs[i]);
		order[i] = &s.turns[i];
		s.free -= s.turns[i].count;
	}
	qsort(order, n, sizeof(struct turn *), by_turn);
	for (size_t i = 0; i < n; i++)
		while (order[i]->touchable && grow(&s, order[i]))
			;
	while (give_leftovers(&s))
		;
	for (size_t i = 0; i < n; i++)
		choices[i] = (struct sched_choice){
			.replicas = s.turns[i].count, .next_start_s = (double)NAN,
		};
	free(s.turns);
}

const struct policy policy_rubick = {
	.name = "rubick", .summary = "the steepest gain by plan and devices, as Rubick's paper",
	.models_goodput = true, .decide = decide,
};
