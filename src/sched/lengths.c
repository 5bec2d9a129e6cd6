/* lengths.c - see lengths.h. */
#include <float.h>
#include <math.h>

#include "lengths.h"
#include "pollux/random_numbers.h"

#define FIRST_BIN_SLICES 0.25
#define SLICE_MIN_S 1e-6	/* so that no bin is empty or infinite, whatever the slice is */
#define SLICE_MAX_S 1e9
#define ENOUGH 1e-6		/* where fewer of the jobs are left, their ends change nothing */

static void set_rate(struct lengths *l, int bin, double chance)
{
	double width = l->from[bin + 1] - l->from[bin];

	l->rate[bin] = -log1p(-chance) / width;
	l->stay[bin] = exp(-l->rate[bin] * width);
}

struct lengths lengths_of(const struct curves *curves)
{
	const struct sched_input *in = curves->in;
	double slice_s = fmin(fmax(curves->slice_s, SLICE_MIN_S), SLICE_MAX_S);
	struct lengths l = { .from[0] = 0 };

	for (int k = 0; k < LENGTHS_BINS; k++)
		l.from[k + 1] = ldexp(FIRST_BIN_SLICES * slice_s, k);
	for (int i = 0; i < in->n_jobs; i++)
		for (int k = 0; k < LENGTHS_BINS; k++)
			l.seen[k] += curve_service_device_s(&curves->items[i]) >= l.from[k + 1];
	for (int i = 0; i < in->n_ended; i++)
		for (int k = 0; k < LENGTHS_BINS && in->ended_device_s[i] >= l.from[k]; k++) {
			l.seen[k]++;
			l.ended[k] += in->ended_device_s[i] < l.from[k + 1];
		}
	for (int k = 0; k < LENGTHS_BINS; k++)
		set_rate(&l, k, (l.ended[k] + LENGTHS_PRIOR / 2.0) / (l.seen[k] + LENGTHS_PRIOR));
	return l;
}

/* A gamma variate of scale 1 and of a shape of at least 1: G. Marsaglia and W. W. Tsang, "A simple
 * method for generating gamma variables", ACM Trans. Math. Softw. 26, 2000. */
static double random_gamma(uint64_t *random, double shape)
{
	double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = random_normal(random), v = 1 + c * x;

		v = v * v * v;
		if (v > 0 && -random_exponential(random, 1) < x * x / 2 + d * (1 - v + log(v)))
			return d * v;
	}
}

struct lengths lengths_draw(const struct lengths *lengths, uint64_t *random)
{
	struct lengths drawn = *lengths;

	for (int k = 0; k < LENGTHS_BINS; k++) {
		double stayed = lengths->seen[k] - lengths->ended[k];
		double x = random_gamma(random, LENGTHS_PRIOR / 2.0 + lengths->ended[k]);
		double y = random_gamma(random, LENGTHS_PRIOR / 2.0 + stayed);

		set_rate(&drawn, k, x / (x + y));
	}
	return drawn;
}

double lengths_kept_device_s(const struct curve *c)
{
	double length = fmax(c->remaining_device_s, c->behind_device_s);

	if (isnan(c->remaining_device_s))
		return (double)NAN;
	return fmin(LENGTHS_KEPT_PART * length, length - c->least * c->turn_cost_s);
}

double lengths_effective_device_s(const struct lengths *l, const struct curve *c,
				  double more_device_s)
{
	/* A job whose workload another job measures counts as if it had had its slice. */
	double counted = c->job->measured_elsewhere ? c->least * c->slice_s : 0;
	double service = fmax(curve_service_device_s(c), fmax(c->behind_device_s, counted)) +
			 more_device_s;
	double at = service, spent = 0, left = 1, best = HUGE_VAL;

	if (!isnan(c->remaining_device_s))
		return fmax(c->remaining_device_s, c->behind_device_s);
	for (int k = 0; k < LENGTHS_BINS && left > ENOUGH; k++) {
		double stay;

		if (service >= l->from[k + 1])
			continue;
		/* All jobs of a bin get the same value, to the last digit. */
		if (at <= service)
			best = 1 / l->rate[k];
		stay = at > l->from[k] ? exp(-l->rate[k] * (l->from[k + 1] - at)) : l->stay[k];
		spent += left * (1 - stay) / l->rate[k];
		left *= stay;
		if (at > service)
			best = fmin(best, spent / (1 - left));
		at = l->from[k + 1];
	}
	return isfinite(best) ? fmax(best, DBL_MIN) : fmin(service, DBL_MAX);
}
