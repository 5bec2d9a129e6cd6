/* worth.c - the value of devices to a job. */
#include <math.h>

#include "worth.h"

#define HINT_SLICES 12
#define HORIZON_RESTARTS 2
#define RELAUNCH_GAIN 1.05

static double horizon_s(const struct curves *curves, const struct curve *c)
{
	return fmax(curves->slice_s, HORIZON_RESTARTS * c->restart_s);
}

double worth_length_device_s(const struct curves *curves, const struct curve *c)
{
	if (!isnan(c->remaining_device_s))
		return c->remaining_device_s;
	return fmax(c->job->attained_service_device_s, 0) +
	       (isnan(c->unit) ? 1 : HINT_SLICES) * curves->slice_s;
}

/* The mean rate after a restart. */
static double launched_rate(const struct curves *curves, const struct curve *c, double speedup)
{
	double horizon = horizon_s(curves, c), work = c->remaining_device_s;

	if (work / speedup + c->restart_s <= horizon)
		return work / (work / speedup + c->restart_s);
	return speedup * (horizon - c->restart_s) / horizon;
}

static double worth(const struct curves *curves, const struct curve *c, double rate)
{
	return c->weight * sqrt(rate / worth_length_device_s(curves, c));
}

bool worth_reconfiguring(const struct curves *curves, const struct curve *c)
{
	double horizon = horizon_s(curves, c);

	return c->held && c->held <= curves->n_devices && c->job->preemptible && c->settled &&
	       c->of[c->held] * (horizon - c->restart_s) > RELAUNCH_GAIN * c->now * horizon &&
	       launched_rate(curves, c, c->of[c->held]) > c->now;
}

static double kept(const struct curves *curves, const struct curve *c)
{
	double rate = c->now;

	if (worth_reconfiguring(curves, c))
		rate = fmax(rate, launched_rate(curves, c, c->of[c->held]));
	return worth(curves, c, rate);
}

double worth_launched(const struct curves *curves, const struct curve *c, int r)
{
	return worth(curves, c, launched_rate(curves, c, c->of[r]));
}

/* What a job that runs must gain by a change, so that a model that moves a little moves nobody: its worth
 * at the rate it has, less that at a rate lower by RELAUNCH_GAIN. */
static double inertia(const struct curves *curves, const struct curve *c)
{
	double value = kept(curves, c);

	return value - value / sqrt(RELAUNCH_GAIN);
}

double worth_of(const struct curves *curves, const struct curve *c, int r)
{
	if (!c->held || c->held > curves->n_devices)
		return r ? worth_launched(curves, c, r) : 0;
	if (r == c->held)
		return kept(curves, c);
	if (r)
		return worth_launched(curves, c, r) - inertia(curves, c);
	return fmin(worth_launched(curves, c, c->held) - kept(curves, c), 0) - inertia(curves, c);
}
