/* ends_lengths.c - how long the jobs of a draw are, see ends_play.h. */
#include <math.h>
#include <stdlib.h>

#include "claims.h"
#include "ends_play.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"
#include "pollux/siblings.h"

#define MEASURED_SLICES 0.1	/* after so much work the length is known of what it told */
/* Of the variance of a length that ended siblings tell: the part by which all jobs of the workload
 * differ from these together. */
#define SHARED_VARIANCE 0.4
#define REDRAWS 20		/* until a drawn length is above the service a job has had */

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

int draw_bin_of(const struct lengths *l, double service)
{
	int bin = 0;

	while (bin < LENGTHS_BINS && service >= l->from[bin + 1])
		bin++;
	return bin;
}

/* Each bin ends jobs at its own rate. */
double draw_length(struct draw *d, double service)
{
	double at = fmax(service, 0), left = random_exponential(&d->random, 1);

	for (int k = draw_bin_of(&d->truth, at); k < LENGTHS_BINS; k++) {
		double rate = d->truth.rate[k], to = d->truth.from[k + 1];

		if (rate * (to - at) >= left)
			return at + left / rate;
		left -= rate * (to - at);
		at = to;
	}
	return at;
}

/* --- siblings --- */

static bool is_told(const struct curve *c)
{
	return !isnan(c->remaining_device_s);
}

static int by_workload(const void *a, const void *b)
{
	const struct curve *x = *(struct curve *const *)a, *y = *(struct curve *const *)b;

	if (x->job->workload != y->job->workload)
		return x->job->workload < y->job->workload ? -1 : 1;
	return (x > y) - (x < y);
}

/* Finds the jobs that start as soon as a slice ends, as claims_brief.c does. */
static void find_brief(struct draw *d)
{
	const struct curves *curves = d->curves;
	double left_device_s = claims_brief_left_device_s(curves);
	int n = 0;

	d->n_brief = 0;
	for (int i = 0; i < curves->in->n_jobs; i++)
		if (claims_is_new_brief(curves, &curves->items[i]))
			d->brief[n++] = i;
	for (int k = 1; k < n; k++) {
		int index = d->brief[k], at = k;
		double device_s = claims_brief_device_s(&curves->items[index]);

		for (; at > 0 && claims_brief_device_s(&curves->items[d->brief[at - 1]]) > device_s;
		     at--)
			d->brief[at] = d->brief[at - 1];
		d->brief[at] = index;
	}
	while (d->n_brief < n && left_device_s >= 0) {
		left_device_s -= claims_brief_device_s(&curves->items[d->brief[d->n_brief]]);
		d->n_brief += left_device_s >= 0;
	}
}

void draws_find_siblings(struct draw *d)
{
	int n_jobs = d->curves->in->n_jobs, n = 0;
	struct curve **list = xcalloc((size_t)n_jobs, sizeof(struct curve *));

	for (int i = 0; i < n_jobs; i++) {
		struct curve *c = &d->curves->items[i];

		d->group_of[i] = -1;
		if (c->job->workload && c->least)
			list[n++] = c;
	}
	qsort(list, (size_t)n, sizeof(struct curve *), by_workload);
	for (int k = 0; k < n; k++) {
		d->n_groups += !k || list[k]->job->workload != list[k - 1]->job->workload;
		d->group_of[list[k] - d->curves->items] = d->n_groups - 1;
	}
	free(list);
	find_brief(d);
}

void draw_note_service(struct draw *d, const struct player *p)
{
	struct group *g = p->group < 0 ? NULL : &d->groups[p->group];

	if (g && !player_shows_length(d, p) &&
	    (g->pilot < 0 || p->service > d->players[g->pilot].service))
		g->pilot = (int)(p - d->players);
}

void draw_find_pilots(struct draw *d)
{
	for (int k = 0; k < d->n_groups; k++) {
		struct group *g = &d->groups[k];
		const struct player *pilot = g->pilot < 0 ? NULL : &d->players[g->pilot];

		if (!pilot || (player_may_run(pilot) && !player_shows_length(d, pilot)))
			continue;
		g->pilot = -1;
		for (int i = 0; i < d->curves->in->n_jobs; i++)
			if (d->players[i].group == k && player_may_run(&d->players[i]))
				draw_note_service(d, &d->players[i]);
	}
}

void draw_count_ended(struct draw *d, const struct player *p)
{
	struct group *g = p->group < 0 ? NULL : &d->groups[p->group];

	if (!g)
		return;
	g->n_ended++;
	g->ended_device_s += p->service;
}

/* --- players --- */

/* The rest of a job whose siblings told its length. common: by what all jobs of its workload differ
 * from these, in deviations. */
static double draw_rest(struct draw *d, const struct curve *c, double common)
{
	double unit = isnan(c->job->remaining_samples) ? 1 : c->unit;
	double whole = c->job->typical_work / unit, done = c->job->done_work / unit;
	/* Few siblings tell little of their spread: Student's t, of four degrees of freedom. */
	double spread = c->job->remaining_spread *
			sqrt(2 / (random_exponential(&d->random, 1) +
				  random_exponential(&d->random, 1)));
	double own = spread * sqrt(1 - SHARED_VARIANCE), drawn = 0;

	if (!(whole > 0)) {
		done = curve_service_device_s(c);
		whole = done + c->remaining_device_s;
	}
	whole *= exp(spread * sqrt(SHARED_VARIANCE) * common);
	for (int k = 0; k < REDRAWS && !(drawn > done); k++)
		drawn = whole * exp(own * random_normal(&d->random));
	return drawn > done ? drawn - done
			    : c->remaining_device_s * random_exponential(&d->random, 1);
}

/* The service at its end of a job whose length nobody told. */
static double draw_alike(struct draw *d, const struct curve *c, struct group *g)
{
	double service = curve_service_device_s(c), length = 0;

	if (!g)
		return draw_length(d, service);
	if (isnan(g->length)) {	/* the pilot comes first */
		length = draw_length(d, service);
		g->length = length * exp(SIBLINGS_SPREAD * random_normal(&d->random));
		return length;
	}
	for (int k = 0; k < REDRAWS && length <= service; k++)
		length = g->length * exp(SIBLINGS_SPREAD * random_normal(&d->random));
	return length > service ? length : draw_length(d, service);
}

void draw_set_kept(const struct draw *d, struct player *p, double began_s)
{
	const struct curves *curves = d->curves;
	const struct curve *c = p->curve;
	bool is_first = !c || (!(p->service > 0) && !c->job->restarts);
	double restart_s = c ? c->restart_s : d->restart_s;
	double slice_s = c ? c->slice_s : curves->slice_s;

	p->settled_s = began_s + (c ? curve_settle_s(curves, c)
				    : CURVE_SETTLE_RESTARTS * restart_s);
	p->turn_s = fmax(p->settled_s, began_s + CURVE_SLICE_RESTARTS * restart_s);
	p->kept_s = began_s + (is_first ? fmax(curves->slice_s + restart_s, slice_s) : slice_s);
}

/* What is left of the start of a job that has devices, and how long it keeps them. */
static void set_running(const struct draw *d, struct player *p)
{
	const struct curve *c = p->curve;
	double since_s = c->job->launched_s - d->curves->in->now_s;

	p->delay_s = player_counts_start(p, !c->job->restarts) ? 0
		: fmin(fmax(since_s + c->restart_s, 0), c->restart_s);
	draw_set_kept(d, p, since_s);
}

static struct player player_of(struct draw *d, const struct curve *c, double common)
{
	const struct rate_error *e = !c->job->adapts ? &fixed_error
				     : c->job->attained_service_device_s > 0 ? &adapting_error
									     : &fresh_error;
	int index = (int)(c - d->curves->items), group = d->group_of[index];
	double service = curve_service_device_s(c);
	bool told = is_told(c);
	struct player p = {
		.curve = c, .modelled = isfinite(c->spread) && told, .told = told,
		.trusted = told && c->spread <= SCHED_TRUSTED_SPREAD,
		.service = service, .least = c->least,
		.shows_at = c->job->tells_its_work
			? MEASURED_SLICES * d->curves->slice_s * c->least : HUGE_VAL,
		.group = group, .bin = draw_bin_of(d->lengths, service), .held = c->held,
		.start_s = c->held ? 0 : (double)NAN, .end_s = (double)NAN,
		.error = e->mean + e->spread * random_normal(&d->random),
		.doubling_error = e->doubling_mean +
				  e->doubling_spread * random_normal(&d->random),
	};

	if (told)
		p.work = c->job->remaining_spread > 0 ? draw_rest(d, c, common)
						      : c->remaining_device_s;
	else
		p.work = draw_alike(d, c, group < 0 ? NULL : &d->groups[group]) - service;
	p.told_work = told ? c->remaining_device_s : p.work;
	p.guess = !told && !c->job->tells_its_work && !isfinite(curve_limit_device_s(c));
	p.work = fmin(p.work, curve_limit_device_s(c));
	for (int r = 1; r <= d->curves->n_devices; r++)
		if (!isnan(c->of[r]))
			p.most = r;
	if (c->held && p.least)
		set_running(d, &p);
	return p;
}

/* The job of most service of a group, of those whose length is not told. NULL: there is none. */
static const struct curve *pilot_of(const struct draw *d, int group)
{
	const struct curve *pilot = NULL;

	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		const struct curve *c = &d->curves->items[i];

		if (d->group_of[i] == group && !is_told(c) &&
		    (!pilot || curve_service_device_s(c) > curve_service_device_s(pilot)))
			pilot = c;
	}
	return pilot;
}

/* The pilots first: what they have had tells of the others. */
void draw_players(struct draw *d)
{
	const struct curves *curves = d->curves;
	autofree double *common = xcalloc((size_t)d->n_groups + 1, sizeof(*common));

	d->n = curves->in->n_jobs;
	for (int i = 0; i < d->n; i++)
		d->players[i] = (struct player){ .group = -1, .end_s = 0 };
	for (int g = 0; g < d->n_groups; g++) {
		const struct curve *pilot = pilot_of(d, g);

		d->groups[g] = (struct group){
			.pilot = pilot ? (int)(pilot - curves->items) : -1, .length = (double)NAN,
		};
		common[g] = random_normal(&d->random);
		if (pilot)
			d->players[d->groups[g].pilot] = player_of(d, pilot, common[g]);
	}
	for (int i = 0; i < d->n; i++) {
		int group = d->group_of[i];

		if (group >= 0 && d->groups[group].pilot == i)
			continue;
		d->players[i] = player_of(d, &curves->items[i], group < 0
					  ? random_normal(&d->random) : common[group]);
	}
	for (int k = 0; k < d->n_brief; k++)
		d->players[d->brief[k]].brief = true;
}
