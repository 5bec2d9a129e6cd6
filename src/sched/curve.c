/* curve.c - makes curves of a policy's input. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "pollux/mem.h"
#include "pollux/pack_nodes.h"

#define DEFAULT_SLICE_S 600.0
#define RESTARTS_PER_SLICE 20	/* an unknown restart takes this part of a slice */

static bool is_positive(double x)
{
	return isfinite(x) && x > 0;
}

static double positive_or(double x, double otherwise)
{
	return is_positive(x) ? x : otherwise;
}

bool curve_placeable(const struct sched_input *in, int r)
{
	return place_is_regular(in->n_devices, in->devices_per_node, r);
}

static int least_replicas(const struct sched_job *job)
{
	return job->min_replicas > 1 ? job->min_replicas : 1;
}

static int most_replicas(const struct sched_job *job)
{
	return job->max_replicas > job->min_replicas ? job->max_replicas : least_replicas(job);
}

/* True if the goodput on r devices is known; goodput[] ends at the job's maximum. Values beyond
 * these bounds are never measured, and within them quotients are finite and not 0. */
static bool is_known(const struct sched_job *job, int r)
{
	return job->goodput && r >= least_replicas(job) && r <= job->max_replicas &&
	       job->goodput[r] > 1e-150 && job->goodput[r] < 1e150;
}

static void set_allowed(const struct curves *all, struct curve *c)
{
	for (int r = 0; r <= all->n_devices; r++)
		c->of[r] = r ? (double)NAN : 0;
	for (int r = least_replicas(c->job); r <= most_replicas(c->job) && r <= all->n_devices;
	     r++) {
		if (!curve_placeable(all->in, r) || (c->job->goodput && !is_known(c->job, r)))
			continue;
		if (!c->least) {
			c->least = r;
			c->unit = c->job->goodput ? c->job->goodput[r] / r : (double)NAN;
		}
		if (!c->job->goodput) {
			c->of[r] = r;
			return;
		}
		c->of[r] = c->job->goodput[r] / c->unit;
	}
}

/* A job may keep what it holds. If the goodput there is not modelled, it is taken for the present
 * one, or for that on the largest known number below. */
static void set_held(const struct curves *all, struct curve *c)
{
	double held = c->held;

	if (c->held <= 0 || c->held > all->n_devices)
		return;
	if (is_known(c->job, c->held) && is_positive(c->unit))
		c->of[c->held] = c->job->goodput[c->held] / c->unit;
	c->now = positive_or(c->job->goodput_now / c->unit, c->of[c->held]);
	for (int r = c->held - 1; r > 0 && is_positive(c->unit) && !is_positive(c->now); r--)
		c->now = c->of[r];
	c->now = positive_or(c->now, held);
	c->of[c->held] = positive_or(c->of[c->held], c->now);
}

double curve_slice_end_s(const struct curves *curves, const struct curve *c, bool starts_now)
{
	double launched_s = starts_now ? curves->in->now_s : c->job->launched_s;
	bool is_first = starts_now ? !c->held && !(c->job->attained_service_device_s > 0)
				   : !c->job->restarts;

	if (!is_first)
		return launched_s + c->slice_s;
	return launched_s + fmax(CURVE_FIRST_SLICE * curves->slice_s,
				 CURVE_SLICE_RESTARTS * c->restart_s);
}

static void set_slice(const struct curves *all, struct curve *c)
{
	double age_s = all->in->now_s - c->job->launched_s;

	c->slice_s = fmax(all->slice_s, CURVE_SLICE_RESTARTS * c->restart_s);
	/* A launch in the future means that a clock was set back: its slice is cut short. */
	c->in_slice = c->held && age_s >= 0 && all->in->now_s < curve_slice_end_s(all, c, false);
	c->settled = c->held && (!c->in_slice ||
				 age_s >= fmax(CURVE_SETTLE_RESTARTS * c->relaunch_s,
					       CURVE_SETTLE_SLICES * all->slice_s));
}

/* A turn that suspends the run loses nothing, and a job that waits has nothing to lose. */
static void set_costs(struct curve *c)
{
	bool suspends = is_positive(c->job->relaunch_s);
	double unsaved_s = c->held && is_positive(c->job->unsaved_s) ? c->job->unsaved_s : 0;

	c->relaunch_s = suspends ? fmax(c->job->relaunch_s, c->restart_s) : c->restart_s;
	c->relaunch_cost_s = c->relaunch_s + unsaved_s;
	c->turn_cost_s = suspends ? c->restart_s : c->relaunch_cost_s;
}

static struct curve curve_of(const struct curves *all, size_t index)
{
	const struct sched_job *job = &all->in->jobs[index];
	struct curve c = {
		.job = job, .of = &all->values[index * ((size_t)all->n_devices + 1)],
		.held = job->replicas > 0 ? job->replicas : 0, .unit = (double)NAN,
		.now = (double)NAN, .weight = positive_or(job->weight, 1),
		.restart_s = isfinite(job->restart_s) ? fmax(job->restart_s, 0)
						      : all->slice_s / RESTARTS_PER_SLICE,
	};

	set_costs(&c);
	set_slice(all, &c);
	set_allowed(all, &c);
	set_held(all, &c);
	c.remaining_device_s = positive_or(fmax(job->remaining_samples, 1) / c.unit, (double)NAN);
	if (isnan(job->remaining_samples))
		c.remaining_device_s = (double)NAN;
	c.ends_in_s = c.remaining_device_s / c.now;
	return c;
}

static int by_id(const void *a, const void *b)
{
	const struct sched_job *x = ((const struct curve *)a)->job;
	const struct sched_job *y = ((const struct curve *)b)->job;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x > y) - (x < y);
}

struct curves curves_of(const struct sched_input *in)
{
	int n_devices = in->n_devices > 0 ? in->n_devices : 0;
	size_t n_jobs = (size_t)in->n_jobs;
	struct curves all = {
		.in = in, .n_devices = n_devices,
		.slice_s = positive_or(in->slice_s, DEFAULT_SLICE_S),
		.items = xcalloc(n_jobs, sizeof(*all.items)),
		.values = xcalloc(n_jobs * ((size_t)n_devices + 1), sizeof(*all.values)),
	};

	for (size_t i = 0; i < n_jobs; i++)
		all.items[i] = curve_of(&all, i);
	qsort(all.items, n_jobs, sizeof(*all.items), by_id);
	return all;
}

void curves_release(struct curves *curves)
{
	free(curves->items);
	free(curves->values);
}

int curve_next(const struct curves *curves, const struct curve *c, int r)
{
	while (++r <= curves->n_devices)
		if (!isnan(c->of[r]))
			return r;
	return 0;
}
