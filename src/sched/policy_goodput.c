/* policy_goodput.c - the allocation worth most, and nobody waits for ever.
 *
 * 1. claims.h: what is protected is kept, what is overdue is started.
 * 2. worth.h: what each number of devices is worth to each job.
 * 3. allocation.h: the allocation that these allow with the largest sum of worth.
 *
 * That a decision, once carried out, is not revised for as long as nothing else changes: what was
 * chosen gains as much (no restart to come) as any other choice, or more, and the claims of what was
 * launched are those it was launched by.
 *
 * Why nobody starves (the bound in policy.h). Let W have waited for B, at its largest; so have all
 * that have waited longer, and they are overdue, and stay so, with W. Let X be the first of these
 * that does not fit: those before it start in this pass, and X is the first of all in the next. It
 * gathers: from now on nothing is launched or relaunched; what was launched so far is protected for its slice, and
 * what is about to end for CLAIMS_END_RESTARTS of its restarts after the last of these. At the first pass after that
 * nothing is protected and X starts. As nobody who starts waiting now has waited longer than X, there are at most
 * |A| + 1 such times before W itself has started. */
#include <math.h>
#include <stdlib.h>

#include "allocation.h"
#include "backfill.h"
#include "claims.h"
#include "curve.h"
#include "pollux/mem.h"
#include "reason.h"
#include "worth.h"

/* A waiting job in line. */
struct waiting {
	int index;		/* of the curve */
	bool overdue;
	double since_s;
	int before;		/* jobs that have waited longer, or as long and come first */
	double density;		/* worth per device, on its least */
};

struct decision {
	const struct curves *curves;
	const struct claims *claims;
	const struct worths *worths;
	int *count;
	int fixed;		/* devices that jobs which are not preemptible have by it */
	bool has_fixed;		/* there are such jobs, with devices or without */
	double overdue_s;	/* when the first of the others in line is, or INFINITY */
	struct sched_choice *choices;
};

/* --- the decision --- */

static void set_values(const struct decision *d, int index, double *value)
{
	const struct curves *curves = d->curves;
	const struct curve *c = &curves->items[index];

	for (int r = 0; r <= curves->n_devices; r++) {
		bool may = !isnan(c->of[r]) && claim_allows(&d->claims->items[index], r);

		/* Within the finite, whatever the input. */
		value[r] = may ? fmax(-1e300, fmin(worth_of(d->worths, c, r), 1e300)) : -HUGE_VAL;
	}
}

static void allocate(const struct decision *d)
{
	const struct curves *curves = d->curves;
	int n_jobs = curves->in->n_jobs, width = curves->n_devices + 1;
	double *values = xcalloc((size_t)n_jobs * (size_t)width, sizeof(*values));
	struct allocation_job *jobs = xcalloc((size_t)n_jobs, sizeof(*jobs));

	for (int i = 0; i < n_jobs; i++) {
		double *value = &values[(size_t)i * (size_t)width];

		set_values(d, i, value);
		jobs[i] = (struct allocation_job){ .held = curves->items[i].held, .value = value };
	}
	allocation_best(jobs, n_jobs, curves->n_devices, d->count);
	free(jobs);
	free(values);
}

/* --- those that run --- */

static void explain_running(const struct decision *d, int index, struct sched_choice *choice)
{
	const struct curve *c = &d->curves->items[index];

	reason_add_devices(choice->reason, choice->replicas);
	if (!c->job->preemptible) {
		reason_add(choice->reason, " to its end: not preemptible");
		return;
	}
	choice->reconfigure = choice->replicas == c->held && d->claims->gathering < 0 &&
			      worth_reconfiguring(d->curves, c);
	curve_explain_gain(d->curves, c, choice->replicas, choice->reason);
	if (choice->reconfigure)
		reason_add(choice->reason, "; relaunched, as its best configuration adds %.0f %%",
			   100 * (c->of[c->held] / c->now - 1));
}

/* --- those that wait --- */

static int since_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->since_s < y->since_s || x->since_s > y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	return x->index - y->index;
}

static int line_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->overdue != y->overdue)
		return x->overdue ? -1 : 1;
	if (x->overdue && (x->since_s < y->since_s || x->since_s > y->since_s))
		return x->since_s < y->since_s ? -1 : 1;
	if (!x->overdue && (x->density < y->density || x->density > y->density))
		return x->density > y->density ? -1 : 1;
	return x->index - y->index;
}

/* Of the jobs that are not preemptible those that were started behind the stuck one, or the others. */
static int find_fixed(const struct decision *d, bool behind, int64_t *ids, int *devices)
{
	const struct curves *curves = d->curves;
	int n = 0;

	*devices = 0;
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		bool is_behind = d->claims->stuck >= 0 && backfill_is_behind(curves, &d->claims->reserved, c);

		if (c->job->preemptible || !d->count[i] || is_behind != behind)
			continue;
		ids[n++] = c->job->id;
		*devices += d->count[i];
	}
	return n;
}

/* apart: those that were started behind the stuck one are told as such. */
static void explain_keepers(const struct decision *d, bool apart, char *reason)
{
	int64_t *ids = xcalloc((size_t)d->curves->in->n_jobs, sizeof(*ids));
	int devices, n = find_fixed(d, false, ids, &devices);
	int behind, n_behind = find_fixed(d, true, &ids[n], &behind);

	if (!n || !apart) {
		n += n_behind;
		devices += behind;
		n_behind = 0;
	}
	n = reason_add_jobs(reason, ids, n);
	reason_add(reason, n > 1 ? ", not preemptible, keep %d" : ", not preemptible, keeps %d", devices);
	if (n_behind) {
		n = find_fixed(d, true, ids, &behind);
		reason_add(reason, "; ");
		n = reason_add_jobs(reason, ids, n);
		reason_add(reason, n > 1 ? " run meanwhile" : " runs meanwhile");
	}
	free(ids);
}

/* Jobs that are not preemptible leave it too few, or one before it that waits for them. */
static bool explain_stuck(const struct decision *d, int index, char *reason)
{
	const struct curves *curves = d->curves;
	const struct curve *c = &curves->items[index];
	int stuck = d->claims->stuck;

	if (c->least <= curves->n_devices - d->fixed) {
		if (stuck < 0 || d->claims->items[index].kind != CLAIM_EXACT)
			return false;
		reason_add(reason, "not preemptible, so not before job %lld",
			   (long long)curves->items[stuck].job->id);
		return true;
	}
	reason_add(reason, "needs ");
	reason_add_devices(reason, c->least);
	reason_add(reason, " of %d; ", curves->n_devices);
	explain_keepers(d, index == stuck, reason);
	return true;
}

static double end_s(const struct decision *d, int index)
{
	const struct curve *c = &d->curves->items[index];
	bool runs_on = d->count[index] == c->held;
	double now_s = d->curves->in->now_s, launched_s = runs_on ? c->job->launched_s : now_s;
	double rate = runs_on ? c->now : c->of[d->count[index]];

	return fmax(now_s, launched_s + c->restart_s) + c->remaining_device_s / rate;
}

/* Not finer than it can be known: so a model that moves a little changes nothing. */
static double rounded_up(double now_s, double s)
{
	double left_s = s - now_s, grain_s = left_s > 600 ? 60 : left_s > 60 ? 10 : 1;

	return ceil(s / grain_s) * grain_s;
}

static int n_left(const struct decision *d)
{
	int left = d->curves->n_devices;

	for (int i = 0; i < d->curves->in->n_jobs; i++)
		left -= d->count[i];
	return left;
}

/* The job that runs whose end leaves enough for the first in line soonest, by what it lacks; -1: none
 * before the wait is over. */
static int ends_first(const struct decision *d, const struct waiting *w, double *next_start_s)
{
	int left = n_left(d), first = -1;

	for (int i = 0; i < d->curves->in->n_jobs; i++) {
		double at_s;

		if (!d->count[i] || d->count[i] + left < d->curves->items[w->index].least)
			continue;
		at_s = rounded_up(d->curves->in->now_s, end_s(d, i));
		if (at_s < *next_start_s || (isnan(*next_start_s) && isfinite(at_s))) {
			*next_start_s = at_s;
			first = i;
		}
	}
	return first;
}

/* The bound of policy.h, but for the time between passes; NaN: there is none. */
static double bound_s(const struct decision *d, const struct waiting *w)
{
	return d->has_fixed ? (double)NAN
			    : w->since_s + d->claims->limit_s + (w->before + 1) * d->claims->turn_s;
}

/* A job within its slice that would make room for the first in line at the end of it. */
struct yield {
	double at_s;
	int64_t id;
	int freed;
	double lost;
};

static int by_time(const void *a, const void *b)
{
	const struct yield *x = a, *y = b;

	if (x->at_s < y->at_s || x->at_s > y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static double slice_end_s(const struct decision *d, int index)
{
	const struct curve *c = &d->curves->items[index];
	bool starts_now = d->count[index] != c->held || d->choices[c->job - d->curves->in->jobs].reconfigure;

	return curve_slice_end_s(d->curves, c, starts_now);
}

static struct yield yield_of(const struct decision *d, int index, int lacking)
{
	const struct curve *c = &d->curves->items[index];
	int r = d->count[index], to = r > lacking ? r - lacking : 0;

	while (to > 0 && isnan(c->of[to]))
		to--;
	return (struct yield){
		.at_s = slice_end_s(d, index), .id = c->job->id, .freed = r - to,
		.lost = worth_lost(d->worths, c, r, to),
	};
}

/* It is in its slice, and no shorter at the end of it than the one that waits, if that is known. */
static bool yields(const struct decision *d, const struct waiting *w, int index, const struct yield *y)
{
	const struct curve *c = &d->curves->items[index], *waits = &d->curves->items[w->index];
	double now_s = d->curves->in->now_s, rate = d->count[index] == c->held ? c->now : c->of[d->count[index]];
	double left_device_s = c->remaining_device_s - (y->at_s - now_s) * rate;

	return c->job->preemptible && y->at_s > now_s && y->lost < w->density * y->freed &&
	       !(left_device_s < worth_length_device_s(d->curves, waits));
}

/* Jobs whose slices end soonest, as many as leave enough for the first in line: what they lose is less than it
 * gains. False: too few do, or not before the start told so far or before another in line is overdue. */
static bool explain_slices(const struct decision *d, const struct waiting *w, struct sched_choice *choice)
{
	const struct curves *curves = d->curves;
	struct yield *line = xcalloc((size_t)curves->in->n_jobs, sizeof(*line));
	int64_t *ids = xcalloc((size_t)curves->in->n_jobs, sizeof(*ids));
	int lacking = curves->items[w->index].least - n_left(d), n = 0, k = 0;
	bool told;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		if (!d->count[i])
			continue;
		line[n] = yield_of(d, i, lacking);
		n += yields(d, w, i, &line[n]);
	}
	qsort(line, (size_t)n, sizeof(*line), by_time);
	for (; k < n && lacking > 0; k++) {
		lacking -= line[k].freed;
		ids[k] = line[k].id;
	}
	told = k && lacking <= 0 && !(line[k - 1].at_s >= choice->next_start_s) && line[k - 1].at_s < d->overdue_s;
	if (told) {
		choice->next_start_s = line[k - 1].at_s;
		reason_add(choice->reason, "; waits for ");
		k = reason_add_jobs(choice->reason, ids, k);
		reason_add(choice->reason, k > 1 ? " to end their slices" : " to end its slice");
	}
	free(ids);
	free(line);
	return told;
}

/* Worth of each device that it has, or would start with. */
static double density(const struct decision *d, int index)
{
	const struct curve *c = &d->curves->items[index];

	return d->count[index] ? worth_lost(d->worths, c, d->count[index], 0) / d->count[index]
			       : worth_launched(d->worths, c, c->least) / c->least;
}

/* Of those that have devices the one that would lose least by leaving them, each; -1: none. */
static int next_to_yield(const struct decision *d)
{
	int index = -1;

	for (int i = 0; i < d->curves->in->n_jobs; i++)
		if (d->count[i] && d->curves->items[i].job->preemptible &&
		    (index < 0 || density(d, i) < density(d, index)))
			index = i;
	return index;
}

/* before: the job that comes next before it; -1: none. */
static void explain_before(const struct decision *d, const struct waiting *w, int before, char *reason)
{
	const struct curve *c = &d->curves->items[w->index], *first = before < 0 ? NULL : &d->curves->items[before];

	if (first && first->weight > c->weight &&
	    w->density / c->weight > density(d, before) / first->weight)
		reason_add(reason, "; jobs of more weight first");
	else if (first && !isnan(c->remaining_device_s) &&
		 d->worths->first_rank[before] > d->worths->first_rank[w->index])
		reason_add(reason, "; shorter jobs first");
	else if (first && d->count[before] && slice_end_s(d, before) > d->curves->in->now_s)
		reason_add(reason, "; job %lld has its slice", (long long)first->job->id);
	else
		reason_add(reason, "; others come first");
}

/* previous: the job before it in line, not overdue; -1: none. */
static void explain_order(const struct decision *d, const struct waiting *w, int place, int previous,
			  struct sched_choice *choice)
{
	int first = place == 1 ? ends_first(d, w, &choice->next_start_s) : -1;

	if (place == 1 && explain_slices(d, w, choice))
		return;
	if (first >= 0)
		reason_add(choice->reason, "; starts when job %lld ends, or sooner",
			   (long long)d->curves->items[first].job->id);
	else
		explain_before(d, w, previous < 0 ? next_to_yield(d) : previous, choice->reason);
}

static void explain_overdue(const struct decision *d, const struct waiting *w, int place,
			    struct sched_choice *choice)
{
	/* Behind the one that gathers each may gather for as long. */
	choice->next_start_s = d->claims->gathered_s + (place - 1) * d->claims->turn_s;
	reason_add(choice->reason, "needs ");
	reason_add_devices(choice->reason, d->curves->items[w->index].least);
	reason_add(choice->reason, "; waited over ");
	reason_add_duration(choice->reason, d->claims->limit_s);
	if (w->index != d->claims->gathering)
		reason_add(choice->reason, ", as those before it have");
	else if (d->claims->awaited < 0)
		reason_add(choice->reason, ": gathers devices as slices end");
	else
		reason_add(choice->reason, ": lets job %lld end first",
			   (long long)d->curves->items[d->claims->awaited].job->id);
}

static void explain_place(const struct decision *d, const struct waiting *line, int place,
			  struct sched_choice *choice)
{
	const struct waiting *w = &line[place - 1];
	const struct curve *c = &d->curves->items[w->index];

	reason_add_ordinal(choice->reason, place);
	reason_add(choice->reason, " in line; ");
	if (w->overdue) {
		explain_overdue(d, w, place, choice);
	} else {
		choice->next_start_s = bound_s(d, w);
		curve_explain_need(c, worth_length_device_s(d->curves, c), choice->reason);
		explain_order(d, w, place, place > 1 && !w[-1].overdue ? w[-1].index : -1, choice);
	}
	if (!isfinite(choice->next_start_s))
		choice->next_start_s = (double)NAN;
}

static void explain_waiting(struct decision *d)
{
	const struct curves *curves = d->curves;
	struct waiting *line = xcalloc((size_t)curves->in->n_jobs, sizeof(*line));
	int n = 0;

	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		struct sched_choice *choice = &d->choices[c->job - curves->in->jobs];

		if (d->count[i])
			continue;
		if (!c->least)
			curve_explain_impossible(curves, c, choice->reason);
		else if (!explain_stuck(d, i, choice->reason))
			line[n++] = (struct waiting){
				.index = i, .overdue = d->claims->items[i].overdue,
				/* One that is stopped now waits from now on. */
				.since_s = c->held ? curves->in->now_s : claims_waiting_since_s(curves, c),
				.density = worth_launched(d->worths, c, c->least) / c->least,
			};
	}
	qsort(line, (size_t)n, sizeof(*line), since_order);
	for (int i = 0; i < n; i++)
		line[i].before = i;
	qsort(line, (size_t)n, sizeof(*line), line_order);
	for (int i = 1; i < n; i++)
		d->overdue_s = fmin(d->overdue_s, line[i].since_s + d->claims->limit_s);
	for (int i = 0; i < n; i++)
		explain_place(d, line, i + 1,
			      &d->choices[curves->items[line[i].index].job - curves->in->jobs]);
	free(line);
}

static void decide(const struct sched_input *in, struct sched_choice *choices)
{
	struct curves curves = curves_of(in);
	struct claims claims = claims_of(&curves);
	struct worths worths = worths_of(&curves);
	struct decision d = {
		.curves = &curves, .claims = &claims, .worths = &worths, .choices = choices,
		.count = xcalloc((size_t)in->n_jobs, sizeof(*d.count)), .overdue_s = HUGE_VAL,
	};

	allocate(&d);
	for (int i = 0; i < in->n_jobs; i++) {
		struct sched_choice *choice = &choices[curves.items[i].job - in->jobs];

		*choice = (struct sched_choice){ .replicas = d.count[i], .next_start_s = (double)NAN };
		d.has_fixed |= curves.items[i].least && !curves.items[i].job->preemptible;
		if (!d.count[i])
			continue;
		explain_running(&d, i, choice);
		if (!curves.items[i].job->preemptible)
			d.fixed += d.count[i];
	}
	explain_waiting(&d);
	free(d.count);
	worths_release(&worths);
	claims_release(&claims);
	curves_release(&curves);
}

const struct policy policy_goodput = {
	.name = "goodput",
	.summary = "the most goodput, short jobs first, in time slices",
	.models_goodput = true,
	.decide = decide,
};
