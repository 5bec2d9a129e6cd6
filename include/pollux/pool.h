/* pool.h - combines the measurements of all runs of a workload on one kind of device:
 * pollux-goodput(7).
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
#include "pollux/loss_sums.h"
#include "pollux/noise_scale.h"
#include "pollux/step_stats.h"
#include "pollux/text.h"
#include "pollux/throughput.h"

/* ---- step times ---- */

/* The measurements of one run, or of several, in one configuration. */
struct pool_entry {
	struct configuration configuration;
	struct observation observation;
};

/* Older observations are dropped when newer ones contradict them. For each configuration, entries
 * are merged from the newest back in time. An entry joins the merged ones while its step time
 * differs from theirs by at most
 *
 *	max(POOL_AGREEMENT * step time, POOL_ERRORS standard errors of the difference)
 *
 * At the first entry that does not, merging stops if the merged entries have POOL_WINDOWS windows
 * or more. With fewer windows the merged entries are dropped instead, as a passing disturbance.
 *
 * A configuration with fewer than POOL_WINDOWS windows is dropped if no model could explain its
 * time beside a well measured one, with the same place and accumulation steps. As every parameter
 * is positive, a pass of b > a samples takes at least the time of a samples, and at most b / a
 * times that time, with a tolerance of POOL_IMPOSSIBLE. The dropped configuration will be tried
 * again, as if it had not been measured.
 *
 * seen has n entries, newest first; pooled has room for n. Returns the number of pooled entries:
 * one for each configuration, in the order of first occurrence. Entries without a window are
 * ignored. */
#define POOL_AGREEMENT 0.10
#define POOL_ERRORS 3.0
#define POOL_WINDOWS 5
#define POOL_IMPOSSIBLE 1.25
int pool_observations(const struct pool_entry *seen, int n, struct pool_entry *pooled);
/* True if two observations of one configuration do not differ by more than the difference above. */
bool pool_agree(const struct observation *a, const struct observation *b);

/* Makes n observations, weighted by fit_weight(). Returns n. */
int pool_fit_observations(const struct pool_entry *pooled, int n, struct fit_observation *fit);

/* ---- the noise scale ---- */

/* Estimates of |G|^2 and tr(Sigma) from n updates of batch_size samples, between two positions in
 * the training, counted in samples since the first launch of the job. m2: sums of squared
 * deviations from the means. If they are NaN, the window counts as one entry. The n updates were
 * told of in entries reports (0: n), each with the mean of some. cross: the sum of the products of
 * deviations; NaN: not known, and taken to be what the two estimates have in common, the noise of
 * tr(Sigma) / batch_size in |G|^2. */
struct noise_window {
	int64_t job_id;
	double first_samples, last_samples;	/* NaN: unknown, the window is ignored */
	int64_t batch_size, n, entries;
	double cross;
	double mean_sqr, m2_sqr, mean_var, m2_var;
	struct loss_sums losses;	/* for batch_growth.h */
};

struct noise_estimate {
	double noise_scale;		/* samples; NaN: unknown */
	/* The interval in which the noise scale is. It may be known before the noise scale is. NaN:
	 * unknown. */
	struct noise_interval interval;
	double expected;		/* noise_scale_expected(), for decisions; NaN: unknown */
	bool own;			/* from updates of this job only */
	int64_t n_updates;		/* used, within one horizon of the position */
	/* Jobs whose statistics contradict what others say (noise_trust.h), and the first of them;
	 * 0: none. */
	int n_doubted;
	int64_t doubted_job;
};

/* The noise scale of a job at a position in its training. A window counts by its samples times
 * exp(-distance / horizon). The distance is from the middle of the window to the position, and
 *
 *	horizon = max(NOISE_HORIZON_RATIO * position, NOISE_HORIZON_UPDATES * initial_batch_size)
 *
 * since the noise scale grows over a whole training, not over an update. The job's own windows
 * decide where they suffice (noise_scale.h defines when). Otherwise the windows of all jobs of the
 * workload are
 * used: other jobs have passed this position, so even a job that starts knows the noise scale.
 *
 * Where neither suffices, the horizon is multiplied by NOISE_WIDENING, repeatedly, until it is that
 * many times the distance of the farthest window. Towards the end of a training |G|^2 often drowns
 * in its own error while phi is larger than ever. An unknown phi would send the job back to its
 * initial batch size, whereas an earlier phi is only too small, which is the safe side. Where
 * updates near the position let expect more than those farther away, the former count. */
#define NOISE_HORIZON_RATIO 0.25
#define NOISE_HORIZON_UPDATES 200
#define NOISE_WIDENING 4.0
struct noise_estimate noise_estimate(const struct noise_window *windows, int n, int64_t own_job,
				     double position_samples, int64_t initial_batch_size);
/* Adds "1230 (900 to 1700)" or "at least 700" to three digits, or "unknown". */
void noise_estimate_print(const struct noise_estimate *e, struct text *out);

#endif
