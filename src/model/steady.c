/* steady.c - the confidence interval of a step time. */
#include "pollux/steady.h"

#include <math.h>

#define NORMAL_QUANTILE 1.959963984540054	/* 0.975 */

/* Student's quantile from the normal one, by powers of 1 / freedom: within 1 % from 2 degrees of freedom on. */
static double student_quantile(double freedom)
{
	double z = NORMAL_QUANTILE, z2 = z * z, v = freedom;
	double g1 = (z2 + 1) / 4;
	double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

	return z * (1 + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v);
}

double steady_half_width(const struct observation *o)
{
	double k = (double)o->n_windows / STEADY_KINSHIP;

	if (o->n_windows < STEADY_WINDOWS || !(o->step_time_s > 0))
		return (double)NAN;
	return student_quantile(k - 1) * o->step_time_sd_s / sqrt(k) / o->step_time_s;
}

bool steady_reached(const struct observation *o)
{
	return o->n_steps >= STEADY_STEPS && steady_half_width(o) < STEADY_HALF_WIDTH;
}
