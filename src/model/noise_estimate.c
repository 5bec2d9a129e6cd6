/* noise_estimate.c - estimates the noise scale at a position from windows of a workload's jobs, of
 * which it judges windows by their neighbours, and jobs by each other. */
#include <math.h>
#include <stdlib.h>

#include "noise_trust.h"
#include "pollux/mem.h"

/* --- windows --- */

static double distance(const struct noise_window *w, double position)
{
	return fabs((w->first_samples + w->last_samples) / 2 - position);
}

/* Merges a window as a set of entries with equal weights. Its sums of deviations are over
 * updates. */
static void merge_window(struct noise_scale *s, const struct noise_window *w, double fade)
{
	bool known = w->m2_sqr >= 0 && w->m2_var >= 0;
	double batch = (double)w->batch_size, samples = batch * (double)w->n;
	double entries = !known ? 1 : w->entries > 0 ? (double)w->entries : (double)w->n;
	double each = fade * samples / entries;
	double cross = isnan(w->cross) ? -w->m2_var / batch : w->cross;
	struct noise_scale window = {
		.weight = fade * samples, .weight_sqr = entries * each * each,
		.sqr = { .mean = w->mean_sqr, .m2 = known ? fade * batch * w->m2_sqr : 0 },
		.var = { .mean = w->mean_var, .m2 = known ? fade * batch * w->m2_var : 0 },
		.cross = known ? fade * batch * cross : 0,
	};

	noise_scale_merge(s, &window);
}

/* Adds the window, faded by its distance from the position. Returns the distance; NaN: the window
 * does not count. */
static double add_window(struct noise_scale *s, const struct noise_window *w, double position,
			 double horizon)
{
	double d = distance(w, position);

	if (!isfinite(d) || w->n <= 0 || w->batch_size <= 0)
		return (double)NAN;
	merge_window(s, w, exp(-d / horizon));
	return d;
}

/* --- whom to believe --- */

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

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts the values. */
static double lower_median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare_doubles);
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

static bool agrees_with_neighbours(const struct noise_trust *t, int i)
{
	const struct noise_window *w = &t->windows[i];
	double vars[NEIGHBOURHOOD], sqrs[NEIGHBOURHOOD];
	int n = 1;

	if (!is_usable(w))
		return false;
	vars[0] = fabs(w->mean_var);
	sqrs[0] = gradient_sqr(w);
	n = add_neighbours(t, i, -1, vars, sqrs, n);
	n = add_neighbours(t, i, 1, vars, sqrs, n);
	return n < 3 || (fabs(w->mean_var) <= NOISE_SPREAD * lower_median(vars, n) &&
			 fabs(w->mean_sqr) <= NOISE_SPREAD * lower_median(sqrs, n));
}

/* --- jobs --- */

static int find_witness(struct noise_trust *t, int64_t job_id)
{
	for (int i = t->n_witnesses - 1; i >= 0; i--)
		if (t->witnesses[i].job_id == job_id)
			return i;
	t->witnesses[t->n_witnesses].job_id = job_id;
	return t->n_witnesses++;
}

struct noise_trust *noise_trust_new(const struct noise_window *windows, int n, int64_t own_job,
				    int64_t initial_batch_size)
{
	struct noise_trust *t = xcalloc(1, sizeof(*t));

	*t = (struct noise_trust){
		.windows = windows, .n = n, .own_job = own_job,
		.batch_size = (double)initial_batch_size,
		.witness_of = xcalloc((size_t)n, sizeof(*t->witness_of)),
		.kept = xcalloc((size_t)n, sizeof(*t->kept)),
		.witnesses = xcalloc((size_t)n, sizeof(*t->witnesses)),
	};
	for (int i = 0; i < n; i++) {
		t->witness_of[i] = find_witness(t, windows[i].job_id);
		t->kept[i] = agrees_with_neighbours(t, i);
	}
	return t;
}

static void hear(struct noise_trust *t, double position, double horizon)
{
	for (int i = 0; i < t->n_witnesses; i++)
		t->witnesses[i] = (struct witness){ .job_id = t->witnesses[i].job_id };
	for (int i = 0; i < t->n; i++) {
		struct witness *w = &t->witnesses[t->witness_of[i]];

		if (t->kept[i])
			w->near |= add_window(&w->scale, &t->windows[i], position, horizon) <=
				   horizon;
	}
}

static bool is_within(double level, double known, double factor)
{
	return level <= known * factor && level >= known / factor;
}

/* Works out what the job knows by itself, and judges it by the initial batch size. */
static void judge_alone(const struct noise_trust *t, struct witness *w)
{
	const struct noise_scale *s = &w->scale;
	double low = noise_scale_interval(s).low;
	bool positive = s->sqr.mean > 0 && s->var.mean > 0;

	w->level = positive ? s->var.mean / s->sqr.mean : low;
	w->known = w->near && !isnan(low);
	w->believed = isnan(w->level) || !(t->batch_size > 0) ||
		      is_within(w->level, t->batch_size, NOISE_PLAUSIBLE * NOISE_PLAUSIBLE);
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

static bool believes_itself(const struct noise_trust *t, double *levels)
{
	const struct witness *own = NULL;
	int n = gather_levels(t, t->own_job, levels);

	for (int i = 0; i < t->n_witnesses; i++)
		if (t->witnesses[i].job_id == t->own_job)
			own = &t->witnesses[i];
	return own && own->believed && (n < NOISE_VOTERS || isnan(own->level) ||
		is_within(own->level, lower_median(levels, n), NOISE_PLAUSIBLE));
}

void noise_trust_at(struct noise_trust *t, double position, double horizon)
{
	double *levels = xcalloc((size_t)t->n_witnesses + 1, sizeof(*levels)), known;
	int n;

	hear(t, position, horizon);
	for (int i = 0; i < t->n_witnesses; i++)
		judge_alone(t, &t->witnesses[i]);
	t->own_is_believed = believes_itself(t, levels);
	n = gather_levels(t, 0, levels);
	known = n >= NOISE_VOTERS ? lower_median(levels, n) : (double)NAN;
	for (int i = 0; i < t->n_witnesses && !isnan(known); i++) {
		struct witness *w = &t->witnesses[i];

		w->believed = w->believed && w->known &&
			      is_within(w->level, known, NOISE_AGREEMENT);
	}
	free(levels);
}

/* --- the answers --- */

bool noise_trust_has(const struct noise_trust *t, int window)
{
	return t->kept[window] && t->witnesses[t->witness_of[window]].believed;
}

bool noise_trust_has_own(const struct noise_trust *t, int window)
{
	return t->kept[window] && t->own_is_believed &&
	       t->windows[window].job_id == t->own_job;
}

int64_t noise_trust_doubted(const struct noise_trust *t, int *n)
{
	int64_t first = 0;

	*n = 0;
	for (int i = 0; i < t->n_witnesses; i++) {
		const struct witness *w = &t->witnesses[i];

		if (!w->near || isnan(w->level) || !w->known || w->believed)
			continue;
		first = *n == 0 ? w->job_id : first;
		++*n;
	}
	return first;
}

void noise_trust_free(struct noise_trust *t)
{
	free(t->witness_of);
	free(t->kept);
	free(t->witnesses);
	free(t);
}

/* --- the estimate --- */

/* own: from the job's windows alone. */
static struct noise_estimate estimate(const struct noise_window *windows, int n,
				      const struct noise_trust *trust, bool own, double position,
				      double horizon)
{
	struct noise_estimate e = { .own = own };
	struct noise_scale s;

	noise_scale_init(&s);
	for (int i = 0; i < n; i++)
		if ((own ? noise_trust_has_own(trust, i) : noise_trust_has(trust, i)) &&
		    add_window(&s, &windows[i], position, horizon) <= horizon)
			e.n_updates += windows[i].n;
	e.noise_scale = noise_scale_value(&s);
	e.interval = noise_scale_interval(&s);
	e.expected = noise_scale_expected(&s);
	return e;
}

/* Estimates from the job's own windows, or from all if its own do not suffice. If both do not, the
 * job's own tell at least a bound, or else all do. */
static struct noise_estimate estimate_at(const struct noise_window *windows, int n,
					 struct noise_trust *trust, double position,
					 double horizon)
{
	struct noise_estimate e;
	int64_t doubted;
	int n_doubted;

	noise_trust_at(trust, position, horizon);
	doubted = noise_trust_doubted(trust, &n_doubted);
	e = estimate(windows, n, trust, true, position, horizon);
	if (isnan(e.noise_scale)) {
		struct noise_estimate all = estimate(windows, n, trust, false, position, horizon);

		e = isnan(all.noise_scale) && !isnan(e.interval.low) ? e : all;
	}
	e.doubted_job = doubted;
	e.n_doubted = n_doubted;
	return e;
}

static double farthest(const struct noise_window *windows, int n, double position)
{
	double farthest = 0;

	for (int i = 0; i < n; i++)
		farthest = fmax(farthest, distance(&windows[i], position));
	return farthest;
}

struct noise_estimate noise_estimate(const struct noise_window *windows, int n, int64_t own_job,
				     double position_samples, int64_t initial_batch_size)
{
	double position = position_samples > 0 ? position_samples : 0;
	double horizon = fmax(NOISE_HORIZON_RATIO * position,
			      fmax((double)(NOISE_HORIZON_UPDATES * initial_batch_size), 1));
	double reach = farthest(windows, n, position);
	struct noise_trust *trust = noise_trust_new(windows, n, own_job, initial_batch_size);
	struct noise_estimate e = estimate_at(windows, n, trust, position, horizon), near = e;

	while (isnan(e.noise_scale) && horizon < NOISE_WIDENING * reach) {
		horizon *= NOISE_WIDENING;
		e = estimate_at(windows, n, trust, position, horizon);
		if (isnan(near.interval.low))
			near = e;
	}
	noise_trust_free(trust);
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
