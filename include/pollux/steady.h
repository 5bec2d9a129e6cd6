/* steady.h - whether a step time is known well enough to stop measuring it.
 *
 * The half-width of the 95 % confidence interval of the mean of the windows' medians, of that mean:
 *
 *	t(0.975; k - 1) * deviation / sqrt(k) / mean,	k = n_windows / STEADY_KINSHIP
 *
 * t is Student's (student.h). Steps that follow each other resemble each other (caches, clocks, what else
 * runs), and so do windows, if less: a correlation of 1/3 from each to the next doubles the variance of their mean, (1 + r) / (1 - r), so that
 * two windows count as one. Who looks again and again, and stops the first time that it is narrow enough, as a
 * profile does, has an interval that covers the mean in fewer than 95 % of cases: it is a rule of stopping.
 * Pure functions. */
#ifndef POLLUX_STEADY_H
#define POLLUX_STEADY_H

#include <stdbool.h>

#include "pollux/step_stats.h"

#define STEADY_KINSHIP 2.0
#define STEADY_WINDOWS 6		/* fewer do not tell their deviation */
#define STEADY_STEPS 20
#define STEADY_HALF_WIDTH 0.02

/* NaN for fewer than STEADY_WINDOWS windows. */
double steady_half_width(const struct observation *o);

/* At least STEADY_STEPS steps, and a half-width below STEADY_HALF_WIDTH. */
bool steady_reached(const struct observation *o);

#endif
