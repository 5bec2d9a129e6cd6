/* worth.c - the value of devices to a job. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "worth.h"

#define HINT_SLICES 12
#define HORIZON_SLICES 0.5
#define HORIZON_RESTARTS 2
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

struct lengths {
	double *root;		/* of each job's, as it is compared */
	bool *known;
};

static struct lengths lengths_of(const struct curves *curves)
{
	size_t n = (size_t)curves->in->n_jobs;
	struct lengths l = { xcalloc(n, sizeof(*l.root)), xcalloc(n, sizeof(*l.known)) };

	for (size_t i = 0; i < n; i++) {
		l.root[i] = cbrt(worth_length_device_s(curves, &curves->items[i]));
		l.known[i] = !isnan(curves->items[i].remaining_device_s);
	}
	return l;
}

static void add_pair(struct worths *w, const struct lengths *l, int j, int k)
{
	double chance;		/* that k is longer */

	if (l->known[j] && l->known[k]) {
		w->rank[j] += l->root[k] >= l->root[j];
		w->rank[k] += l->root[j] >= l->root[k];
		return;
	}
	chance = l->root[k] / (l->root[j] + l->root[k]);
	w->rank[j] += chance;
	w->rank[k] += 1 - chance;
	if (!l->known[j] && !l->known[k]) {
		w->first_rank[j] += 0.5 - chance;
		w->first_rank[k] += chance - 0.5;
	}
}

struct worths worths_of(const struct curves *curves)
{
	int n = curves->in->n_jobs;
	struct worths w = {
		.curves = curves, .rank = xcalloc((size_t)n, sizeof(*w.rank)),
		.first_rank = xcalloc((size_t)n, sizeof(*w.first_rank)),
	};
	struct lengths l = lengths_of(curves);

	for (int j = 0; j < n; j++) {
		w.rank[j] += l.known[j] ? 1 : 0.5;
		for (int k = j + 1; k < n && curves->items[j].least; k++)
			if (curves->items[k].least)
				add_pair(&w, &l, j, k);
	}
	for (int j = 0; j < n; j++)
		w.first_rank[j] += w.rank[j];
	free(l.root);
	free(l.known);
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
	return fmax(slices * curves->slice_s, HORIZON_RESTARTS * c->restart_s);
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
