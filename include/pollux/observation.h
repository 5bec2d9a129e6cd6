/* observation.h - one measured step time, from the windows of a run to the fit of a model.
 *
 * The same struct tells what became of a size that could not be timed. Who makes an observation
 * fills in what is known; all else is 0, and times that are not known are NaN. It owns nothing.
 * Pure functions. */
#ifndef POLLUX_OBSERVATION_H
#define POLLUX_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"

enum observation_outcome {
	OBSERVATION_MEASURED,
	OBSERVATION_NO_MEMORY,
	OBSERVATION_FAILED,	/* for another reason, or it ended before it could be timed */
	OBSERVATION_TOO_SLOW,	/* no step, or too few, in the time allowed */
};

struct observation {
	int64_t run_id, job_id;		/* the newest of those that are summed up; 0: not told */
	struct configuration configuration;
	enum observation_outcome outcome;
	int64_t n_steps;		/* in windows that count */
	int64_t n_windows;		/* those that count; 0: the times are NaN */
	double step_time_s;		/* of a whole update: mean of the windows' medians */
	/* their standard deviation (n - 1); NaN for fewer than two */
	double step_time_sd_s;
	double step_time_min_s;		/* least median */
	/* The part spent synchronising, in [0, step]: mean of the windows' medians; NaN: not
	 * reported. */
	double sync_time_s;
	/* warm-up steps, except those of a last window on which the next window decides */
	int64_t n_dropped;
	/* Steps of more than STEP_OUTLIER_RATIO medians, estimated if a window has more steps than
	 * it keeps; and all steps of windows that stalled. */
	int64_t n_outliers;
	int64_t n_invalid;		/* times that step_stats_add() ignored */
	int cores;			/* of its run, for each device: job.h, measured_cores */
	int64_t device_bytes, host_bytes;	/* most that its run took; 0: not known */
	double weight;			/* in the means of squares of a fit: fit_weight(), or 1 */
	double update_time_s;		/* wall clock: of the last write */
};

struct observation_list {
	struct observation *items;	/* owned */
	int count;
};
void observation_list_release(struct observation_list *list);

/* The standard deviation of n times; m2: the sum of squared deviations. NaN for fewer than two. */
double observation_deviation(double m2, int64_t n);

/* An observation without windows. To merge it changes nothing. */
void observation_init(struct observation *o);

/* Adds the windows of another run in the same configuration. The weights are n_windows, so
 * sync_time_s is exact only if every window of a run reports it, or none. */
void observation_merge(struct observation *o, const struct observation *other);

/* ---- of several runs ---- */

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
 * one for each configuration, in the order of first occurrence, weighted by fit_weight(). Entries
 * without a window are ignored. */
#define POOL_AGREEMENT 0.10
#define POOL_ERRORS 3.0
#define POOL_WINDOWS 5
#define POOL_IMPOSSIBLE 1.25
int pool_observations(const struct observation *seen, int n, struct observation *pooled);
/* True if two observations of one configuration do not differ by more than the difference above. */
bool pool_agree(const struct observation *a, const struct observation *b);

#endif
