/* steady.h - decides when a step time is known well enough to stop measuring.
 *
 * The half-width of the 95 % confidence interval of the mean of the windows' medians, divided by
 * the mean:
 *
 *	t(0.975; k - 1) * deviation / sqrt(k) / mean,	k = n_windows / STEADY_KINSHIP
 *
 * where t is Student's quantile (student.h). Consecutive steps resemble each other (caches, clocks,
 * other programs), and so do windows, though less. A correlation of r = 1/3 between neighbours
 * doubles the variance of their mean, by (1 + r) / (1 - r), so two windows count as one. This is a
 * stopping rule: a profile that looks repeatedly and stops the first time the interval is narrow
 * enough covers the mean in fewer than 95 % of cases. Pure functions. */
#ifndef POLLUX_STEADY_H
#define POLLUX_STEADY_H

#include <stdbool.h>

#include "pollux/step_stats.h"

#define STEADY_KINSHIP 2.0		/* windows that count as one */
#define STEADY_WINDOWS 6		/* fewer do not determine their deviation */
#define STEADY_STEPS 20
#define STEADY_HALF_WIDTH 0.02

/* The half-width above; NaN for fewer than STEADY_WINDOWS windows. */
double steady_half_width(const struct observation *o);

/* True after at least STEADY_STEPS steps with a half-width below STEADY_HALF_WIDTH. */
bool steady_reached(const struct observation *o);

#endif
