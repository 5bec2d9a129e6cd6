/* curve.c - makes curves of a policy's input. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "pollux/assign.h"
#include "pollux/mem.h"

#define DEFAULT_SLICE_S 600.0
#define JUST_BEHIND 1e-9
#define RESTARTS_PER_SLICE 20	/* an unknown restart takes this part of a slice */

static bool is_positive(double x)
{
	return isfinite(x) && x > 0;
}

static double positive_or(double x, double otherwise)
{
	return is_positive(x) ? x : otherwise;
}

static bool is_placeable(const struct sched_input *in, int kind, int r)
{
	const struct sched_kind *k = &in->kinds[kind];

	return place_is_regular(k->n_devices, k->devices_per_node, r);
}

bool curve_placeable(const struct sched_input *in, int r)
{
	for (int k = 0; k < in->n_kinds; k++)
		if (is_placeable(in, k, r))
			return true;
	return false;
}

static int least_replicas(const struct sched_job *job)
{
	return job->min_replicas > 1 ? job->min_replicas : 1;
}

static int most_replicas(const struct sched_job *job)
{
	return job->max_replicas > job->min_replicas ? job->max_replicas : least_replicas(job);
}

/* True if the job may have r devices and the goodput on them is known. Measured values never exceed
 * these bounds; quotients of values within them are finite and not 0. */
static bool is_known(const struct sched_job *job, int kind, int r)
{
	double goodput = offers_at(job, kind, 0, r).goodput;

	return r >= least_replicas(job) && r <= job->max_replicas && goodput > 1e-150 &&
	       goodput < 1e150;
}

/* Finds the least number on a kind, and sets the unit if the kind is the slowest so far. To a job
 * of which nothing is known, all kinds are equal. */
static void set_least(const struct curves *all, struct curve *c, int kind, bool known)
{
	const struct sched_job *job = c->job;
	const struct sched_offers *offers = &job->offers[kind];
	int r = least_replicas(job);
	double unit;

	if (offers->barred || (known && !offers->goodput[0]))
		return;
	while (r <= most_replicas(job) && r <= all->kinds[kind].n &&
	       (!is_placeable(all->in, kind, r) || (known && !is_known(job, kind, r))))
		r++;
	if (r > most_replicas(job) || r > all->kinds[kind].n)
		return;
	c->least_on[kind] = r;
	unit = known ? offers_at(job, kind, 0, r).goodput / r : (double)NAN;
	if (c->least && !(unit < c->unit))
		return;
	c->least = r;
	c->least_at = all->kinds[kind].first + r;
	c->unit = unit;
}

static void set_allowed(const struct curves *all, struct curve *c)
{
	bool known = false;

	for (int k = 0; k < all->n_kinds; k++)
		known |= c->job->offers[k].goodput[0] != NULL;
	for (int at = 0; at <= all->n_devices; at++)
		c->of[at] = at ? (double)NAN : 0;
	for (int k = 0; k < all->n_kinds; k++)
		set_least(all, c, k, known);
	for (int k = 0; k < all->n_kinds; k++) {
		int first = all->kinds[k].first, least = c->least_on[k];

		if (least && !known)
			c->of[first + least] = least;
		for (int r = least; known && least && r <= all->kinds[k].n; r++)
			if (is_known(c->job, k, r) && is_placeable(all->in, k, r))
				c->of[first + r] = offers_at(c->job, k, 0, r).goodput / c->unit;
	}
}

/* Sets the goodput on the devices that the job holds, which it may always keep. If the model has
 * none, the present goodput is used, or that on the largest known number below. */
static void set_held(const struct curves *all, struct curve *c)
{
	double held = offers_at(c->job, c->held_kind, 0, c->held_devices).goodput;
	int first = all->kinds[c->held_kind].first;

	if (c->held <= 0 || c->held > all->n_devices)
		return;
	if (is_known(c->job, c->held_kind, c->held_devices) && is_positive(c->unit))
		c->of[c->held] = held / c->unit;
	c->now = positive_or(c->job->goodput_now / c->unit, c->of[c->held]);
	for (int at = c->held - 1; at > first && is_positive(c->unit) && !is_positive(c->now); at--)
		c->now = c->of[at];
	c->now = positive_or(c->now, c->held_devices);
	c->of[c->held] = positive_or(c->of[c->held], c->now);
}

bool curve_keeps_guarantee(const struct curve *c)
{
	if (!c->job->guaranteed)
		return true;
	return c->job->offers[c->held_kind].goodput[0]
		? is_known(c->job, c->held_kind, c->held_devices)
		: c->held_devices >= least_replicas(c->job);
}

double curve_slice_end_s(const struct curves *curves, const struct curve *c, bool starts_now)
{
	bool is_first = starts_now ? !c->held && !(c->job->attained_service_device_s > 0)
				   : !c->job->restarts;

	return curve_launched_s(curves, c, starts_now) +
	       (is_first ? fmax(curves->slice_s + c->restart_s, c->slice_s) : c->slice_s);
}

double curve_settle_s(const struct curves *curves, const struct curve *c)
{
	return fmax(CURVE_SETTLE_RESTARTS * c->relaunch_s, CURVE_SETTLE_SLICES * curves->slice_s);
}

double curve_limit_device_s(const struct curve *c)
{
	if (!(c->job->time_left_s > 0))
		return HUGE_VAL;
	return c->job->time_left_s * (c->held ? c->held_devices : c->least);
}

/* Sets what is known to remain of the job. */
static void set_remaining(struct curve *c)
{
	const struct sched_job *job = c->job;

	c->remaining_device_s = (double)NAN;
	if (!isnan(job->remaining_samples))
		c->remaining_device_s = positive_or(fmax(job->remaining_samples, 1) / c->unit,
						    (double)NAN);
	c->spread = job->remaining_spread > 0 ? job->remaining_spread : 0;
	if (isnan(c->remaining_device_s)) {
		c->remaining_device_s = positive_or(job->remaining_device_s, (double)NAN);
		c->spread = HUGE_VAL;
	}
	if (!isnan(c->remaining_device_s) && c->least)
		c->remaining_device_s = fmin(c->remaining_device_s, curve_limit_device_s(c));
	c->ends_in_s = c->remaining_device_s / c->now;
}

static struct curve curve_of(const struct curves *all, size_t index)
{
	const struct sched_job *job = &all->in->jobs[index];
	double age_s = all->in->now_s - job->launched_s;
	bool suspends = is_positive(job->relaunch_s);
	struct curve c = {
		.job = job, .of = &all->values[index * ((size_t)all->n_devices + 1)],
		.unit = (double)NAN, .now = (double)NAN, .weight = positive_or(job->weight, 1),
		.restart_s = isfinite(job->restart_s) ? fmax(job->restart_s, 0)
						      : all->slice_s / RESTARTS_PER_SLICE,
	};

	if (job->replicas > 0) {
		const struct curve_kind *k;

		c.held_devices = job->replicas;
		c.held_kind = job->kind > 0 && job->kind < all->n_kinds ? job->kind : 0;
		k = &all->kinds[c.held_kind];
		c.held = (job->replicas > k->n ? all->n_devices : k->first) + job->replicas;
	}
	/* A turn that suspends the run loses nothing, and a job that waits has nothing to lose. */
	c.relaunch_s = suspends ? fmax(job->relaunch_s, c.restart_s) : c.restart_s;
	c.relaunch_cost_s = c.relaunch_s;
	if (c.held && is_positive(job->unsaved_s))
		c.relaunch_cost_s += job->unsaved_s;
	c.turn_cost_s = suspends ? c.restart_s : c.relaunch_cost_s;
	c.slice_s = fmax(all->slice_s, CURVE_SLICE_RESTARTS * c.restart_s);
	/* A launch in the future means that a clock was set back: its slice is cut short. */
	c.in_slice = c.held && age_s >= 0 && all->in->now_s < curve_slice_end_s(all, &c, false);
	c.settled = c.held && (!c.in_slice || age_s >= curve_settle_s(all, &c));
	set_allowed(all, &c);
	set_held(all, &c);
	set_remaining(&c);
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

/* True if what remains of both is known, by siblings, or of neither. */
static bool are_ordered(const struct curve *x, const struct curve *y)
{
	return x->job->workload == y->job->workload &&
	       isnan(x->remaining_device_s) == isnan(y->remaining_device_s);
}

/* Jobs by workload, those of which something is known first, then those of most service. */
static int by_service(const void *a, const void *b)
{
	const struct curve *x = *(struct curve *const *)a, *y = *(struct curve *const *)b;
	double more = curve_service_device_s(y) - curve_service_device_s(x);

	if (x->job->workload != y->job->workload)
		return x->job->workload < y->job->workload ? -1 : 1;
	if (!are_ordered(x, y))
		return isnan(y->remaining_device_s) ? -1 : 1;
	if (more < 0 || more > 0)
		return more < 0 ? -1 : 1;
	return (x > y) - (x < y);
}

/* Sets behind_device_s of a job by that before it in the order by service, of the same workload. */
static void put_behind(struct curve *c, const struct curve *before)
{
	bool is_pilot = !(before->behind_device_s > 0);

	if (!isnan(c->remaining_device_s))
		c->behind_device_s = (1 + JUST_BEHIND) *
				     fmax(before->remaining_device_s, before->behind_device_s);
	else if (is_pilot)
		c->behind_device_s = curve_service_device_s(before) +
				     before->least * before->slice_s;
	else
		c->behind_device_s = before->behind_device_s;
}

/* Of the jobs of a workload that told no length, that of most service goes first. Where nothing
 * tells their length it is the pilot, and the others count as if they had had a slice more. */
static void set_order_of_siblings(struct curves *all)
{
	autofree struct curve **of = xcalloc((size_t)all->in->n_jobs, sizeof(struct curve *));
	int n = 0;

	for (int i = 0; i < all->in->n_jobs; i++)
		if (all->items[i].job->workload && all->items[i].least && all->items[i].spread > 0)
			of[n++] = &all->items[i];
	qsort(of, (size_t)n, sizeof(struct curve *), by_service);
	for (int i = 1; i < n; i++)
		if (are_ordered(of[i], of[i - 1]))
			put_behind(of[i], of[i - 1]);
}

struct curves curves_of(const struct sched_input *in)
{
	size_t n_jobs = (size_t)in->n_jobs;
	struct curves all = {
		.in = in, .n_kinds = in->n_kinds,
		.slice_s = positive_or(in->slice_s, DEFAULT_SLICE_S),
		.items = xcalloc(n_jobs, sizeof(*all.items)),
	};

	for (int k = 0; k < in->n_kinds; k++) {
		int n = in->kinds[k].n_devices > 0 ? in->kinds[k].n_devices : 0;

		all.kinds[k] = (struct curve_kind){
			all.n_devices, n, in->kinds[k].name ? in->kinds[k].name : "?",
		};
		all.n_devices += n;
	}
	all.values = xcalloc(n_jobs * ((size_t)all.n_devices + 1), sizeof(*all.values));
	for (size_t i = 0; i < n_jobs; i++)
		all.items[i] = curve_of(&all, i);
	qsort(all.items, n_jobs, sizeof(*all.items), by_id);
	set_order_of_siblings(&all);
	return all;
}

void curves_release(struct curves *curves)
{
	free(curves->items);
	free(curves->values);
}

int curve_next(const struct curves *curves, const struct curve *c, int r)
{
	const struct curve_kind *k = &curves->kinds[curve_kind_at(curves, r ? r : c->least_at)];

	while (++r <= k->first + k->n)
		if (r > k->first && !isnan(c->of[r]))
			return r;
	return 0;
}

int curve_least_within(const struct curves *curves, const struct curve *c, const int *left)
{
	int best = 0;

	for (int k = 0; k < curves->n_kinds; k++) {
		int at = curves->kinds[k].first + c->least_on[k];

		if (c->least_on[k] && c->least_on[k] <= left[k] &&
		    (!best || c->of[at] > c->of[best]))
			best = at;
	}
	return best;
}

int curve_nearest_kind(const struct curves *curves, const struct curve *c, const int *left)
{
	int nearest = curve_kind_at(curves, c->least_at);

	for (int k = 0; k < curves->n_kinds; k++)
		if (c->least_on[k] &&
		    c->least_on[k] - left[k] < c->least_on[nearest] - left[nearest])
			nearest = k;
	return nearest;
}
