/* worth.c - the value of devices to a job. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "worth.h"

#define HINT_SLICES 12
#define ROOT_BIN 0.01
#define HORIZON_SLICES 0.5
#define HORIZON_RESTARTS 10
#define RELAUNCH_GAIN 1.1
/* The horizon of a relaunch on the devices that the job holds, in slices. */
#define RECONFIGURE_SLICES 1
#define RECONFIGURE_GAIN 1.05

/* --- ranks --- */

/* True if the job's first slice is to measure what is not known of its workload. */
static bool is_to_be_measured(const struct curve *c)
{
	return isnan(c->unit) && !c->job->measured_elsewhere;
}

double worth_length_device_s(const struct curves *curves, const struct curve *c)
{
	double assumed_device_s;

	if (!isnan(c->remaining_device_s))
		return c->remaining_device_s;
	assumed_device_s = fmax(c->job->attained_service_device_s, 0) +
			   (is_to_be_measured(c) ? 1 : HINT_SLICES) * curves->slice_s;
	if (c->job->time_left_s > 0)
		assumed_device_s = fmin(assumed_device_s, c->job->time_left_s *
					(c->held ? c->held_devices : c->least));
	return assumed_device_s;
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

static int compare_lengths(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct bin bin_of(double length, bool known)
{
	/* This is finite for any input, also for a job that has no length. */
	int at = (int)round(log(fmin(fmax(length, 1e-300), 1e300)) / 2 / ROOT_BIN);

	return (struct bin){
		.at = at, .root = exp(ROOT_BIN * at), .n_known = known, .n_unknown = !known
	};
}

/* Sorts the bins and joins equal ones; returns their number. */
static int join_bins(struct bin *bins, int n_jobs)
{
	int n = 0;

	qsort(bins, (size_t)n_jobs, sizeof(*bins), compare_bins);
	for (int i = 0; i < n_jobs; i++) {
		if (!n || bins[n - 1].at != bins[i].at) {
			bins[n++] = bins[i];
			continue;
		}
		bins[n - 1].n_known += bins[i].n_known;
		bins[n - 1].n_unknown += bins[i].n_unknown;
	}
	return n;
}

static void set_longer(struct bin *bins, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			double p = bins[k].root / (bins[k].root + bins[i].root);

			bins[i].longer_known += p * bins[k].n_known;
			bins[i].longer_unknown += p * bins[k].n_unknown;
		}
}

static struct crowd crowd_of(const struct curves *curves, const struct lengths *lengths)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
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
	qsort(crowd.all, (size_t)crowd.n, sizeof(double), compare_lengths);
	qsort(crowd.known, (size_t)crowd.n_known, sizeof(double), compare_lengths);
	crowd.n_bins = join_bins(crowd.bins, crowd.n);
	set_longer(crowd.bins, crowd.n_bins);
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
	power = known ? elasticity(w->curves, c, crowd->n) : 0;
	exact = known ? n_longer(crowd->known, crowd->n_known, length) : 0;
	w->first_rank[index] = 0.5 + n_longer(crowd->all, crowd->n, length);
	w->rank[index] = 0.5 + power * exact + (1 - power) * bin->longer_known +
			 bin->longer_unknown;
}

/* The first_rank that the job will have at the end of its slice on r devices, if other jobs have as
 * much service then as now. */
static double served_rank(const struct worths *w, const struct curve *c, int r, bool starts)
{
	double slice_end_s = curve_slice_end_s(w->curves, c, starts);
	double more = curve_devices_at(w->curves, r) * fmax(slice_end_s - w->curves->in->now_s, 0);

	if (!isnan(c->remaining_device_s))
		return w->first_rank[c - w->curves->items];
	return 0.5 + n_longer(w->all, w->n, lengths_effective_device_s(&w->lengths, c, more));
}

struct worths worths_of(const struct curves *curves)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	struct worths w = {
		.curves = curves, .rank = xcalloc(n_jobs, sizeof(*w.rank)),
		.first_rank = xcalloc(n_jobs, sizeof(*w.first_rank)),
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
	free(w->all);
}

/* --- rates --- */

static double horizon_s(const struct curves *curves, double slices, double restart_s)
{
	double horizon = fmax(slices * curves->slice_s, HORIZON_RESTARTS * restart_s);

	return fmax(horizon, DBL_MIN);	/* divided by, whatever the input */
}

/* The mean rate over a horizon of which cost_s are lost, or all of it if cost_s is longer. */
static double launched_rate(const struct curve *c, double speedup, double horizon, double cost_s)
{
	double work = c->remaining_device_s;

	if (work / speedup + cost_s <= horizon)
		return work / (work / speedup + cost_s);
	return speedup * fmax(horizon - cost_s, 0) / horizon;
}

/* The rate of a job that leaves its devices and is launched on r devices later. */
static double restarted_rate(const struct curves *curves, const struct curve *c, int r)
{
	return launched_rate(c, c->of[r], horizon_s(curves, HORIZON_SLICES, c->restart_s),
			     c->restart_s);
}

/* The rate of a suspended run that leaves its devices and goes on later on as many. */
static double resumed_rate(const struct curves *curves, const struct curve *c)
{
	return launched_rate(c, c->of[c->held], horizon_s(curves, HORIZON_SLICES, c->restart_s),
			     c->turn_cost_s);
}

/* The rate of a run that is relaunched on r devices. */
static double moved_rate(const struct curves *curves, const struct curve *c, int r)
{
	return launched_rate(c, c->of[r], horizon_s(curves, HORIZON_SLICES, c->relaunch_s),
			     c->relaunch_cost_s);
}

static double reconfigured_rate(const struct curves *curves, const struct curve *c)
{
	return launched_rate(c, c->of[c->held],
			     horizon_s(curves, RECONFIGURE_SLICES, c->relaunch_s),
			     c->relaunch_cost_s);
}

bool worth_reconfiguring(const struct curves *curves, const struct curve *c)
{
	double horizon = horizon_s(curves, RECONFIGURE_SLICES, c->relaunch_s);

	return c->held && c->held <= curves->n_devices && c->job->preemptible && c->settled &&
	       c->of[c->held] * (horizon - c->relaunch_cost_s) >
		       RECONFIGURE_GAIN * c->now * horizon &&
	       reconfigured_rate(curves, c) > c->now;
}

/* --- worth --- */

static double worth_ranked(const struct worths *w, const struct curve *c, double first_rank,
			   double rate)
{
	double first = sqrt(fmin(rate, c->least)), rank = w->rank[c - w->curves->items];

	return c->weight * (first_rank * first + rank * (sqrt(rate) - first));
}

static double worth_at(const struct worths *w, const struct curve *c, double rate)
{
	return worth_ranked(w, c, w->first_rank[c - w->curves->items], rate);
}

static double kept_rate(const struct worths *w, const struct curve *c)
{
	return worth_reconfiguring(w->curves, c) ? reconfigured_rate(w->curves, c) : c->now;
}

static double kept(const struct worths *w, const struct curve *c)
{
	return worth_at(w, c, kept_rate(w, c));
}

double worth_launched(const struct worths *w, const struct curve *c, int r)
{
	return worth_at(w, c, c->of[r]);
}

/* The least gain for which a running job is changed: its worth at its present rate, minus its worth
 * at a rate lower by RELAUNCH_GAIN. This threshold keeps small shifts of the model from causing
 * relaunches. */
static double inertia(const struct worths *w, const struct curve *c)
{
	return kept(w, c) - worth_at(w, c, kept_rate(w, c) / RELAUNCH_GAIN);
}

double worth_of(const struct worths *w, const struct curve *c, int r)
{
	if (!c->held || c->held > w->curves->n_devices)
		return r ? worth_launched(w, c, r) : 0;
	if (r == c->held)
		return kept(w, c);
	if (r)
		return worth_at(w, c, moved_rate(w->curves, c, r)) - inertia(w, c);
	return fmin(worth_at(w, c, resumed_rate(w->curves, c)) - kept(w, c), 0) - inertia(w, c);
}

double worth_lost(const struct worths *w, const struct curve *c, int r, int to, bool starts)
{
	double first_rank = served_rank(w, c, r, starts);
	double rate = r == c->held ? kept_rate(w, c) : c->of[r];
	double has = worth_ranked(w, c, first_rank, rate);
	double inert = has - worth_ranked(w, c, first_rank, rate / RELAUNCH_GAIN);

	if (to)
		return has - worth_ranked(w, c, first_rank, restarted_rate(w->curves, c, to)) +
		       inert;
	return has -
	       fmin(worth_ranked(w, c, first_rank, restarted_rate(w->curves, c, r)) - has, 0) +
	       inert;
}
