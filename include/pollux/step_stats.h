/* step_stats.h - how long a step takes in one configuration, from a stream of step times.
 *
 *	struct step_stats s;
 *	step_stats_init(&s);				// at each launch, and for each configuration
 *	step_stats_add(&s, step_time_s, sync_time_s);	// every step; NaN: not reported
 *	step_stats_close_window(&s);			// every few seconds, and at the end
 *	if (step_stats_result(&s, &observation)) ...
 *
 * The median of a window's steps stands for the window, so that a step next to an evaluation or a
 * checkpoint does not count; the windows enter running moments, all with the same weight. So one must hold
 * something: with fewer than STEP_WINDOW_STEPS steps that took less than STEP_WINDOW_MIN_S together it stays
 * open when it is to be closed, and what is in it at the end is left out.
 *
 * Warm-up (compilation, cold caches, clocks that rise) is dropped: windows from the start on until two
 * consecutive ones agree, the larger median at most STEP_STEADY_RATIO times the smaller. That pair is the
 * first that counts. Where STEP_WARM_UP_MAX windows went by without such a pair the steps are taken to
 * vary by themselves, and every window after those counts. Windows without a step are none of them.
 *
 * From then on a window above STEP_OUTLIER_RATIO times the mean (a stall of the machine) waits for the
 * next: if that is too, both count; otherwise its steps are outliers.
 *
 * A window keeps at most STEP_WINDOW_SAMPLES steps, a uniform random sample of all of them; the
 * random numbers are the same in every run of the program. Constant memory and time per step. */
#ifndef POLLUX_STEP_STATS_H
#define POLLUX_STEP_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_WINDOW_SAMPLES 1024
#define STEP_WINDOW_STEPS 20
#define STEP_WINDOW_MIN_S 0.2
#define STEP_STEADY_RATIO 1.1
#define STEP_WARM_UP_MAX 10
#define STEP_TIME_MAX_S 1e6		/* longer ones are taken for errors */
#define STEP_OUTLIER_RATIO 3.0

/* What was learnt of one configuration. */
struct observation {
	int64_t n_steps;		/* in the windows that count */
	int64_t n_windows;		/* that count; 0: the times are NaN */
	double step_time_s;		/* mean of the windows' medians */
	double step_time_sd_s;		/* their standard deviation (n - 1); NaN for fewer than two */
	double step_time_min_s;		/* the least of them */
	double sync_time_s;		/* mean of the windows' median synchronisation; NaN: not reported */
	int64_t n_dropped;		/* steps dropped as warm-up; not yet those of a window whose
					   successor decides */
	int64_t n_outliers;		/* steps of more than STEP_OUTLIER_RATIO medians, estimated from
					   the sample where a window has more steps than it keeps; and
					   those of windows that were passed over */
	int64_t n_invalid;		/* times ignored: see step_stats_add */
};

struct step_sample {
	double step_s, sync_s;
};

/* A closed window. */
struct step_window {
	double step_s, sync_s;		/* medians */
	int64_t n_steps, n_outliers;
};

struct step_stats {
	struct observation sum;		/* step_time_sd_s is not kept up here, m2 is */
	double m2;			/* sum of squared deviations of the medians, seconds^2 */
	int64_t n_sync_windows;
	bool steady;			/* past the warm-up */
	int n_warm_up;			/* windows closed while it was not */
	struct step_window last;	/* the last of those: counts if the next one agrees; later, one that
					   waits for the next */
	bool holds;			/* there is such a one */
	uint64_t random;
	int64_t n_seen;			/* steps in the open window */
	double seen_s;			/* what they took together */
	struct step_sample samples[STEP_WINDOW_SAMPLES];
};

void step_stats_init(struct step_stats *s);

/* A step. Its time must be positive and at most STEP_TIME_MAX_S, otherwise the step is ignored;
 * the part spent in synchronisation must be within [0, step], otherwise that part is. NaN for
 * sync_time_s means not reported; all else that is ignored is counted in n_invalid. */
void step_stats_add(struct step_stats *s, double step_time_s, double sync_time_s);

/* A window without a step is as if it had not been; one with too little in it stays open. */
void step_stats_close_window(struct step_stats *s);

/* All closed windows; false while none counts (o is filled, its times are NaN). */
bool step_stats_result(const struct step_stats *s, struct observation *o);

/* Nothing learnt: the neutral element of merging. */
void observation_init(struct observation *o);

/* Add to o what another run learnt in the same configuration, as if all windows had been one run's.
 * (Of sync_time_s only if every window of a run that reports it did: the weights are n_windows.) */
void observation_merge(struct observation *o, const struct observation *other);

#endif
