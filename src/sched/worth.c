/* worth.c - the value of devices to a job. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/text.h"
#include "worth.h"

#define HINT_SLICES 12
#define ROOT_BIN 0.01
#define HORIZON_SLICES 0.5
#define HORIZON_RESTARTS 10
#define RELAUNCH_GAIN 1.1
/* The power of rates beyond the least devices: see worth.h. */
#define EXPONENT_UNKNOWN 0.5
#define EXPONENT_ELASTIC 0.3
/* The horizon of a relaunch on the devices that the job holds, in slices. */
#define RECONFIGURE_SLICES 1
#define RECONFIGURE_GAIN 1.05

/* --- ranks --- */

double worth_length_device_s(const struct curves *curves, const struct curve *c)
{
	double assumed_device_s;

	if (!isnan(c->remaining_device_s))
		return c->remaining_device_s;
	/* A job that nobody else measures has a first slice for that alone. */
	assumed_device_s = curve_service_device_s(c) + curves->slice_s *
			   (isnan(c->unit) && !c->job->measured_elsewhere ? 1 : HINT_SLICES);
	return fmin(assumed_device_s, curve_limit_device_s(c));
}

/* Lengths are compared by their square roots, rounded to bins of 1 %: thousands of jobs fall into
 * some hundred bins. */
struct bin {
	int at;
	double root;
	int n_known, n_unknown;
	double longer_known, longer_unknown;	/* expected number of jobs at least as long */
};

/* Summary of all jobs' effective lengths, from which the rank of each job is computed. */
struct crowd {
	double *length;		/* by index of the curve */
	double *all, *known;	/* ascending: of all jobs, and where what remains is known */
	int n, n_known;
	struct bin *bins;
	int n_bins;
};

static int compare_bins(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static struct bin bin_of(double length, bool known)
{
	/* This is finite for any input, also for a job that has no length. */
	int at = (int)round(log(fmin(fmax(length, 1e-300), 1e300)) / 2 / ROOT_BIN);

	return (struct bin){
		.at = at, .root = exp(ROOT_BIN * at), .n_known = known, .n_unknown = !known
	};
}

static struct crowd crowd_of(const struct curves *curves, const struct lengths *lengths)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	int n = 0;
	struct crowd crowd = {
		.length = xcalloc(n_jobs, sizeof(double)), .all = xcalloc(n_jobs, sizeof(double)),
		.known = xcalloc(n_jobs, sizeof(double)),
		.bins = xcalloc(n_jobs, sizeof(*crowd.bins)),
	};

	for (size_t i = 0; i < n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		bool known = !isnan(c->remaining_device_s);
		double length;

		if (!c->least)
			continue;
		length = lengths_effective_device_s(lengths, c, 0);
		crowd.bins[crowd.n] = bin_of(length, known);
		crowd.length[i] = crowd.all[crowd.n++] = length;
		if (known)
			crowd.known[crowd.n_known++] = length;
	}
	qsort(crowd.all, (size_t)crowd.n, sizeof(double), number_compare);
	qsort(crowd.known, (size_t)crowd.n_known, sizeof(double), number_compare);
	/* Sorts the bins and joins equal ones. */
	qsort(crowd.bins, (size_t)crowd.n, sizeof(*crowd.bins), compare_bins);
	for (int i = 0; i < crowd.n; i++) {
		if (!n || crowd.bins[n - 1].at != crowd.bins[i].at) {
			crowd.bins[n++] = crowd.bins[i];
			continue;
		}
		crowd.bins[n - 1].n_known += crowd.bins[i].n_known;
		crowd.bins[n - 1].n_unknown += crowd.bins[i].n_unknown;
	}
	crowd.n_bins = n;
	for (struct bin *one = crowd.bins; one < crowd.bins + n; one++)
		for (const struct bin *other = crowd.bins; other < crowd.bins + n; other++) {
			double p = other->root / (other->root + one->root);

			one->longer_known += p * other->n_known;
			one->longer_unknown += p * other->n_unknown;
		}
	return crowd;
}

/* The number of lengths below this one or, with equal ones counted, up to it. */
static int n_below(const double *lengths, int n, double length, bool with_equals)
{
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (lengths[middle] < length || (with_equals && lengths[middle] <= length))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of longer lengths plus half the number of equal ones. */
static double n_longer(const double *lengths, int n, double length)
{
	return n - (n_below(lengths, n, length, false) + n_below(lengths, n, length, true)) / 2.0;
}

/* The power of the devices with which the job's rate grows on its slowest kind, between its least
 * number and a fair share of the machine; 1 where the fair share is no more than the least. */
static double elasticity(const struct curves *curves, const struct curve *c, int n_jobs)
{
	const struct curve_kind *k = &curves->kinds[curve_kind_at(curves, c->least_at)];
	int share = (curves->n_devices + n_jobs - 1) / n_jobs, most = 0;
	const double *of = &c->of[k->first];

	for (int r = c->least + 1; r <= share && r <= k->n; r++)
		if (!isnan(of[r]))
			most = r;
	if (!most)
		return 1;
	return fmax(0, fmin(log(of[most] / c->least) / log((double)most / c->least), 1));
}

/* Each sum counts the job itself as one half; the other half is added here. */
static void set_rank(const struct worths *w, const struct crowd *crowd, int index)
{
	const struct curve *c = &w->curves->items[index];
	bool known = !isnan(c->remaining_device_s);
	double length = crowd->length[index], exact, power;
	struct bin own = bin_of(length, known);
	const struct bin *bin;

	if (!c->least)
		return;
	bin = bsearch(&own, crowd->bins, (size_t)crowd->n_bins, sizeof(own), compare_bins);
	assert(bin);
	power = known ? elasticity(w->curves, c, crowd->n) : 0;
	exact = known ? n_longer(crowd->known, crowd->n_known, length) : 0;
	w->exponent[index] = known ? 1 - EXPONENT_ELASTIC * power : EXPONENT_UNKNOWN;
	w->first_rank[index] = 0.5 + n_longer(crowd->all, crowd->n, length);
	w->kept_rank[index] = w->first_rank[index];
	if (known)	/* it is itself among those that are longer */
		w->kept_rank[index] = n_longer(crowd->all, crowd->n, lengths_kept_device_s(c));
	w->rank[index] = 0.5 + power * exact + (1 - power) * bin->longer_known +
			 bin->longer_unknown;
}

struct worths worths_of(const struct curves *curves)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	struct worths w = {
		.curves = curves, .rank = xcalloc(n_jobs, sizeof(*w.rank)),
		.first_rank = xcalloc(n_jobs, sizeof(*w.first_rank)),
		.kept_rank = xcalloc(n_jobs, sizeof(*w.kept_rank)),
		.exponent = xcalloc(n_jobs, sizeof(*w.exponent)),
		.lengths = lengths_of(curves),
	};
	struct crowd crowd = crowd_of(curves, &w.lengths);

	for (int i = 0; i < curves->in->n_jobs; i++)
		set_rank(&w, &crowd, i);
	w.all = crowd.all;
	w.n = crowd.n;
	free(crowd.length);
	free(crowd.known);
	free(crowd.bins);
	return w;
}

void worths_release(struct worths *w)
{
	free(w->rank);
	free(w->first_rank);
	free(w->kept_rank);
	free(w->exponent);
	free(w->all);
}

/* --- rates --- */

/* kept_s: how long the job has kept its devices. Horizons are divided by, whatever the input: none
 * is 0. */
static double horizon_s(const struct curves *curves, double kept_s, double restart_s)
{
	double horizon = fmin(kept_s, HORIZON_RESTARTS * restart_s);

	return fmax(fmax(horizon, HORIZON_SLICES * curves->slice_s), DBL_MIN);
}

static double reconfigure_horizon_s(const struct curves *curves, const struct curve *c)
{
	double horizon = HORIZON_RESTARTS * c->relaunch_s;

	return fmax(fmax(horizon, RECONFIGURE_SLICES * curves->slice_s), DBL_MIN);
}

/* The mean rate of a job that is launched on r devices, over a horizon. cost_s of it are lost, or
 * all of it if cost_s is longer. */
static double launched_rate(const struct curve *c, int r, double horizon, double cost_s)
{
	double work = c->remaining_device_s, speedup = c->of[r];
	double takes_s = work / speedup + cost_s;

	if (takes_s <= horizon)
		return takes_s > 0 ? work / takes_s : speedup;
	return speedup * fmax(horizon - cost_s, 0) / horizon;
}

static double reconfigured_rate(const struct curves *curves, const struct curve *c)
{
	return launched_rate(c, c->held, reconfigure_horizon_s(curves, c), c->relaunch_cost_s);
}

bool worth_reconfiguring(const struct curves *curves, const struct curve *c)
{
	double horizon = reconfigure_horizon_s(curves, c);

	return c->held && c->held <= curves->n_devices && c->job->preemptible && c->settled &&
	       c->of[c->held] * (horizon - c->relaunch_cost_s) >
		       RECONFIGURE_GAIN * c->now * horizon &&
	       reconfigured_rate(curves, c) > c->now;
}

/* --- worth --- */

static double worth_ranked(const struct worths *w, const struct curve *c, double first_rank,
			   double rate)
{
	ptrdiff_t index = c - w->curves->items;
	double exponent = w->exponent[index], first = sqrt(fmin(rate, c->least));
	double more = rate > c->least ? pow(rate, exponent) - pow(c->least, exponent) : 0;

	return c->weight * (first_rank * first + w->rank[index] * more);
}

/* Of a job that holds devices. */
static double worth_at(const struct worths *w, const struct curve *c, double rate)
{
	return worth_ranked(w, c, w->kept_rank[c - w->curves->items], rate);
}

static double kept_rate(const struct worths *w, const struct curve *c)
{
	return worth_reconfiguring(w->curves, c) ? reconfigured_rate(w->curves, c) : c->now;
}

double worth_launched(const struct worths *w, const struct curve *c, int r)
{
	return worth_ranked(w, c, w->first_rank[c - w->curves->items], c->of[r]);
}

double worth_per_device(const struct worths *w, const struct curve *c)
{
	return worth_launched(w, c, c->least_at) / c->least;
}

double worth_of(const struct worths *w, const struct curve *c, int r)
{
	const struct curves *curves = w->curves;
	double kept_s = curves->in->now_s - c->job->launched_s, rate, kept, inertia;

	if (!c->held || c->held > curves->n_devices)
		return r ? worth_launched(w, c, r) : 0;
	rate = kept_rate(w, c);
	kept = worth_at(w, c, rate);
	if (r == c->held)
		return kept;
	/* The least gain for which a running job is changed: its worth minus that at a rate lower
	 * by RELAUNCH_GAIN. It keeps small shifts of the model from causing relaunches. */
	inertia = kept - worth_at(w, c, rate / RELAUNCH_GAIN);
	rate = r ? launched_rate(c, r, horizon_s(curves, kept_s, c->relaunch_s), c->relaunch_cost_s)
		 : launched_rate(c, c->held, horizon_s(curves, kept_s, c->restart_s),
				 c->turn_cost_s);
	if (r)
		return worth_at(w, c, rate) - inertia;
	return fmin(worth_at(w, c, rate) - kept, 0) - inertia;
}

double worth_lost(const struct worths *w, const struct curve *c, int r, int to, bool starts)
{
	/* What it will be at the end of its slice, if others have as much service then as now. */
	double now_s = w->curves->in->now_s, launched_s = curve_launched_s(w->curves, c, starts);
	double end_s = fmax(curve_slice_end_s(w->curves, c, starts), now_s), later;
	double more = curve_devices_at(w->curves, r) * (end_s - now_s);
	double first_rank = !isnan(c->remaining_device_s)
		? w->kept_rank[c - w->curves->items]
		: 0.5 + n_longer(w->all, w->n, lengths_effective_device_s(&w->lengths, c, more));
	double rate = r == c->held ? kept_rate(w, c) : c->of[r];
	double has = worth_ranked(w, c, first_rank, rate);
	double inert = has - worth_ranked(w, c, first_rank, rate / RELAUNCH_GAIN);

	rate = launched_rate(c, to ? to : r, horizon_s(w->curves, end_s - launched_s, c->restart_s),
			     c->restart_s);
	later = worth_ranked(w, c, first_rank, rate);
	return has - (to ? later : fmin(later - has, 0)) + inert;
}
