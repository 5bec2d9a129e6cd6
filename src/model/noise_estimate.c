/* noise_estimate.c - estimates the noise scale at a position from windows of a workload's jobs. */
#include <math.h>

#include "pollux/noise_trust.h"

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

double noise_window_add(struct noise_scale *s, const struct noise_window *w, double position,
			double horizon)
{
	double d = distance(w, position);

	if (!isfinite(d) || w->n <= 0 || w->batch_size <= 0)
		return (double)NAN;
	merge_window(s, w, exp(-d / horizon));
	return d;
}

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
		    noise_window_add(&s, &windows[i], position, horizon) <= horizon)
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
