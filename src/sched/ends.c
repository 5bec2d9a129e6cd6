/* ends.c - see ends.h. */
#include <math.h>
#include <stdlib.h>

#include "lengths.h"
#include "pollux/ends.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"

#define NEWCOMERS 200		/* in one draw; later ones hardly delay a job that is here now */
/* A look is at one job and one device. So many looks, over all draws, take about a tenth of a
 * second. No end is told for a job that has not ended by then. */
#define MOST_LOOKS 2e7
#define END_SPREAD_S 2.0	/* a start and an end take a little more or less time */
#define NEWCOMERS_ELASTICITY 0.7
#define KEEPS 1.3		/* a running job leaves its devices for one this much shorter */
#define TENTH 0.1

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

/* A job in one draw. */
struct player {
	const struct curve *curve;	/* NULL: a job still to come */
	bool known;		/* work counts down at the job's speed, else at r a second */
	double work;			/* until it ends, device-seconds */
	double error, doubling_error;	/* logarithms, see struct rate_error */
	double service;			/* for the order, where the length is not known */
	double shows_at;		/* with this service the length is known, from then on */
	int bin;
	double delay_s;			/* rest of its restart */
	int least, most, held, gets;
	double key;			/* the least comes first */
	double end_s;			/* NaN: not yet */
};

struct draw {
	const struct curves *curves;
	const struct lengths *lengths;	/* by what is known */
	struct lengths truth;		/* as drawn */
	double index[LENGTHS_BINS + 1];	/* effective length, by the bin of the service */
	double restart_s;		/* of jobs still to come */
	double known_part;		/* of the jobs, those of known length */
	uint64_t random;
	struct player *players;
	/* the players that are here, ordered by key: n_order of them, taken from the first
	 * n_ordered players */
	struct player **order;
	int n, n_ordered, n_order, n_wide;	/* wide: of these, those of two devices at least */
	bool one_ended;			/* since they were ordered */
	/* the players that have devices, and those whose key may have changed since the last
	 * ordering; in the order of players */
	struct player **moved;
	int n_moved;
	double now_s, next_s, gap_s;	/* since now; next: when a job comes */
	int n_came;
};

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

static void set_index(struct draw *d)
{
	struct sched_job job = { .id = 0 };
	struct curve c = { .job = &job, .remaining_device_s = (double)NAN };

	for (int k = 0; k < LENGTHS_BINS; k++)
		d->index[k] = lengths_effective_device_s(d->lengths, &c, d->lengths->from[k]);
	d->index[LENGTHS_BINS] = d->lengths->from[LENGTHS_BINS];
}

/* --- players --- */

/* The service with which a first slice has measured the job. */
static double service_to_measure(const struct draw *d, const struct curve *c)
{
	return c->job->tells_its_work ? CURVE_FIRST_SLICE * d->curves->slice_s * c->least
				      : HUGE_VAL;
}

static struct player player_of(struct draw *d, const struct curve *c)
{
	bool known = !isnan(c->remaining_device_s);
	const struct rate_error *e = !c->job->adapts ? &fixed_error
				     : c->job->attained_service_device_s > 0 ? &adapting_error
									     : &fresh_error;
	double service = fmax(c->job->attained_service_device_s, 0);
	struct player p = {
		.curve = c, .known = known, .service = service, .least = c->least,
		.shows_at = known ? 0 : service_to_measure(d, c),
		.bin = bin_of(d->lengths, service), .held = c->held, .end_s = (double)NAN,
		.error = e->mean + e->spread * random_normal(&d->random),
		.doubling_error = e->doubling_mean +
				  e->doubling_spread * random_normal(&d->random),
	};

	p.work = known ? c->remaining_device_s : draw_length(d, service) - service;
	for (int r = 1; r <= d->curves->n_devices; r++)
		if (!isnan(c->of[r]))
			p.most = r;
	if (!c->held || !p.least)
		return p;
	p.delay_s = fmax(c->job->launched_s + c->restart_s - d->curves->in->now_s, 0);
	p.delay_s = fmin(p.delay_s, c->restart_s);
	return p;
}

static void add_newcomer(struct draw *d)
{
	double length = draw_length(d, 0);

	d->players[d->n++] = (struct player){
		.known = random_uniform(&d->random) < d->known_part, .shows_at = HUGE_VAL,
		.work = length, .least = 1, .most = d->curves->n_devices, .end_s = (double)NAN,
	};
	d->n_came++;
	d->next_s = d->n_came < NEWCOMERS
		? d->now_s + random_exponential(&d->random, d->gap_s) : HUGE_VAL;
}

static bool shows_its_length(const struct player *p)
{
	return p->known || p->service >= p->shows_at * (1 - 1e-12);
}

static double key_of(const struct draw *d, const struct player *p)
{
	double index = shows_its_length(p) ? p->work : d->index[p->bin];

	if (p->held && p->curve && !p->curve->job->preemptible)
		return 0;
	return p->held ? index / KEEPS : index;
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

/* --- devices --- */

static bool may_run(const struct player *p)
{
	return isnan(p->end_s) && p->least > 0;
}

static bool comes_before(const struct player *x, const struct player *y)
{
	return x->key < y->key || (x->key == y->key && x < y);
}

static int by_key(const void *a, const void *b)
{
	const struct player *x = *(struct player *const *)a, *y = *(struct player *const *)b;

	return comes_before(y, x) - comes_before(x, y);
}

/* Removes players that have ended from the order, and adds players that have come. */
static void see_who_is_here(struct draw *d)
{
	int n = 0;

	if (!d->one_ended && d->n_ordered == d->n)
		return;
	for (int k = 0; k < d->n_order; k++)
		if (may_run(d->order[k]))
			d->order[n++] = d->order[k];
	for (; d->n_ordered < d->n; d->n_ordered++) {
		struct player *p = &d->players[d->n_ordered];

		if (!may_run(p))
			continue;
		p->key = key_of(d, p);
		d->order[n++] = p;
		d->n_wide += p->least > 1;
	}
	d->n_order = n;
	d->one_ended = false;
}

/* This is fast where most players keep their places. */
static void insertion_sort(struct player **order, int n)
{
	for (int k = 1; k < n; k++) {
		struct player *p = order[k];
		int at = k;

		for (; at > 0 && comes_before(p, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = p;
	}
}

/* Ranks the players that are here. The rank is the number of players that do not come earlier. */
static void order_players(struct draw *d)
{
	bool is_first = d->n_ordered == 0;

	for (int k = 0; k < d->n_moved; k++)
		d->moved[k]->key = key_of(d, d->moved[k]);
	see_who_is_here(d);
	if (is_first)
		qsort(d->order, (size_t)d->n_order, sizeof(struct player *), by_key);
	else
		insertion_sort(d->order, d->n_order);
}

/* The speed-up on r devices; NaN: the job must not get r. */
static double speedup(const struct player *p, int r)
{
	if (r == 0)
		return 0;
	if (!p->curve)
		return pow(r, NEWCOMERS_ELASTICITY);
	return r > p->most ? (double)NAN : p->curve->of[r];
}

/* The next larger number of devices for the player that takes at most `left` more; 0: none. */
static int next_above(const struct player *p, int left)
{
	for (int r = p->gets + 1; r <= p->gets + left && r <= p->most; r++)
		if (!isnan(speedup(p, r)) && r >= p->least)
			return r;
	return 0;
}

/* The gain per device, as in worth.h. The rank counts for the least devices. Beyond these it counts
 * for jobs of known length; jobs of unknown length have the middle rank there. */
static double gain(const struct draw *d, const struct player *p, int position, int r)
{
	bool is_exact = shows_its_length(p) || !p->gets;
	double rank = is_exact ? d->n_order - position : (d->n_order + 1) / 2.0;

	return rank * (sqrt(speedup(p, r)) - sqrt(speedup(p, p->gets))) / (r - p->gets);
}

/* Adds a player to `moved`, unless it is there already. */
static void note_moved(struct draw *d, struct player *p)
{
	int at = d->n_moved;

	while (at > 0 && d->moved[at - 1] > p)
		at--;
	if (at > 0 && d->moved[at - 1] == p)
		return;
	for (int k = d->n_moved++; k > at; k--)
		d->moved[k] = d->moved[k - 1];
	d->moved[at] = p;
}

/* True if no player from this place of the order on may get more. n_given players have devices so
 * far, and `seen` of them have earlier places. first: no player without a device was seen yet. */
static bool is_last_place(const struct draw *d, bool first, int seen, int n_given)
{
	return !first && seen == n_given && d->n_wide == 0;
}

static void give_devices(struct draw *d)
{
	int left = d->curves->n_devices, n_given = 0;

	while (left > 0) {
		struct player *best = NULL;
		bool first = true;
		double most = 0;
		int replicas = 0, seen = 0;

		for (int k = 0; k < d->n_order && !is_last_place(d, first, seen, n_given); k++) {
			struct player *p = d->order[k];
			int r;

			seen += p->gets > 0;
			/* Among several jobs that need a single first device, the first one gains
			 * most. */
			if (!p->gets && p->least == 1 && !first)
				continue;
			first &= p->gets || p->least > 1;
			r = next_above(p, left);
			if (!r || gain(d, p, k, r) <= most)
				continue;
			most = gain(d, p, k, r);
			best = p;
			replicas = r;
		}
		if (!best)
			return;
		n_given += !best->gets;
		left -= replicas - best->gets;
		best->gets = replicas;
		note_moved(d, best);
	}
}

static void give(struct draw *d)
{
	int n = 0;

	order_players(d);
	for (int k = 0; k < d->n_moved; k++) {
		d->moved[k]->gets = 0;
		if (d->moved[k]->held && may_run(d->moved[k]))
			d->moved[n++] = d->moved[k];
	}
	d->n_moved = n;
	give_devices(d);
	for (int k = 0; k < d->n_moved; k++) {
		struct player *p = d->moved[k];

		if (p->gets && !p->held)
			p->delay_s = p->curve ? p->curve->restart_s : d->restart_s;
		p->held = p->gets;
	}
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
		if (!shows_its_length(p) && p->bin < LENGTHS_BINS)
			seconds = fmin(seconds, (fmin(d->lengths->from[p->bin + 1], p->shows_at) -
						 p->service) / p->held);
	}
	return fmax(seconds, 0);
}

static void advance(struct draw *d, struct player *p, double seconds)
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

static void step(struct draw *d)
{
	double seconds;

	give(d);
	seconds = time_to_event(d);
	for (int k = 0; k < d->n_moved; k++)
		if (d->moved[k]->held)
			advance(d, d->moved[k], seconds);
	d->now_s = isfinite(seconds) ? d->now_s + seconds : d->now_s;
	if (d->now_s >= d->next_s * (1 - 1e-12))
		add_newcomer(d);
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
		if (d->players[i].held && may_run(&d->players[i]))
			d->moved[d->n_moved++] = &d->players[i];
	/* The mean gap was taken from few jobs, so the gap of a draw spreads around it. */
	d->gap_s = 2 * stream->gap_s / (random_exponential(&d->random, 1) +
					random_exponential(&d->random, 1));
	d->next_s = HUGE_VAL;
	if (random_uniform(&d->random) >= stream->stopped && stream->gap_s > 0)
		d->next_s = random_exponential(&d->random, d->gap_s);
	for (int k = 0; k < n_steps && is_wanted(d, wanted); k++)
		step(d);
}

/* --- all --- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, double q)
{
	double rank = q * (ENDS_DRAWS - 1);
	int low = (int)rank;

	if (low >= ENDS_DRAWS - 1)
		return sorted[ENDS_DRAWS - 1];
	return sorted[low] + (rank - low) * (sorted[low + 1] - sorted[low]);
}

static struct job_ends ends_of_draws(double *ends)
{
	for (int k = 0; k < ENDS_DRAWS; k++)
		if (isnan(ends[k]))
			ends[k] = HUGE_VAL;
	qsort(ends, ENDS_DRAWS, sizeof(*ends), by_value);
	if (!isfinite(quantile(ends, 1 - TENTH)))
		return (struct job_ends){ (double)NAN, (double)NAN, (double)NAN };
	return (struct job_ends){ quantile(ends, TENTH), quantile(ends, 0.5),
				  quantile(ends, 1 - TENTH) };
}

static void draw_init(struct draw *d, const struct curves *curves, const struct lengths *lengths)
{
	int n_known = 0;

	*d = (struct draw){
		.curves = curves, .lengths = lengths, .random = 1,
		.players = xcalloc((size_t)curves->in->n_jobs + NEWCOMERS, sizeof(*d->players)),
		.order = xcalloc((size_t)curves->in->n_jobs + NEWCOMERS, sizeof(struct player *)),
		.moved = xcalloc((size_t)curves->in->n_jobs + NEWCOMERS, sizeof(struct player *)),
	};
	for (int i = 0; i < curves->in->n_jobs; i++) {
		n_known += !isnan(curves->items[i].remaining_device_s);
		d->restart_s += curves->items[i].restart_s / curves->in->n_jobs;
	}
	d->known_part = (double)n_known / curves->in->n_jobs;
	set_index(d);
}

/* In a draw all devices are of one kind. */
static const struct sched_input *one_kind(struct sched_input *in)
{
	in->n_kinds = 0;
	return in;
}

void ends_of(const struct sched_input *in, const struct ends_stream *stream, const bool *wanted,
	     struct job_ends *ends)
{
	struct sched_input one = *in;
	struct curves curves = curves_of(one_kind(&one));
	struct lengths lengths = lengths_of(&curves);
	double *drawn = xcalloc((size_t)in->n_jobs * ENDS_DRAWS, sizeof(*drawn));
	struct draw d;

	if (in->n_jobs) {
		draw_init(&d, &curves, &lengths);
		for (int k = 0; k < ENDS_DRAWS; k++) {
			play(&d, stream, wanted);
			for (int i = 0; i < in->n_jobs; i++)
				drawn[(curves.items[i].job - in->jobs) * ENDS_DRAWS + k] =
					d.players[i].end_s;
		}
		for (int i = 0; i < in->n_jobs; i++)
			ends[i] = ends_of_draws(&drawn[(size_t)i * ENDS_DRAWS]);
		free(d.players);
		free(d.order);
		free(d.moved);
	}
	free(drawn);
	curves_release(&curves);
}
