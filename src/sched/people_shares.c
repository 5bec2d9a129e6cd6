/* people_shares.c - see people_shares.h. */
#include "pollux/people_shares.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "curve.h"

static double weight_of(const struct person_share *p)
{
	return p->weight > 0 && isfinite(p->weight) ? p->weight : 1;
}

/* --- the division --- */

static bool is_longer_without(const struct person_share *a, const struct person_share *b)
{
	/* A person who holds the device that is given out next counts as longer without. */
	double x = a->without_since_s - (a->held > a->devices ? a->stay_s : 0);
	double y = b->without_since_s - (b->held > b->devices ? b->stay_s : 0);

	if (x < y || x > y)
		return x < y;
	if (a->gained_s < b->gained_s || a->gained_s > b->gained_s)
		return a->gained_s < b->gained_s;
	return strcmp(a->name, b->name) < 0;
}

/* Returns the devices for a weight of 1. In each round the devices left are divided among the
 * people who want more, until one of them has enough. */
static double level_of(const struct person_share *people, int n, int n_devices)
{
	double left = n_devices, level = 0;

	for (int round = 0; round < n && left > 0; round++) {
		double weights = 0, next = HUGE_VAL;

		for (const struct person_share *p = people; p < people + n; p++)
			if (p->wanted / weight_of(p) > level) {
				weights += weight_of(p);
				next = fmin(next, p->wanted / weight_of(p));
			}
		if (weights <= 0)
			break;
		next = fmin(next, level + left / weights);
		left -= (next - level) * weights;
		level = next;
	}
	return level;
}

static double exact_of(const struct person_share *p, double level)
{
	return fmax(fmin(level * weight_of(p), p->wanted), 0);
}

double people_exact_share(const struct person_share *people, int n, int own, int n_devices)
{
	return exact_of(&people[own], level_of(people, n, n_devices));
}

/* The whole devices of an exact share. A rounding error does not make it one less. */
static int whole(double exact)
{
	return (int)floor(exact + 1e-9);
}

void people_divide(struct person_share *people, int n, int n_devices)
{
	double level = level_of(people, n, n_devices);
	int left = n_devices;

	for (int i = 0; i < n; i++) {
		people[i].devices = whole(exact_of(&people[i], level));
		left -= people[i].devices;
	}
	for (; left > 0; left--) {
		struct person_share *next = NULL;

		for (struct person_share *p = people; p < people + n; p++) {
			double exact = exact_of(p, level);
			/* A part of a device is left over for the person. */
			bool has_part = p->devices == whole(exact) && exact - p->devices > 1e-9;

			if (has_part && (!next || is_longer_without(p, next)))
				next = p;
		}
		if (!next)
			return;
		next->devices++;
	}
}

double people_without_since_s(const struct person_share *p, double exact, int had,
			      double had_since_s, const struct sched_input *in)
{
	double most_s = PEOPLE_MOST_SLICES * in->slice_s, span_s = in->now_s - had_since_s;
	double left = exp(-fmax(span_s, 0) / (PEOPLE_MEMORY_SLICES * in->slice_s));
	double short_s = left * (had_since_s - p->without_since_s) + (exact - had) * span_s;

	if (exact >= p->wanted || isnan(short_s))
		return in->now_s;
	return in->now_s - fmax(fmin(short_s, most_s), -most_s);
}

double people_stay_s(const struct person_share *p, double exact, const struct sched_input *in)
{
	double age_s = in->now_s - p->gained_s;

	if (age_s >= PEOPLE_STAY_SLICES * in->slice_s)
		return 0;
	return PEOPLE_STAY * (1 - (exact - whole(exact))) * in->slice_s;
}

bool people_leave_soon(const struct person_share *p, double exact)
{
	return exact < p->wanted && p->held > whole(exact);
}

static int lacks(const struct person_share *p)
{
	return p->devices > p->held ? p->devices - p->held : 0;
}

int people_allowed(const struct person_share *people, int n, int own, int n_free)
{
	const struct person_share *me = &people[own];
	int beyond = n_free, mine = n_free;

	for (int i = 0; i < n; i++) {
		if (i == own)
			continue;
		beyond -= lacks(&people[i]);
		if (is_longer_without(&people[i], me))
			mine -= lacks(&people[i]);
	}
	if (beyond >= lacks(me))
		return me->held + beyond;
	if (lacks(me))
		return me->held + (mine < 0 ? 0 : mine < lacks(me) ? mine : lacks(me));
	return me->held + beyond > me->devices ? me->held + beyond : me->devices;
}

bool people_keep_turn(double gained_s, const struct sched_input *in)
{
	double age_s = in->now_s - gained_s;

	return age_s >= 0 && age_s < in->slice_s;
}

bool people_devices_are_of_use(const struct sched_input *in, const struct sched_choice *choices,
			       int n_devices)
{
	bool waits = false;

	for (int j = 0; j < in->n_jobs; j++) {
		if (choices[j].replicas > 0 && choices[j].replicas == in->jobs[j].replicas)
			continue;
		if (in->jobs[j].min_replicas <= n_devices)
			return true;
		waits = true;
	}
	return !waits;
}

/* --- what jobs need --- */

int people_wanted(const struct sched_input *in, const struct sched_choice *choices)
{
	int n = 0, n_devices = sched_devices(in);

	for (int j = 0; j < in->n_jobs; j++) {
		int least = in->jobs[j].min_replicas;

		if (choices[j].replicas > 0)
			n += choices[j].replicas;
		else if (least <= n_devices)
			n += least;
		if (n >= n_devices)
			return n_devices;
	}
	return n;
}

int people_protected(const struct policy *policy, const struct sched_input *in)
{
	int n = 0;

	for (int j = 0; j < in->n_jobs; j++) {
		const struct sched_job *job = &in->jobs[j];
		double age_s = in->now_s - job->launched_s;
		/* The slice of every policy is at least the slice of the input, and at least as
		 * long as the job's restart asks for. */
		double slice_s = isnan(job->restart_s) ? in->slice_s
			: fmax(in->slice_s, CURVE_SLICE_RESTARTS * job->restart_s);

		if (job->replicas > 0 && (policy->never_preempts || !job->preemptible ||
					  (age_s >= 0 && age_s < slice_s)))
			n += job->replicas;
	}
	return n;
}
