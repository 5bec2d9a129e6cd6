/* core_speed.h - how much of a step's time falls with the number of cores, by step times that were
 * measured with different numbers.
 *
 *	T(c) = T(base) * core_speed_factor(&speed, c),	factor(c) = 1 + part * (base / c - 1)
 *
 * c is the number of cores for each device. part is the part of the step, at the base, that the
 * cores compute: 1 if all of it does, 0 if cores make no difference. This is T + k P / c of Rubick
 * (MLSys 2025) for the optimizer on the processor, without its number of parameters, which is the
 * same for all steps of a workload. part minimises the sum of squares of errors of logarithms, over
 * step times of one configuration with different numbers of cores. Pure functions. */
#ifndef POLLUX_CORE_SPEED_H
#define POLLUX_CORE_SPEED_H

#include <stdbool.h>

#include "pollux/observation.h"

struct core_speed {
	bool known;			/* a configuration was measured with two numbers */
	double part;			/* 0 to 1 */
	int base;			/* with which most steps were measured; 0: none */
};

/* A time without cores or without steps is ignored. */
struct core_speed core_speed_fit(const struct observation *times, int n);
/* 1 where nothing is known of the speed or of the cores. */
double core_speed_factor(const struct core_speed *speed, double cores);

#endif
