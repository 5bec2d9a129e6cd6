/* step_stats.h - robust mean of the step times of one configuration.
 *
 * A window counts by the median of its steps, so that a step beside an evaluation or a checkpoint
 * does not matter. Windows enter running moments with equal weights, so each must hold enough: a
 * window with fewer than STEP_WINDOW_STEPS steps that took less than STEP_WINDOW_MIN_S together
 * stays open when it is to be closed. What such a window holds at the end is left out.
 *
 * Warm-up (compilation, cold caches, rising clocks) is dropped: windows from the start until two
 * consecutive ones agree, with the larger median at most STEP_STEADY_RATIO times the smaller. That
 * pair counts. If STEP_WARM_UP_MAX windows pass without such a pair, step times are taken to vary
 * by themselves, and every later window counts. Windows without a step are ignored.
 *
 * After the warm-up a window above STEP_OUTLIER_RATIO times the mean (a stall of the machine) waits
 * for the next one. If the next one is above too, both count; otherwise the steps of the first are
 * outliers.
 *
 * Until a window counts, step_stats_provisional() returns the last one: a first figure for a
 * configuration of which nothing else is known. It never returns the first window of all.
 *
 * A step that is reported with the mean time of several steps counts once in the median, and with
 * the time of all of them in what the window holds.
 *
 * A window keeps at most STEP_WINDOW_SAMPLES steps, a uniform random sample. The random numbers are
 * the same in every run of the program. Constant memory and time per step. */
#ifndef POLLUX_STEP_STATS_H
#define POLLUX_STEP_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/observation.h"

#define STEP_WINDOW_SAMPLES 1024
#define STEP_WINDOW_STEPS 20
#define STEP_WINDOW_MIN_S 0.2
#define STEP_STEADY_RATIO 1.1
#define STEP_WARM_UP_MAX 10
#define STEP_PROVISIONAL_WINDOWS 2
#define STEP_TIME_MAX_S 1e6		/* longer times are ignored as errors */
#define STEP_OUTLIER_RATIO 3.0

struct step_sample {
	double step_s, sync_s;
};

/* A closed window. */
struct step_window {
	double step_s, sync_s;		/* medians */
	int64_t n_steps, n_outliers;
};

struct step_stats {
	struct observation sum;		/* all but step_time_sd_s, which follows from m2 */
	double m2;			/* sum of squared deviations of the medians, seconds^2 */
	int64_t n_sync_windows;
	bool steady;			/* past the warm-up */
	int n_warm_up;			/* windows closed before steady */
	/* Before steady: the last window, which counts if the next one agrees. Afterwards: a slow
	 * window that waits for the next one. */
	struct step_window last;
	bool holds;			/* a slow window waits in last */
	uint64_t random;
	int64_t n_seen;			/* steps in the open window */
	double seen_s;			/* sum of their times */
	struct step_sample samples[STEP_WINDOW_SAMPLES];
};

void step_stats_init(struct step_stats *s);

/* Adds a step. A step time that is not in (0, STEP_TIME_MAX_S] is ignored. A synchronisation time
 * that is not in [0, step] is ignored, and the step counts without it. n_invalid counts both, but
 * not a sync_time_s of NaN, which means not reported. */
void step_stats_add(struct step_stats *s, double step_time_s, double sync_time_s);
/* The same with the mean times of n_steps steps, 1 or more. */
void step_stats_add_mean(struct step_stats *s, double step_time_s, double sync_time_s,
			 int64_t n_steps);

/* Closes the window. A window without a step is ignored, and one with too few stays open. */
void step_stats_close_window(struct step_stats *s);

/* Summarises the closed windows. Returns false while none counts: o is filled, with times of
 * NaN. */
bool step_stats_result(const struct step_stats *s, struct observation *o);

/* While no window counts: the last one as the only one, from the second one on. Returns false
 * where there is none, and leaves o as it was. */
bool step_stats_provisional(const struct step_stats *s, struct observation *o);

/* The median: for an even n the mean of the middle two, NaN for 0. Sorts the values. */
double median_of(double *values, int n);

/* ---- when a step time is known well enough to stop measuring ---- */

/* The half-width of the 95 % confidence interval of the mean of the windows' medians, divided by
 * the mean:
 *
 *	t(0.975; k - 1) * deviation / sqrt(k) / mean,	k = n_windows / STEADY_KINSHIP
 *
 * where t is Student's quantile (below). Consecutive steps resemble each other (caches, clocks,
 * other programs), and so do windows, though less. A correlation of r = 1/3 between neighbours
 * doubles the variance of their mean, by (1 + r) / (1 - r), so two windows count as one. This is a
 * stopping rule: a profile that looks repeatedly and stops the first time the interval is narrow
 * enough covers the mean in fewer than 95 % of cases. */
#define STEADY_KINSHIP 2.0		/* windows that count as one */
#define STEADY_WINDOWS 6		/* fewer do not determine their deviation */
#define STEADY_STEPS 20
#define STEADY_HALF_WIDTH 0.02

/* The half-width above; NaN for fewer than STEADY_WINDOWS windows. */
double steady_half_width(const struct observation *o);

/* True after at least STEADY_STEPS steps with a half-width below STEADY_HALF_WIDTH. */
bool steady_reached(const struct observation *o);

/* ---- confidence intervals ---- */

/* The 0.975 quantile of Student's t, by the expansion in 1 / freedom to the fourth power (M.
 * Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.5): within 1 % from 2
 * degrees of freedom on, 0.5 % from 4. Pure. */

#define STUDENT_NORMAL 1.959963984540054	/* 0.975 */

static inline double student_quantile(double freedom)
{
	double z = STUDENT_NORMAL, z2 = z * z, v = freedom;
	double g1 = (z2 + 1) / 4;
	double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

	return z * (1 + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v);
}

#endif
