/* pool.h - what all runs of one workload say together, on one kind of device: pollux-goodput(7).
 *
 *	struct pool_entry seen[] = { ... newest first ... };
 *	struct pool_entry pooled[N];
 *	int n = pool_observations(seen, N, pooled);	// one for each configuration
 *	n = pool_fit_observations(pooled, n, fit_seen);	// ready for fit_throughput
 *
 *	struct noise_window windows[] = { ... };
 *	struct noise_estimate e = noise_estimate(windows, M, own_job, position, M0);
 *
 * Pure functions. */
#ifndef POLLUX_POOL_H
#define POLLUX_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/fit.h"
#include "pollux/noise_scale.h"
#include "pollux/step_stats.h"
#include "pollux/throughput.h"

/* ---- step times ---- */

/* What one run, or several, measured in one configuration. */
struct pool_entry {
	struct configuration configuration;
	struct observation observation;
};

/* Older observations age out when they disagree with newer ones: going back in time, an entry joins
 * what is newer while its step time is within
 *
 *	max(POOL_AGREEMENT * step time, POOL_ERRORS standard errors of the difference)
 *
 * of theirs. The first that does not, and everything older of that configuration, is left out, once what
 * is newer has POOL_WINDOWS windows; until then the newer is left out instead, as a passing disturbance.
 *
 * What few windows say (fewer than POOL_WINDOWS) is passed over where, beside the same place and accumulation
 * steps measured by more, no model could explain it: a pass of b > a samples takes no less time than one of
 * a, and at most b / a times that, as every parameter is positive; POOL_IMPOSSIBLE of tolerance. It will be
 * tried again, as if it had not been measured.
 *
 * seen: n entries, newest first. pooled has room for n; returned is how many there are, one for each
 * configuration, in the order in which they first occur. Entries without a window are passed over. */
#define POOL_AGREEMENT 0.10
#define POOL_ERRORS 3.0
#define POOL_WINDOWS 5
#define POOL_IMPOSSIBLE 1.25
int pool_observations(const struct pool_entry *seen, int n, struct pool_entry *pooled);

/* With the weights of fit_weight; room for n. Returns n. */
int pool_fit_observations(const struct pool_entry *pooled, int n, struct fit_observation *fit);

/* ---- the noise scale ---- */

/* Estimates of |G|^2 and tr(Sigma) by n updates of batch_size samples, between two positions (samples
 * since the job's first launch). m2: sums of squared deviations from the means; NaN: not known, the
 * window then counts as one entry. */
struct noise_window {
	int64_t job_id;
	double first_samples, last_samples;	/* NaN: not known, the window is not used */
	int64_t batch_size, n;
	double mean_sqr, m2_sqr, mean_var, m2_var;
};

struct noise_estimate {
	double noise_scale;		/* samples; NaN: unknown */
	bool own;			/* from the job's own updates alone */
	int64_t n_updates;		/* it rests on, within a horizon of the position */
};

/* The noise scale of a job at a position in its training. A window counts by its samples times
 * exp(-distance / horizon), its distance being that of its middle from the position, and
 *
 *	horizon = max(NOISE_HORIZON_RATIO * position, NOISE_HORIZON_UPDATES * initial_batch_size)
 *
 * as the noise scale grows over a whole training, not over an update. The job's own windows decide where
 * they suffice (noise_scale.h says when); otherwise all of the workload's: other jobs were at the same
 * position once, and a job that starts knows what they knew.
 *
 * Where neither tell, the horizon is widened NOISE_WIDENING times, and again until it is as much wider than all there is.
 * Towards the end of a training |G|^2 often drowns in its own error while phi is larger than ever: to call
 * it unknown would send a job back to its initial batch size. What was known before is too small, which
 * is the safe side. */
#define NOISE_HORIZON_RATIO 0.25
#define NOISE_HORIZON_UPDATES 200
#define NOISE_WIDENING 4.0
struct noise_estimate noise_estimate(const struct noise_window *windows, int n, int64_t own_job,
				     double position_samples, int64_t initial_batch_size);

#endif
