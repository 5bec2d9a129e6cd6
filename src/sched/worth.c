/* worth.c - the value of devices to a job. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "worth.h"

#define HINT_SLICES 12
#define HORIZON_SLICES 0.5
#define HORIZON_RESTARTS 10
#define RELAUNCH_GAIN 1.1
/* On the devices it holds. */
#define RECONFIGURE_SLICES 1
#define RECONFIGURE_GAIN 1.05

/* --- lengths and ranks --- */

double worth_length_device_s(const struct curves *curves, const struct curve *c)
{
	if (!isnan(c->remaining_device_s))
		return c->remaining_device_s;
	return fmax(c->job->attained_service_device_s, 0) +
	       (isnan(c->unit) ? 1 : HINT_SLICES) * curves->slice_s;
}

/* Jobs of one length, all known or none. */
struct group {
	bool known;
	double root;		/* of the length, as it is compared */
	int n;
	double rank, first_rank;
};

static int by_length(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->known != y->known)
		return x->known ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

static struct group group_of(const struct curves *curves, const struct curve *c)
{
	return (struct group){
		.known = !isnan(c->remaining_device_s), .n = 1,
		/* Finite whatever the input. */
		.root = cbrt(fmin(worth_length_device_s(curves, c), 1e300)),
	};
}

/* In the order of by_length; returns how many. Most jobs that wait are of one length. */
static int make_groups(const struct curves *curves, struct group *groups)
{
	int n_jobs = 0, n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++)
		if (curves->items[i].least)
			groups[n_jobs++] = group_of(curves, &curves->items[i]);
	qsort(groups, (size_t)n_jobs, sizeof(*groups), by_length);
	for (int i = 0; i < n_jobs; i++)
		if (n && by_length(&groups[n - 1], &groups[i]) == 0)
			groups[n - 1].n++;
		else
			groups[n++] = groups[i];
	return n;
}

/* Jobs of group g that are as long as one of root or longer, by chance. */
static double longer(const struct group *g, double root)
{
	return g->n * g->root / (g->root + root);
}

static void set_ranks(struct group *groups, int n)
{
	int n_known = 0, as_long = 0;

	while (n_known < n && groups[n_known].known)
		n_known++;
	for (int i = n_known - 1; i >= 0; i--) {
		as_long += groups[i].n;
		groups[i].rank = as_long;
		for (int k = n_known; k < n; k++)
			groups[i].rank += longer(&groups[k], groups[i].root);
		groups[i].first_rank = groups[i].rank;
	}
	for (int i = n_known; i < n; i++) {
		/* Itself for certain, not as likely as not. */
		groups[i].rank = groups[i].first_rank = 0.5;
		for (int k = 0; k < n; k++) {
			groups[i].rank += longer(&groups[k], groups[i].root);
			groups[i].first_rank += k < n_known ? longer(&groups[k], groups[i].root)
							    : 0.5 * groups[k].n;
		}
	}
}

struct worths worths_of(const struct curves *curves)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	struct worths w = {
		.curves = curves, .rank = xcalloc(n_jobs, sizeof(*w.rank)),
		.first_rank = xcalloc(n_jobs, sizeof(*w.first_rank)),
	};
	struct group *groups = xcalloc(n_jobs, sizeof(*groups));
	int n = make_groups(curves, groups);

	set_ranks(groups, n);
	for (size_t i = 0; i < n_jobs; i++) {
		struct group own = group_of(curves, &curves->items[i]);
		const struct group *g = bsearch(&own, groups, (size_t)n, sizeof(own), by_length);

		w.rank[i] = g ? g->rank : 0;
		w.first_rank[i] = g ? g->first_rank : 0;
	}
	free(groups);
	return w;
}

void worths_release(struct worths *w)
{
	free(w->rank);
	free(w->first_rank);
}

/* --- rates --- */

static double horizon_s(const struct curves *curves, const struct curve *c, double slices)
{
	double horizon = fmax(slices * curves->slice_s, HORIZON_RESTARTS * c->restart_s);

	return fmax(horizon, DBL_MIN);	/* divided by, whatever the input */
}

/* The mean rate after a restart. */
static double launched_rate(const struct curve *c, double speedup, double horizon)
{
	double work = c->remaining_device_s;

	if (work / speedup + c->restart_s <= horizon)
		return work / (work / speedup + c->restart_s);
	return speedup * (horizon - c->restart_s) / horizon;
}

static double reconfigured_rate(const struct curves *curves, const struct curve *c)
{
	return launched_rate(c, c->of[c->held], horizon_s(curves, c, RECONFIGURE_SLICES));
}

bool worth_reconfiguring(const struct curves *curves, const struct curve *c)
{
	double horizon = horizon_s(curves, c, RECONFIGURE_SLICES);

	return c->held && c->held <= curves->n_devices && c->job->preemptible && c->settled &&
	       c->of[c->held] * (horizon - c->restart_s) > RECONFIGURE_GAIN * c->now * horizon &&
	       reconfigured_rate(curves, c) > c->now;
}

/* --- worth --- */

static double worth(const struct worths *w, const struct curve *c, double rate)
{
	double first = sqrt(fmin(rate, c->least));
	ptrdiff_t i = c - w->curves->items;

	return c->weight * (w->first_rank[i] * first + w->rank[i] * (sqrt(rate) - first));
}

static double kept_rate(const struct worths *w, const struct curve *c)
{
	return worth_reconfiguring(w->curves, c) ? reconfigured_rate(w->curves, c) : c->now;
}

static double kept(const struct worths *w, const struct curve *c)
{
	return worth(w, c, kept_rate(w, c));
}

double worth_launched(const struct worths *w, const struct curve *c, int r)
{
	return worth(w, c, launched_rate(c, c->of[r], horizon_s(w->curves, c, HORIZON_SLICES)));
}

/* What a job that runs must gain by a change, so that a model that moves a little moves nobody: its worth
 * at the rate it has, less that at a rate lower by RELAUNCH_GAIN. */
static double inertia(const struct worths *w, const struct curve *c)
{
	return kept(w, c) - worth(w, c, kept_rate(w, c) / RELAUNCH_GAIN);
}

double worth_of(const struct worths *w, const struct curve *c, int r)
{
	if (!c->held || c->held > w->curves->n_devices)
		return r ? worth_launched(w, c, r) : 0;
	if (r == c->held)
		return kept(w, c);
	if (r)
		return worth_launched(w, c, r) - inertia(w, c);
	return fmin(worth_launched(w, c, c->held) - kept(w, c), 0) - inertia(w, c);
}
