/* ends.c - draws of ends.h: in each the jobs play on until those that are asked for have ended. */
#include <math.h>
#include <stdlib.h>

#include "ends_play.h"
#include "pollux/ends.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"
#include "pollux/text.h"

#define TENTH 0.1
#define NEWCOMERS 200		/* in one draw; later ones hardly delay a job that is here now */
/* A look is at one job and one device. So many looks, over all draws, take about a tenth of a
 * second. No end is told for a job that has not ended by then. */
#define MOST_LOOKS 6e7
/* A likely start is told if its late draw is at most so many times as far as its early one, NEAR_S
 * added to both, and if at most so many of the draws rest on the end of a job of which nothing is
 * known. */
#define NEAR 10.0
#define NEAR_S 60.0
#define GUESSES_MOST 0.5
#define END_SPREAD_S 2.0	/* a start and an end take a little more or less time */

/* The work that r devices do in a second. */
static double rate_of(const struct player *p, int r)
{
	const struct curve *c = p->curve;
	double factor;
	int at = r;

	if (!p->modelled || !c)
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
		if (d->n_order > d->n_moved && player_is_kept(d, p))
			seconds = fmin(seconds, player_kept_s(d, p) - d->now_s);
		if (!player_shows_length(d, p) && p->bin < LENGTHS_BINS)
			seconds = fmin(seconds, (fmin(d->lengths->from[p->bin + 1], p->shows_at) -
						 p->service) / p->held);
	}
	return fmax(seconds, 0);
}

static void advance_player(struct draw *d, struct player *p, double seconds)
{
	double rate = rate_of(p, p->held), delay_s = fmin(p->delay_s, seconds);

	p->service += seconds * p->held;
	draw_note_service(d, p);
	while (p->bin < LENGTHS_BINS &&
	       p->service >= d->lengths->from[p->bin + 1] * (1 - 1e-12))
		p->bin++;
	p->delay_s -= delay_s;
	p->work -= (seconds - delay_s) * rate;
	p->told_work -= (seconds - delay_s) * rate;
	if (p->work > 1e-9 * rate || p->delay_s > 0)
		return;
	p->end_s = fmax(d->now_s + seconds +
			END_SPREAD_S * (2 * random_uniform(&d->random) - 1), 0);
	d->one_ended = true;
	d->n_guessed += p->guess;
	draw_count_ended(d, p);
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

static bool has_free_devices(const struct draw *d)
{
	int n = d->curves->n_devices;

	for (int k = 0; k < d->n_moved; k++)
		n -= d->moved[k]->held;
	return n > 0;
}

static void add_newcomer(struct draw *d)
{
	bool known = random_uniform(&d->random) < d->known_part;
	double length = draw_length(d, 0);

	d->players[d->n++] = (struct player){
		.work = length, .told_work = length, .told = known, .trusted = known,
		.group = -1, .shows_at = HUGE_VAL, .least = 1, .most = d->curves->n_devices,
		.start_s = (double)NAN, .end_s = (double)NAN,
	};
	d->next_s = ++d->n_came < NEWCOMERS
		? d->now_s + random_exponential(&d->random, d->gap_s) : HUGE_VAL;
}

static void begin_play(struct draw *d, const struct ends_stream *stream)
{
	d->n_ordered = d->n_order = d->n_wide = d->n_moved = d->n_came = d->n_guessed = 0;
	d->one_ended = false;
	d->now_s = 0;
	d->truth = lengths_draw(d->lengths, &d->random);
	draw_players(d);
	for (int i = 0; i < d->n; i++)
		if (d->players[i].held && player_may_run(&d->players[i]))
			d->moved[d->n_moved++] = &d->players[i];
	/* The mean gap was taken from few jobs, so the gap of a draw spreads around it. */
	d->gap_s = 2 * stream->gap_s / (random_exponential(&d->random, 1) +
					random_exponential(&d->random, 1));
	d->next_s = HUGE_VAL;
	if (random_uniform(&d->random) >= stream->stopped && stream->gap_s > 0)
		d->next_s = random_exponential(&d->random, d->gap_s);
}

static void play(struct draw *d, const struct ends_stream *stream, const bool *wanted)
{
	double n_steps = MOST_LOOKS / ENDS_DRAWS / d->curves->in->n_jobs /
			 (d->curves->n_devices + 1);

	begin_play(d, stream);
	for (int k = 0; k < n_steps && is_wanted(d, wanted); k++) {
		double seconds;

		/* What the jobs have now was decided already, unless devices are free, or a brief
		 * job has just come. */
		if (k || has_free_devices(d) || d->n_brief > 0)
			draw_give(d);
		else
			draw_order(d);
		seconds = time_to_event(d);
		for (int m = 0; m < d->n_moved; m++)
			if (d->moved[m]->held)
				advance_player(d, d->moved[m], seconds);
		d->now_s = isfinite(seconds) ? d->now_s + seconds : d->now_s;
		if (d->now_s >= d->next_s * (1 - 1e-12))
			add_newcomer(d);
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
		.groups = xcalloc((size_t)curves->in->n_jobs, sizeof(*d->groups)),
		.group_of = xcalloc((size_t)curves->in->n_jobs, sizeof(*d->group_of)),
		.brief = xcalloc((size_t)curves->in->n_jobs, sizeof(*d->brief)),
	};
	draws_find_siblings(d);
	for (int i = 0; i < curves->in->n_jobs; i++) {
		n_known += curves->items[i].spread <= SCHED_TRUSTED_SPREAD &&
			   !isnan(curves->items[i].remaining_device_s);
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

/* Sorts the draws, and sets the quantiles; NaN where too many draws are infinite. */
static void set_quantiles(double *drawn, double *from_s, double *middle_s, double *to_s)
{
	bool told;

	qsort(drawn, ENDS_DRAWS, sizeof(*drawn), number_compare);
	told = isfinite(quantile(drawn, 1 - TENTH));
	*from_s = told ? quantile(drawn, TENTH) : (double)NAN;
	*middle_s = told ? quantile(drawn, 0.5) : (double)NAN;
	*to_s = told ? quantile(drawn, 1 - TENTH) : (double)NAN;
}

void ends_of(const struct sched_input *in, const struct ends_stream *stream, const bool *wanted,
	     struct job_ends *ends)
{
	/* In a draw all devices are of one kind. */
	size_t n_jobs = (size_t)in->n_jobs;
	autofree struct sched_job *jobs = xcalloc(n_jobs, sizeof(*jobs));
	struct sched_input one = sched_merge_kinds(in, jobs);
	scoped(curves_release) struct curves curves = curves_of(&one);
	struct lengths lengths = lengths_of(&curves);
	autofree double *ended = xcalloc(n_jobs * ENDS_DRAWS, sizeof(*ended));
	autofree double *started = xcalloc(n_jobs * ENDS_DRAWS, sizeof(*started));
	autofree int *n_guesses = xcalloc(n_jobs, sizeof(*n_guesses));
	struct draw d = { 0 };

	if (in->n_jobs)
		begin_draws(&d, &curves, &lengths);
	for (int k = 0; in->n_jobs && k < ENDS_DRAWS; k++) {
		play(&d, stream, wanted);
		for (int i = 0; i < in->n_jobs; i++) {
			const struct player *p = &d.players[i];
			size_t job = (size_t)(curves.items[i].job - jobs);
			size_t at = job * ENDS_DRAWS + (size_t)k;

			ended[at] = isnan(p->end_s) ? HUGE_VAL : p->end_s;
			started[at] = isnan(p->start_s) ? HUGE_VAL : p->start_s;
			n_guesses[job] += p->rests_on_guess;
		}
	}
	for (size_t i = 0; i < n_jobs; i++) {
		struct job_ends *e = &ends[i];

		set_quantiles(&ended[i * ENDS_DRAWS], &e->from_s, &e->middle_s, &e->to_s);
		set_quantiles(&started[i * ENDS_DRAWS], &e->start_from_s, &e->start_middle_s,
			      &e->start_to_s);
		if (n_guesses[i] > GUESSES_MOST * ENDS_DRAWS ||
		    e->start_to_s + NEAR_S > NEAR * (e->start_from_s + NEAR_S))
			e->start_from_s = e->start_middle_s = e->start_to_s = (double)NAN;
	}
	for (size_t i = 0; i < n_jobs; i++)
		ends[curves.items[i].job - jobs].length_known =
			curve_length_is_known(&curves.items[i]);
	if (in->n_jobs) {
		free(d.players);
		free(d.order);
		free(d.moved);
		free(d.groups);
		free(d.group_of);
		free(d.brief);
	}
}

/* --- how jobs came of late, and whether more are to come --- */

#define BURST_S 600.0		/* jobs that came within this time may be all there are */
#define STOPS 0.05
#define LEAST_GAP_S 10.0
#define TOGETHER_S 5.0	/* jobs that come so near to each other came as one: a sweep, a script */

struct ends_stream ends_stream_of(const double *submitted_s, int n, double now_s)
{
	double newest[ENDS_NEWEST] = { 0 }, gap_s, odds;
	int kept = 0, n_gaps = 0;

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
	for (int k = 1; k < kept; k++)
		n_gaps += newest[k - 1] - newest[k] >= TOGETHER_S;
	if (n_gaps == 0)
		return (struct ends_stream){ .gap_s = (double)NAN };
	/* At each arrival the odds that it is the last one are STOPS to 1. Each mean gap without a
	 * job multiplies these odds by e. */
	gap_s = fmax(fmax(newest[0] - newest[kept - 1], 0) / n_gaps, LEAST_GAP_S);
	odds = STOPS * exp(fmin(fmax(now_s - newest[0], 0) / gap_s, 50));
	return (struct ends_stream){
		.gap_s = fmax(now_s - newest[kept - 1], BURST_S) / n_gaps,
		.stopped = odds / (1 + odds),
	};
}
