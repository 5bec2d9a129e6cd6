/* core_speed.c - see pollux/core_speed.h. */
#include "pollux/core_speed.h"

#include <math.h>

#define PARTS 100		/* part is found to 1 % */
#define MOST_STEPS 1e4		/* more steps of one configuration are no surer */

static bool time_counts(const struct observation *t)
{
	return t->cores > 0 && t->step_time_s > 0 && isfinite(t->step_time_s) && t->n_steps > 0;
}

static int find_base(const struct observation *times, int n)
{
	double most = 0;
	int base = 0;

	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int k = 0; k < n; k++)
			if (time_counts(&times[k]) && times[k].cores == times[i].cores)
				sum += (double)times[k].n_steps;
		if (time_counts(&times[i]) &&
		    (sum > most || (sum >= most && times[i].cores < base))) {
			most = sum;
			base = times[i].cores;
		}
	}
	return base;
}

double core_speed_factor(const struct core_speed *speed, double cores)
{
	if (!speed->known || !(cores > 0))
		return 1;
	return 1 + speed->part * (speed->base / cores - 1);
}

static bool are_alike(const struct observation *a, const struct observation *b)
{
	return time_counts(a) && time_counts(b) &&
	       configuration_equal(&a->configuration, &b->configuration);
}

static double weight_of(const struct observation *t)
{
	return fmin((double)t->n_steps, MOST_STEPS);
}

/* The squared errors of one configuration, that of times[first], which the mean error leaves. */
static double error_of(const struct observation *times, int n, int first,
		       const struct core_speed *speed)
{
	double sum = 0, squares = 0, weight = 0;

	for (int i = first; i < n; i++) {
		double y;

		if (!are_alike(&times[first], &times[i]))
			continue;
		y = log(times[i].step_time_s / core_speed_factor(speed, times[i].cores));
		sum += weight_of(&times[i]) * y;
		squares += weight_of(&times[i]) * y * y;
		weight += weight_of(&times[i]);
	}
	return weight > 0 ? squares - sum * sum / weight : 0;
}

static bool is_first(const struct observation *times, int i)
{
	for (int k = 0; k < i; k++)
		if (are_alike(&times[k], &times[i]))
			return false;
	return time_counts(&times[i]);
}

struct core_speed core_speed_fit(const struct observation *times, int n)
{
	struct core_speed best = { .base = find_base(times, n) };
	double least = HUGE_VAL;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			best.known |= are_alike(&times[i], &times[k]) &&
				      times[i].cores != times[k].cores;
	for (int p = 0; best.known && p <= PARTS; p++) {
		struct core_speed speed = { true, (double)p / PARTS, best.base };
		double error = 0;

		for (int i = 0; i < n; i++)
			if (is_first(times, i))
				error += error_of(times, n, i, &speed);
		if (error < least) {
			least = error;
			best.part = speed.part;
		}
	}
	return best;
}
