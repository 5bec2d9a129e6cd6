/* The chances that jobs end, by the jobs that have ended; and as they may be in truth. */
#include <math.h>

#include "sched/curve.h"
#include "sched/lengths.h"
#include "tap.h"
#include "pollux/mem.h"

#define SLICE_S 400	/* the first bins end at 100, 200 and 400 device-seconds */
#define DRAWS 20000

static struct lengths lengths_after(const double *ended, int n)
{
	struct sched_input in = { SCHED_ONE_KIND(1, 0), .slice_s = SLICE_S,
				  .ended_device_s = ended, .n_ended = n };
	scoped(curves_release) struct curves curves = curves_of(&in);
	struct lengths lengths = lengths_of(&curves);

	return lengths;
}

static double chance_of(const struct lengths *l, int bin)
{
	return 1 - exp(-l->rate[bin] * (l->from[bin + 1] - l->from[bin]));
}

/* Mean and standard deviation of a beta distribution with the weights a and b. */
static void check_draws(const struct lengths *l, int bin, double a, double b, const char *what)
{
	double sum = 0, squares = 0, mean, deviation;
	uint64_t random = 7;

	for (int i = 0; i < DRAWS; i++) {
		struct lengths drawn = lengths_draw(l, &random);
		double chance = chance_of(&drawn, bin);

		sum += chance;
		squares += chance * chance;
	}
	mean = sum / DRAWS;
	deviation = sqrt(squares / DRAWS - mean * mean);
	near(chance_of(l, bin), a / (a + b), 1e-9, what);
	near(mean, a / (a + b), 0.01, "the mean of the draws is that of a beta distribution");
	near(deviation, sqrt(a * b / (a + b + 1)) / (a + b), 0.03,
	     "the spread of the draws is that of a beta distribution");
}

int main(void)
{
	/* Three of these jobs end in the second bin; five reach its beginning. */
	static const double ended[] = { 50, 150, 160, 170, 1000, 2000 };
	struct lengths nothing = lengths_after(NULL, 0), some = lengths_after(ended, 6);
	double many[60];
	struct lengths more;

	for (int i = 0; i < 60; i++)
		many[i] = ended[i % 6];
	more = lengths_after(many, 60);
	check_draws(&nothing, 1, 2, 2, "no ended jobs give an even chance");
	check_draws(&some, 1, 2 + 3, 2 + 2,
		    "some ended jobs raise the chance of the bin in which most end");
	check_draws(&more, 1, 2 + 30, 2 + 20, "ten times as many ended jobs tell more");
	return done();
}
