/* shares.c - see shares.h. */
#include "pollux/shares.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "curve.h"

static double weight_of(const struct share *p)
{
	return p->weight > 0 && isfinite(p->weight) ? p->weight : 1;
}

/* --- the division --- */

static bool is_without(const struct share *p)
{
	return p->devices >= p->held;
}

/* True if a gets the next device rather than b. */
static bool comes_first(const struct share *a, const struct share *b)
{
	double x = a->devices / weight_of(a), y = b->devices / weight_of(b);

	if (x < y || x > y)
		return x < y;
	if (is_without(a) != is_without(b))
		return is_without(a);
	if (is_without(a) && (a->without_since_s < b->without_since_s ||
			      a->without_since_s > b->without_since_s))
		return a->without_since_s < b->without_since_s;
	return strcmp(a->name, b->name) < 0;
}

void shares_divide(struct share *people, int n, int n_devices)
{
	for (int i = 0; i < n; i++)
		people[i].devices = 0;
	for (int left = n_devices; left > 0; left--) {
		struct share *next = NULL;

		for (struct share *p = people; p < people + n; p++)
			if (p->devices < p->wanted && (!next || comes_first(p, next)))
				next = p;
		if (!next)
			return;
		next->devices++;
	}
}

static int lacks(const struct share *p)
{
	return p->devices > p->held ? p->devices - p->held : 0;
}

int shares_allowed(const struct share *people, int n, int own, int n_free)
{
	const struct share *me = &people[own];
	int all = me->held + n_free, left = all;

	for (int i = 0; i < n; i++)
		if (i != own)
			left -= lacks(&people[i]);
	if (left < me->devices)
		left = me->devices;
	return left < all ? left : all;
}

/* --- what jobs need --- */

int shares_wanted(const struct sched_input *in, const struct sched_choice *choices)
{
	int n = 0;

	for (int j = 0; j < in->n_jobs; j++) {
		int least = in->jobs[j].min_replicas;

		if (choices[j].replicas > 0)
			n += choices[j].replicas;
		else if (least <= in->n_devices)
			n += least;
		if (n >= in->n_devices)
			return in->n_devices;
	}
	return n;
}

/* The slice of every policy is at least the input's, or as long as the restart asks for. */
static bool is_in_slice(const struct sched_input *in, const struct sched_job *job)
{
	double age_s = in->now_s - job->launched_s;
	double slice_s = isnan(job->restart_s) ? in->slice_s
		: fmax(in->slice_s, CURVE_SLICE_RESTARTS * job->restart_s);

	return age_s >= 0 && age_s < slice_s;
}

int shares_protected(const struct policy *policy, const struct sched_input *in)
{
	int n = 0;

	for (int j = 0; j < in->n_jobs; j++)
		if (in->jobs[j].replicas > 0 &&
		    (policy->never_preempts || !in->jobs[j].preemptible ||
		     is_in_slice(in, &in->jobs[j])))
			n += in->jobs[j].replicas;
	return n;
}
