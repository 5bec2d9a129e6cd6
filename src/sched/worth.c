/* worth.c - the value of devices to a job. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "worth.h"

#define HINT_SLICES 12
#define ROOT_BIN 0.01
/* probability that a job that has had a slice is longer than one that has not */
#define SERVED_LONGER 0.75
#define HORIZON_SLICES 0.5
#define HORIZON_RESTARTS 10
#define RELAUNCH_GAIN 1.1
/* On the devices it holds. */
#define RECONFIGURE_SLICES 1
#define RECONFIGURE_GAIN 1.05

/* --- lengths and ranks --- */

/* True if a slice of the job tells what nothing else tells. */
static bool is_to_be_measured(const struct curve *c)
{
	return isnan(c->unit) && !c->job->measured_elsewhere;
}

double worth_length_device_s(const struct curves *curves, const struct curve *c)
{
	if (!isnan(c->remaining_device_s))
		return c->remaining_device_s;
	return fmax(c->job->attained_service_device_s, 0) +
	       (is_to_be_measured(c) ? 1 : HINT_SLICES) * curves->slice_s;
}

/* Unknown lengths are compared by their cube roots, rounded to bins of 1 %: thousands of jobs fall
 * into some hundred bins. */
struct bin {
	int at;
	double root;
	int n_known, n_unknown;
	double longer_known, longer_unknown;	/* expected number of jobs at least as long */
};

static int compare_bins(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static struct bin bin_of(const struct curves *curves, const struct curve *c)
{
	bool known = !isnan(c->remaining_device_s);
	/* This is finite for any input. */
	double root = cbrt(fmin(worth_length_device_s(curves, c), 1e300));
	int at = (int)round(log(root) / ROOT_BIN);

	return (struct bin){
		.at = at, .root = exp(ROOT_BIN * at), .n_known = known, .n_unknown = !known
	};
}

/* Sorts the bins and joins equal ones; returns their number. */
static int make_bins(const struct curves *curves, struct bin *bins)
{
	int n_jobs = 0, n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++)
		if (curves->items[i].least)
			bins[n_jobs++] = bin_of(curves, &curves->items[i]);
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

/* Summary of all jobs' lengths, from which the rank of each job is computed. */
struct length_distribution {
	struct bin *bins;
	int n_bins;
	double *known;		/* lengths, ascending */
	int n_known;
	int n_new, n_served;	/* jobs of unknown length, without a slice and with one */
};

static bool is_new(const struct curve *c)
{
	return !c->job->measured_elsewhere &&
	       !(c->job->attained_service_device_s >= c->least * c->slice_s);
}

static int compare_lengths(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct length_distribution length_distribution_of(const struct curves *curves)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	struct length_distribution lengths = {
		.bins = xcalloc(n_jobs, sizeof(*lengths.bins)),
		.known = xcalloc(n_jobs, sizeof(*lengths.known)),
	};

	for (size_t i = 0; i < n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		if (c->least && !isnan(c->remaining_device_s))
			lengths.known[lengths.n_known++] = c->remaining_device_s;
		else if (c->least && is_new(c))
			lengths.n_new++;
		else if (c->least)
			lengths.n_served++;
	}
	qsort(lengths.known, (size_t)lengths.n_known, sizeof(*lengths.known), compare_lengths);
	lengths.n_bins = make_bins(curves, lengths.bins);
	set_longer(lengths.bins, lengths.n_bins);
	return lengths;
}

/* The number of jobs of known length that are at least this long. */
static int n_as_long(const struct length_distribution *lengths, double length)
{
	int low = 0, high = lengths->n_known;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (lengths->known[middle] < length)
			low = middle + 1;
		else
			high = middle;
	}
	return lengths->n_known - low;
}

/* The sum includes half of the job itself. */
static double first_longer_unknown(const struct length_distribution *lengths, bool new)
{
	return new ? 0.5 * lengths->n_new + SERVED_LONGER * lengths->n_served
		   : (1 - SERVED_LONGER) * lengths->n_new + 0.5 * lengths->n_served;
}

static void set_rank(const struct worths *w, const struct length_distribution *lengths, int index)
{
	const struct curve *c = &w->curves->items[index];
	struct bin own = bin_of(w->curves, c);
	const struct bin *bin =
		bsearch(&own, lengths->bins, (size_t)lengths->n_bins, sizeof(own), compare_bins);

	if (!c->least)
		return;
	if (own.n_known) {
		w->rank[index] = n_as_long(lengths, c->remaining_device_s) + bin->longer_unknown;
		w->first_rank[index] = w->served_rank[index] = w->rank[index];
		return;
	}
	/* The job itself counts as 1, half of which is in the sums already. */
	w->rank[index] = 0.5 + bin->longer_known + bin->longer_unknown;
	w->first_rank[index] = 0.5 + bin->longer_known + first_longer_unknown(lengths, is_new(c));
	w->served_rank[index] = w->first_rank[index];
	if (is_new(c))
		w->served_rank[index] =
			0.5 + bin->longer_known +
			first_longer_unknown(
				&(struct length_distribution){ .n_new = lengths->n_new - 1,
							       .n_served = lengths->n_served + 1 },
				false);
}

struct worths worths_of(const struct curves *curves)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	struct worths w = {
		.curves = curves, .rank = xcalloc(n_jobs, sizeof(*w.rank)),
		.first_rank = xcalloc(n_jobs, sizeof(*w.first_rank)),
		.served_rank = xcalloc(n_jobs, sizeof(*w.served_rank)),
	};
	struct length_distribution lengths = length_distribution_of(curves);

	for (int i = 0; i < curves->in->n_jobs; i++)
		set_rank(&w, &lengths, i);
	free(lengths.bins);
	free(lengths.known);
	return w;
}

void worths_release(struct worths *w)
{
	free(w->rank);
	free(w->first_rank);
	free(w->served_rank);
}

/* --- rates --- */

static double horizon_s(const struct curves *curves, double slices, double restart_s)
{
	double horizon = fmax(slices * curves->slice_s, HORIZON_RESTARTS * restart_s);

	return fmax(horizon, DBL_MIN);	/* divided by, whatever the input */
}

/* The mean rate over a horizon, cost_s of which is lost. More than all of it cannot be lost. */
static double launched_rate(const struct curve *c, double speedup, double horizon, double cost_s)
{
	double work = c->remaining_device_s;

	if (work / speedup + cost_s <= horizon)
		return work / (work / speedup + cost_s);
	return speedup * fmax(horizon - cost_s, 0) / horizon;
}

/* The rate of a job without devices on r of them. */
static double started_rate(const struct curves *curves, const struct curve *c, int r)
{
	return launched_rate(c, c->of[r], horizon_s(curves, HORIZON_SLICES, c->restart_s),
			     c->restart_s);
}

/* The rate of a run that leaves its devices, on as many later. */
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
	return worth_at(w, c, started_rate(w->curves, c, r));
}

/* The least gain for which a running job is changed: its worth at its present rate, minus its worth
 * at a rate lower by RELAUNCH_GAIN. It keeps small shifts of the model from causing relaunches. */
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

double worth_lost(const struct worths *w, const struct curve *c, int r, int to)
{
	double first_rank = w->served_rank[c - w->curves->items];
	double rate = r == c->held ? kept_rate(w, c) : c->of[r];
	double has = worth_ranked(w, c, first_rank, rate);
	double inert = has - worth_ranked(w, c, first_rank, rate / RELAUNCH_GAIN);

	if (to)
		return has - worth_ranked(w, c, first_rank, started_rate(w->curves, c, to)) +
		       inert;
	return has -
	       fmin(worth_ranked(w, c, first_rank, started_rate(w->curves, c, r)) - has, 0) +
	       inert;
}
