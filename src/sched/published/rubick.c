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
#include <string.h>

#include "pollux/mem.h"
#include "pollux/policy.h"

#define WAITING_S (20 * 3600.)
#define RESTARTS 0.1

struct state {
	const struct sched_input *in;
	int *count, *trial;		/* of each job */
	int free;
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

static bool touchable(const struct sched_input *in, const struct sched_job *job)
{
	double age_s = in->now_s - job->submitted_s;
	double restart_s = isnan(job->restart_s) ? 0 : job->restart_s;

	return !job->replicas ||
	       (job->preemptible && (job->restarts + 1) * restart_s <= RESTARTS * age_s);
}

static bool overdue(const struct sched_input *in, const struct sched_job *job)
{
	return !job->replicas && in->now_s - job->submitted_s > WAITING_S;
}

/* The job, other than the taker, that loses least by a step down; -1: no job may give up a step. */
static int find_victim(const struct state *s, int taker, double below, bool keeps_guarantee)
{
	int victim = -1;
	double least = HUGE_VAL;

	for (int i = 0; i < s->in->n_jobs; i++) {
		const struct sched_job *job = &s->in->jobs[i];
		int less = s->trial[i] ? next_down(job, s->trial[i]) : -1;
		double loss;

		if (i == taker || less < 0 || !touchable(s->in, job) || overdue(s->in, job))
			continue;
		loss = slope(job, s->trial[i], less);
		if (loss < least && (loss < below || keeps_guarantee)) {
			least = loss;
			victim = i;
		}
	}
	return victim;
}

/* A step of the job, at the cost of others if need be. */
static bool grow_job(struct state *s, int index)
{
	const struct sched_job *job = &s->in->jobs[index];
	size_t bytes = (size_t)s->in->n_jobs * sizeof(*s->trial);
	int held = s->count[index], more = next_up(job, held), free_now = s->free;
	bool keeps_guarantee = job->guaranteed && held < job->min_replicas;
	bool first = !held && overdue(s->in, job);

	if (!more)
		return false;
	memcpy(s->trial, s->count, bytes);
	while (free_now < more - held) {
		int victim = find_victim(s, index, first ? HUGE_VAL : slope(job, held, more),
					 keeps_guarantee);
		int less;

		if (victim < 0)
			return false;
		less = next_down(&s->in->jobs[victim], s->trial[victim]);
		free_now += s->trial[victim] - less;
		s->trial[victim] = less;
	}
	s->trial[index] = more;
	s->free = free_now - (more - held);
	memcpy(s->count, s->trial, bytes);
	return true;
}

/* A job's place in the order of turns. */
struct turn {
	int index, class;
	double slope;		/* -1: there is no larger number */
	int64_t id;
};

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->class != y->class)
		return x->class - y->class;
	if (x->slope > y->slope || x->slope < y->slope)
		return x->slope > y->slope ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Gives the job of highest slope a step of the free devices. Returns false if none takes any. */
static bool give_leftovers(struct state *s)
{
	double highest = 0;
	int best = -1;

	for (int i = 0; i < s->in->n_jobs; i++) {
		const struct sched_job *job = &s->in->jobs[i];
		int more = next_up(job, s->count[i]);

		if (!more || more - s->count[i] > s->free || !touchable(s->in, job) ||
		    !(slope(job, s->count[i], more) > highest))
			continue;
		highest = slope(job, s->count[i], more);
		best = i;
	}
	return best >= 0 && grow_job(s, best);
}

static void decide(const struct sched_input *in, struct sched_choice *choices)
{
	struct state s = { .in = in, .free = sched_devices(in) };
	struct turn *turns = xcalloc((size_t)in->n_jobs, sizeof(*turns));

	s.count = xcalloc((size_t)in->n_jobs * 2, sizeof(*s.count));
	s.trial = s.count + in->n_jobs;
	for (int i = 0; i < in->n_jobs; i++) {
		s.count[i] = in->jobs[i].replicas;
		s.free -= s.count[i];
	}
	for (int i = 0; i < in->n_jobs; i++) {
		const struct sched_job *job = &in->jobs[i];
		int more = next_up(job, job->replicas);

		turns[i] = (struct turn){ i, overdue(in, job) ? 0 : job->guaranteed ? 1 : 2,
					  more ? slope(job, job->replicas, more) : -1, job->id };
	}
	qsort(turns, (size_t)in->n_jobs, sizeof(*turns), by_turn);
	for (int t = 0; t < in->n_jobs; t++) {
		int i = turns[t].index;

		while (touchable(in, &in->jobs[i]) && grow_job(&s, i))
			;
	}
	while (give_leftovers(&s))
		;
	for (int i = 0; i < in->n_jobs; i++)
		choices[i] = (struct sched_choice){
			.replicas = s.count[i], .next_start_s = (double)NAN,
		};
	free(s.count);
	free(turns);
}

const struct policy policy_rubick = {
	.name = "rubick", .summary = "the steepest gain by plan and devices, as Rubick's paper",
	.models_goodput = true, .decide = decide,
};
