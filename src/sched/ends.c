/* ends.c - draws of ends.h: in each the jobs play on until those that are asked for have ended. */
#include <math.h>
#include <stdlib.h>

#include "ends_play.h"
#include "pollux/ends.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"

#define TENTH 0.1
#define NEWCOMERS 200		/* in one draw; later ones hardly delay a job that is here now */
/* A look is at one job and one device. So many looks, over all draws, take about a tenth of a
 * second. No end is told for a job that has not ended by then. */
#define MOST_LOOKS 2e7
#define MEASURED_SLICES 0.3	/* after so much work the length is known of what it told */
#define END_SPREAD_S 2.0	/* a start and an end take a little more or less time */

/* The error of a modelled rate: the logarithm of real rate over modelled rate. Mean and standard
 * deviation are given for one device and for each doubling of the devices. Jobs of fixed batch size
 * run as modelled. For other jobs the noise scale, and with it the gain from large batches, grows
 * in training, most of all after the start, when it is not yet known. Chosen on the workloads of
 * seed 0 of benchmarks/ends.sh. */
struct rate_error {
	double mean, spread, doubling_mean, doubling_spread;
};
static const struct rate_error fixed_error = { 0, 0.04, -0.02, 0.05 };
static const struct rate_error adapting_error = { 0.02, 0.06, 0.05, 0.09 };
static const struct rate_error fresh_error = { 0.03, 0.09, 0.20, 0.22 };

/* --- lengths --- */

static int bin_of(const struct lengths *l, double service)
{
	int bin = 0;

	while (bin < LENGTHS_BINS && service >= l->from[bin + 1])
		bin++;
	return bin;
}

/* Draws the service at which a job ends that has had this much service. Each bin ends jobs at its
 * own rate. */
static double draw_length(struct draw *d, double service)
{
	double at = fmax(service, 0), left = random_exponential(&d->random, 1);

	for (int k = bin_of(&d->truth, at); k < LENGTHS_BINS; k++) {
		double rate = d->truth.rate[k], to = d->truth.from[k + 1];

		if (rate * (to - at) >= left)
			return at + left / rate;
		left -= rate * (to - at);
		at = to;
	}
	return at;
}

/* True if it is known how much remains of the job, or if its siblings were much alike. */
static bool is_known(const struct curve *c)
{
	return !isnan(c->remaining_device_s) && c->spread <= SCHED_TRUSTED_SPREAD;
}

static struct player player_of(struct draw *d, const struct curve *c)
{
	bool known = is_known(c);
	const struct rate_error *e = !c->job->adapts ? &fixed_error
				     : c->job->attained_service_device_s > 0 ? &adapting_error
									     : &fresh_error;
	double service = fmax(c->job->attained_service_device_s, 0);
	struct player p = {
		.curve = c, .known = known, .service = service, .least = c->least,
		.shows_at = known ? 0 : c->job->tells_its_work
			? MEASURED_SLICES * d->curves->slice_s * c->least : HUGE_VAL,
		.bin = bin_of(d->lengths, service), .held = c->held, .end_s = (double)NAN,
		.error = e->mean + e->spread * random_normal(&d->random),
		.doubling_error = e->doubling_mean +
				  e->doubling_spread * random_normal(&d->random),
	};

	p.work = known ? c->remaining_device_s : draw_length(d, service) - service;
	if (known && c->spread > 0)
		p.work *= exp(c->spread * random_normal(&d->random));
	for (int r = 1; r <= d->curves->n_devices; r++)
		if (!isnan(c->of[r]))
			p.most = r;
	if (!c->held || !p.least)
		return p;
	p.delay_s = fmax(c->job->launched_s + c->restart_s - d->curves->in->now_s, 0);
	p.delay_s = fmin(p.delay_s, c->restart_s);
	return p;
}

/* The work that r devices do in a second. */
static double rate_of(const struct player *p, int r)
{
	const struct curve *c = p->curve;
	double factor;
	int at = r;

	if (!p->known || !c)
		return r;
	factor = exp(p->error + p->doubling_error * log2(r));
	if (r == c->held)
		return c->now * factor;
	while (at > c->least && isnan(c->of[at]))
		at--;
	return c->of[at] * factor;
}

/* --- time --- */

static double time_to_event(const struct draw *d)
{
	double seconds = d->next_s - d->now_s;

	for (int k = 0; k < d->n_moved; k++) {
		const struct player *p = d->moved[k];

		if (!p->held)
			continue;
		seconds = fmin(seconds, p->delay_s + p->work / rate_of(p, p->held));
		if (!player_shows_length(p) && p->bin < LENGTHS_BINS)
			seconds = fmin(seconds, (fmin(d->lengths->from[p->bin + 1], p->shows_at) -
						 p->service) / p->held);
	}
	return fmax(seconds, 0);
}

static void advance_player(struct draw *d, struct player *p, double seconds)
{
	double rate = rate_of(p, p->held), delay_s = fmin(p->delay_s, seconds);

	p->service += seconds * p->held;
	while (p->bin < LENGTHS_BINS &&
	       p->service >= d->lengths->from[p->bin + 1] * (1 - 1e-12))
		p->bin++;
	p->delay_s -= delay_s;
	p->work -= (seconds - delay_s) * rate;
	if (p->work > 1e-9 * rate || p->delay_s > 0)
		return;
	p->end_s = fmax(d->now_s + seconds +
			END_SPREAD_S * (2 * random_uniform(&d->random) - 1), 0);
	d->one_ended = true;
	d->n_wide -= p->least > 1;
}

/* --- one draw --- */

/* True if the end of a wanted job is still to come. */
static bool is_wanted(const struct draw *d, const bool *wanted)
{
	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		const struct curve *c = &d->curves->items[i];

		if (c->least && isnan(d->players[i].end_s) &&
		    (!wanted || wanted[c->job - d->curves->in->jobs]))
			return true;
	}
	return false;
}

static void play(struct draw *d, const struct ends_stream *stream, const bool *wanted)
{
	const struct sched_input *in = d->curves->in;
	double n_steps = MOST_LOOKS / ENDS_DRAWS / in->n_jobs / (d->curves->n_devices + 1);

	d->n = d->n_ordered = d->n_order = d->n_wide = d->n_moved = d->n_came = 0;
	d->one_ended = false;
	d->now_s = 0;
	d->truth = lengths_draw(d->lengths, &d->random);
	for (int i = 0; i < in->n_jobs; i++)
		d->players[d->n++] = player_of(d, &d->curves->items[i]);
	for (int i = 0; i < d->n; i++)
		if (d->players[i].held && player_may_run(&d->players[i]))
			d->moved[d->n_moved++] = &d->players[i];
	/* The mean gap was taken from few jobs, so the gap of a draw spreads around it. */
	d->gap_s = 2 * stream->gap_s / (random_exponential(&d->random, 1) +
					random_exponential(&d->random, 1));
	d->next_s = HUGE_VAL;
	if (random_uniform(&d->random) >= stream->stopped && stream->gap_s > 0)
		d->next_s = random_exponential(&d->random, d->gap_s);
	for (int k = 0; k < n_steps && is_wanted(d, wanted); k++) {
		double seconds, length;

		draw_give(d);
		seconds = time_to_event(d);
		for (int m = 0; m < d->n_moved; m++)
			if (d->moved[m]->held)
				advance_player(d, d->moved[m], seconds);
		d->now_s = isfinite(seconds) ? d->now_s + seconds : d->now_s;
		if (!(d->now_s >= d->next_s * (1 - 1e-12)))
			continue;
		length = draw_length(d, 0);
		d->players[d->n++] = (struct player){	/* a newcomer */
			.work = length,
			.known = random_uniform(&d->random) < d->known_part, .shows_at = HUGE_VAL,
			.least = 1, .most = d->curves->n_devices, .end_s = (double)NAN,
		};
		d->next_s = ++d->n_came < NEWCOMERS
			? d->now_s + random_exponential(&d->random, d->gap_s) : HUGE_VAL;
	}
}

static void begin_draws(struct draw *d, const struct curves *curves, const struct lengths *lengths)
{
	struct sched_job job = { .id = 0 };
	struct curve c = { .job = &job, .remaining_device_s = (double)NAN };
	int n_known = 0;

	*d = (struct draw){
		.curves = curves, .lengths = lengths, .random = 1,
		.players = xcalloc((size_t)curves->in->n_jobs + NEWCOMERS, sizeof(*d->players)),
		.order = xcalloc((size_t)curves->in->n_jobs + NEWCOMERS, sizeof(struct player *)),
		.moved = xcalloc((size_t)curves->in->n_jobs + NEWCOMERS, sizeof(struct player *)),
	};
	for (int i = 0; i < curves->in->n_jobs; i++) {
		n_known += is_known(&curves->items[i]);
		d->restart_s += curves->items[i].restart_s / curves->in->n_jobs;
	}
	d->known_part = (double)n_known / curves->in->n_jobs;
	for (int k = 0; k < LENGTHS_BINS; k++)
		d->index[k] = lengths_effective_device_s(lengths, &c, lengths->from[k]);
	d->index[LENGTHS_BINS] = lengths->from[LENGTHS_BINS];
}

/* --- the ends --- */

static double quantile(const double *sorted, double q)
{
	double rank = q * (ENDS_DRAWS - 1);
	int low = (int)rank;

	if (low >= ENDS_DRAWS - 1)
		return sorted[ENDS_DRAWS - 1];
	return sorted[low] + (rank - low) * (sorted[low + 1] - sorted[low]);
}

void ends_of(const struct sched_input *in, const struct ends_stream *stream, const bool *wanted,
	     struct job_ends *ends)
{
	/* In a draw all devices are of one kind. */
	struct sched_job *jobs = xcalloc((size_t)in->n_jobs, sizeof(*jobs));
	struct sched_input one = sched_merge_kinds(in, jobs);
	struct curves curves = curves_of(&one);
	struct lengths lengths = lengths_of(&curves);
	double *drawn = xcalloc((size_t)in->n_jobs * ENDS_DRAWS, sizeof(*drawn));
	struct draw d;

	if (in->n_jobs)
		begin_draws(&d, &curves, &lengths);
	for (int k = 0; in->n_jobs && k < ENDS_DRAWS; k++) {
		play(&d, stream, wanted);
		for (int i = 0; i < in->n_jobs; i++) {
			double end_s = d.players[i].end_s;

			drawn[(curves.items[i].job - jobs) * ENDS_DRAWS + k] =
				isnan(end_s) ? HUGE_VAL : end_s;
		}
	}
	for (int i = 0; i < in->n_jobs; i++) {
		double *sorted = &drawn[(size_t)i * ENDS_DRAWS];

		qsort(sorted, ENDS_DRAWS, sizeof(*sorted), by_double);
		ends[i] = isfinite(quantile(sorted, 1 - TENTH))
			? (struct job_ends){ quantile(sorted, TENTH), quantile(sorted, 0.5),
					     quantile(sorted, 1 - TENTH) }
			: (struct job_ends){ (double)NAN, (double)NAN, (double)NAN };
	}
	if (in->n_jobs) {
		free(d.players);
		free(d.order);
		free(d.moved);
	}
	free(drawn);
	curves_release(&curves);
	free(jobs);
}

/* --- how jobs came of late, and whether more are to come --- */

#define BURST_S 600.0		/* jobs that came within this time may be all there are */
#define STOPS 0.05
#define LEAST_GAP_S 10.0

struct ends_stream ends_stream_of(const double *submitted_s, int n, double now_s)
{
	double newest[ENDS_NEWEST] = { 0 }, gap_s, odds;
	int kept = 0;

	for (int i = 0; i < n; i++) {
		int at = kept < ENDS_NEWEST ? kept++ : ENDS_NEWEST - 1;

		if (at == ENDS_NEWEST - 1 && i >= ENDS_NEWEST && submitted_s[i] <= newest[at])
			continue;
		for (newest[at] = submitted_s[i]; at > 0 && newest[at] > newest[at - 1]; at--) {
			double other = newest[at - 1];

			newest[at - 1] = newest[at];
			newest[at] = other;
		}
	}
	if (kept < 2)
		return (struct ends_stream){ .gap_s = (double)NAN };
	/* At each arrival the odds that it is the last one are STOPS to 1. Each mean gap without a
	 * job multiplies these odds by e. */
	gap_s = fmax(fmax(newest[0] - newest[kept - 1], 0) / (kept - 1), LEAST_GAP_S);
	odds = STOPS * exp(fmin(fmax(now_s - newest[0], 0) / gap_s, 50));
	return (struct ends_stream){
		.gap_s = fmax(now_s - newest[kept - 1], BURST_S) / (kept - 1),
		.stopped = odds / (1 + odds),
	};
}
