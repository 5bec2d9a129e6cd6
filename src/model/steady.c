/* steady.c - computes the confidence interval of a step time. */
#include "pollux/steady.h"

#include <math.h>

#include "pollux/student.h"

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
