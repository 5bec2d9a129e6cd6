/* noise_estimate.c - estimates the noise scale at a position from windows of a workload's jobs. */
#include <math.h>

#include "pollux/pool.h"

static double distance(const struct noise_window *w, double position)
{
	return fabs((w->first_samples + w->last_samples) / 2 - position);
}

/* Merges a window as a set of entries with equal weights. */
static void merge_window(struct noise_scale *s, const struct noise_window *w, double fade)
{
	bool known = w->m2_sqr >= 0 && w->m2_var >= 0;
	double entries = known ? (double)w->n : 1, samples = (double)w->batch_size * (double)w->n;
	double each = fade * samples / entries;
	struct noise_scale window = {
		.weight = entries * each, .weight_sqr = entries * each * each,
		.sqr = { .mean = w->mean_sqr, .m2 = known ? each * w->m2_sqr : 0 },
		.var = { .mean = w->mean_var, .m2 = known ? each * w->m2_var : 0 },
	};

	noise_scale_merge(s, &window);
}

static struct noise_estimate estimate(const struct noise_window *windows, int n, int64_t only_job,
				      double position, double horizon)
{
	struct noise_estimate e = { .own = only_job != 0 };
	struct noise_scale s;

	noise_scale_init(&s);
	for (int i = 0; i < n; i++) {
		const struct noise_window *w = &windows[i];
		double d = distance(w, position);

		if ((only_job && w->job_id != only_job) || !isfinite(d) || w->n <= 0 ||
		    w->batch_size <= 0)
			continue;
		merge_window(&s, w, exp(-d / horizon));
		if (d <= horizon)
			e.n_updates += w->n;
	}
	e.noise_scale = noise_scale_value(&s);
	return e;
}

/* Estimates from the job's own windows, or from all if its own do not suffice. */
static struct noise_estimate estimate_at(const struct noise_window *windows, int n, int64_t own_job,
					 double position, double horizon)
{
	struct noise_estimate e = estimate(windows, n, own_job, position, horizon);

	return isnan(e.noise_scale) ? estimate(windows, n, 0, position, horizon) : e;
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
	struct noise_estimate e = estimate_at(windows, n, own_job, position, horizon);

	while (isnan(e.noise_scale) && horizon < NOISE_WIDENING * reach) {
		horizon *= NOISE_WIDENING;
		e = estimate_at(windows, n, own_job, position, horizon);
	}
	return e;
}
