/* noise_estimate.c - estimates the noise scale at a position from windows of a workload's jobs, of
 * which it judges windows by their neighbours, and jobs by each other. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/noise_scale.h"
#include "pollux/text.h"

/* --- windows --- */

static double distance(const struct noise_window *w, double position)
{
	return fabs((w->first_samples + w->last_samples) / 2 - position);
}

/* Merges a window as a set of entries with equal weights, faded by its distance from the position.
 * Its sums of deviations are over updates. Returns the distance; NaN: the window does not count. */
static double add_window(struct noise_scale *s, const struct noise_window *w, double position,
			 double horizon)
{
	double d = distance(w, position), fade = exp(-d / horizon);
	bool known = w->m2_sqr >= 0 && w->m2_var >= 0;
	double batch = (double)w->batch_size, samples = batch * (double)w->n, entries = 1, each;

	if (!isfinite(d) || w->n <= 0 || w->batch_size <= 0)
		return (double)NAN;
	if (known)
		entries = (double)(w->entries > 0 ? w->entries : w->n);
	each = fade * samples / entries;
	noise_scale_merge(s, &(struct noise_scale){
		.weight = fade * samples, .weight_sqr = entries * each * each,
		.sqr = { .mean = w->mean_sqr, .m2 = known ? fade * batch * w->m2_sqr : 0 },
		.var = { .mean = w->mean_var, .m2 = known ? fade * batch * w->m2_var : 0 },
		.cross = known ? fade * batch * (isnan(w->cross) ? -w->m2_var / batch : w->cross)
			       : 0,
	});
	return d;
}

/* --- whom to believe ---
 *
 * Averages of |G|^2 and tr(Sigma) follow the largest value among them: one report of 1e139 decides
 * for all jobs of a workload. Three rules bound what one report, one window and one job can do.
 *
 * A window is left out if its |tr(Sigma)| is more than NOISE_SPREAD times the median of those of
 * its neighbours (itself, two windows before and two after, of the same job), or if its |G|^2 is
 * more than NOISE_SPREAD times the median of their |g|^2 = |G|^2 + tr(Sigma) / M. This is the
 * running median of F. R. Hampel, "The influence curve and its role in robust estimation", J. Am.
 * Stat. Assoc. 69 (1974), 383-393, with a fixed limit: gradients change by orders of magnitude over
 * a training, but not from one window to the next. Two windows decide nothing.
 *
 * A job's own noise scale, from its windows that are left, is its level: tr(Sigma) / |G|^2, or the
 * low end of the interval where |G|^2 is not positive. No job is believed whose level is beyond
 * NOISE_PLAUSIBLE^2 times the initial batch size, or below the inverse of that: no other check
 * exists for a workload that only one job has measured.
 *
 * Three jobs that know their noise scale near the position, by updates within one horizon, outvote
 * any other. Then only such jobs count, and of these only those whose level is within
 * NOISE_AGREEMENT of the lower median of all levels. Whatever one further job says, the lower
 * median of four lies among the levels of any three of them. The quotient of sums lies between the
 * smallest and the largest quotient of their terms. So where three jobs have levels from a to c,
 * the result is from a / NOISE_AGREEMENT to c * NOISE_AGREEMENT. If two camps are of one size, the
 * lower one counts: a noise scale that is too small is the safe side.
 *
 * A job prefers its own windows to those of others, unless three others near the position are known
 * and its level differs from their lower median by more than the factor NOISE_PLAUSIBLE. */

#define NOISE_SPREAD 1e3
#define NOISE_PLAUSIBLE 1e3
#define NOISE_AGREEMENT 4.0
#define NOISE_VOTERS 3
#define NEIGHBOURS 2		/* on each side */
#define NEIGHBOURHOOD (2 * NEIGHBOURS + 1)
#define REACH 64		/* windows of other jobs may lie between those of one */

/* One job of the workload, at the position. */
struct witness {
	int64_t job_id;
	struct noise_scale scale;
	double level;			/* samples; NaN: unknown */
	bool near;			/* has updates within one horizon */
	bool known;			/* near, and an interval follows from its windows */
	bool believed;
};

struct noise_trust {
	const struct noise_window *windows;
	int n;
	int64_t own_job;
	double batch_size;
	int *witness_of;		/* owned; of each window */
	bool *kept;			/* owned; by the windows beside it */
	struct witness *witnesses;	/* owned */
	int n_witnesses;
	bool own_is_believed;
};

/* --- the median --- */

/* Sorts the values. */
static double lower_median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), number_compare);
	return values[(n - 1) / 2];
}

/* --- windows --- */

static double gradient_sqr(const struct noise_window *w)
{
	return fabs(w->mean_sqr) + fabs(w->mean_var) / (double)w->batch_size;
}

static bool is_usable(const struct noise_window *w)
{
	return w->n > 0 && w->batch_size > 0 && isfinite(w->mean_sqr) && isfinite(w->mean_var);
}

static int add_neighbours(const struct noise_trust *t, int i, int step, double *vars, double *sqrs,
			  int n)
{
	int found = 0;

	for (int k = i + step; k >= 0 && k < t->n && abs(k - i) <= REACH && found < NEIGHBOURS;
	     k += step) {
		const struct noise_window *w = &t->windows[k];

		if (w->job_id != t->windows[i].job_id || !is_usable(w))
			continue;
		vars[n] = fabs(w->mean_var);
		sqrs[n++] = gradient_sqr(w);
		found++;
	}
	return n;
}

/* --- jobs --- */

static struct noise_trust trust_new(const struct noise_window *windows, int n, int64_t own_job,
				    int64_t initial_batch_size)
{
	struct noise_trust t = {
		.windows = windows, .n = n, .own_job = own_job,
		.batch_size = (double)initial_batch_size,
		.witness_of = xcalloc((size_t)n, sizeof(*t.witness_of)),
		.kept = xcalloc((size_t)n, sizeof(*t.kept)),
		.witnesses = xcalloc((size_t)n, sizeof(*t.witnesses)),
	};

	for (int i = 0; i < n; i++) {
		const struct noise_window *w = &windows[i];
		double vars[NEIGHBOURHOOD], sqrs[NEIGHBOURHOOD];
		int of = t.n_witnesses - 1, m;

		while (of >= 0 && t.witnesses[of].job_id != w->job_id)
			of--;
		if (of < 0) {
			of = t.n_witnesses++;
			t.witnesses[of].job_id = w->job_id;
		}
		t.witness_of[i] = of;
		if (!is_usable(w))
			continue;
		vars[0] = fabs(w->mean_var);
		sqrs[0] = gradient_sqr(w);
		m = add_neighbours(&t, i, -1, vars, sqrs, 1);
		m = add_neighbours(&t, i, 1, vars, sqrs, m);
		t.kept[i] = m < 3 || (fabs(w->mean_var) <= NOISE_SPREAD * lower_median(vars, m) &&
				      fabs(w->mean_sqr) <= NOISE_SPREAD * lower_median(sqrs, m));
	}
	return t;
}

static bool is_within(double level, double known, double factor)
{
	return level <= known * factor && level >= known / factor;
}

/* Gathers the levels of the jobs that are known and believed, but for one. Returns how many. */
static int gather_levels(const struct noise_trust *t, int64_t but, double *levels)
{
	int n = 0;

	for (int i = 0; i < t->n_witnesses; i++) {
		const struct witness *w = &t->witnesses[i];

		if (w->known && w->believed && w->job_id != but)
			levels[n++] = w->level;
	}
	return n;
}

/* Judges the jobs at a position: each by what it knows by itself and the initial batch size, then
 * all by each other. */
static void judge(struct noise_trust *t, double position, double horizon)
{
	double *levels = xcalloc((size_t)t->n_witnesses + 1, sizeof(*levels)), known;
	int n;

	for (int i = 0; i < t->n_witnesses; i++)
		t->witnesses[i] = (struct witness){ .job_id = t->witnesses[i].job_id };
	for (int i = 0; i < t->n; i++) {
		struct witness *w = &t->witnesses[t->witness_of[i]];

		if (t->kept[i])
			w->near |= add_window(&w->scale, &t->windows[i], position, horizon) <=
				   horizon;
	}
	for (int i = 0; i < t->n_witnesses; i++) {
		struct witness *w = &t->witnesses[i];
		double low = noise_scale_interval(&w->scale).low;
		bool positive = w->scale.sqr.mean > 0 && w->scale.var.mean > 0;

		w->level = positive ? w->scale.var.mean / w->scale.sqr.mean : low;
		w->known = w->near && !isnan(low);
		w->believed = isnan(w->level) || !(t->batch_size > 0) ||
			      is_within(w->level, t->batch_size, NOISE_PLAUSIBLE * NOISE_PLAUSIBLE);
	}
	t->own_is_believed = false;
	n = gather_levels(t, t->own_job, levels);
	known = n >= NOISE_VOTERS ? lower_median(levels, n) : (double)NAN;
	for (int i = 0; i < t->n_witnesses; i++) {
		const struct witness *w = &t->witnesses[i];

		if (w->job_id == t->own_job)
			t->own_is_believed = w->believed && (isnan(known) || isnan(w->level) ||
				is_within(w->level, known, NOISE_PLAUSIBLE));
	}
	n = gather_levels(t, 0, levels);
	known = n >= NOISE_VOTERS ? lower_median(levels, n) : (double)NAN;
	for (int i = 0; i < t->n_witnesses && !isnan(known); i++) {
		struct witness *w = &t->witnesses[i];

		w->believed = w->believed && w->known &&
			      is_within(w->level, known, NOISE_AGREEMENT);
	}
	free(levels);
}


/* --- the estimate --- */

/* own: from the job's windows alone. */
static struct noise_estimate estimate(const struct noise_trust *t, bool own, double position,
				      double horizon)
{
	struct noise_estimate e = { .own = own };
	struct noise_scale s = { 0 };

	for (int i = 0; i < t->n; i++) {
		bool counts = own ? t->own_is_believed && t->windows[i].job_id == t->own_job
				  : t->witnesses[t->witness_of[i]].believed;

		if (t->kept[i] && counts &&
		    add_window(&s, &t->windows[i], position, horizon) <= horizon)
			e.n_updates += t->windows[i].n;
	}
	e.noise_scale = noise_scale_value(&s);
	e.interval = noise_scale_interval(&s);
	e.expected = noise_scale_expected(&s);
	return e;
}

/* Estimates from the job's own windows, or from all if its own do not suffice. If both do not, the
 * job's own tell at least a bound, or else all do. Doubted are jobs that are known near the
 * position and not believed. */
static struct noise_estimate estimate_at(struct noise_trust *t, double position, double horizon)
{
	struct noise_estimate e;

	judge(t, position, horizon);
	e = estimate(t, true, position, horizon);
	if (isnan(e.noise_scale)) {
		struct noise_estimate all = estimate(t, false, position, horizon);

		e = isnan(all.noise_scale) && !isnan(e.interval.low) ? e : all;
	}
	for (int i = 0; i < t->n_witnesses; i++) {
		const struct witness *w = &t->witnesses[i];

		if (!w->near || isnan(w->level) || !w->known || w->believed)
			continue;
		if (e.n_doubted++ == 0)
			e.doubted_job = w->job_id;
	}
	return e;
}

struct noise_estimate noise_estimate(const struct noise_window *windows, int n, int64_t own_job,
				     double position_samples, int64_t initial_batch_size)
{
	double position = position_samples > 0 ? position_samples : 0, reach = 0;
	double horizon = fmax(NOISE_HORIZON_RATIO * position,
			      fmax((double)(NOISE_HORIZON_UPDATES * initial_batch_size), 1));
	struct noise_trust trust = trust_new(windows, n, own_job, initial_batch_size);
	struct noise_estimate e = estimate_at(&trust, position, horizon), near = e;

	for (int i = 0; i < n; i++)
		reach = fmax(reach, distance(&windows[i], position));
	while (isnan(e.noise_scale) && horizon < NOISE_WIDENING * reach) {
		horizon *= NOISE_WIDENING;
		e = estimate_at(&trust, position, horizon);
		if (isnan(near.interval.low))
			near = e;
	}
	free(trust.witness_of);
	free(trust.kept);
	free(trust.witnesses);
	return isnan(e.noise_scale) || near.expected > e.expected ? near : e;
}

/* Three digits; all of them below 1000. */
static double rounded(double x)
{
	double unit = x >= 1000 ? pow(10, floor(log10(x)) - 2) : 1;

	return round(x / unit) * unit;
}

void noise_estimate_print(const struct noise_estimate *e, struct text *out)
{
	if (isnan(e->interval.low))
		text_add(out, "unknown");
	else if (isnan(e->noise_scale) || isinf(e->interval.high))
		text_addf(out, "at least %.0f", rounded(e->interval.low));
	else if (e->interval.high - e->interval.low < 1e-3 * e->noise_scale)
		text_addf(out, "%.0f", rounded(e->noise_scale));
	else
		text_addf(out, "%.0f (%.0f to %.0f)", rounded(e->noise_scale),
			  rounded(e->interval.low), rounded(e->interval.high));
}
