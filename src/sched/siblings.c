/* siblings.c - see siblings.h. */
#include <math.h>

#include "pollux/siblings.h"

/* In deviations of the logarithm: the amounts of work that are tried, from so far below the typical
 * length to so far above, and beyond that how the end of the distribution goes on. */
#define FROM (-4.0)
#define STEP 0.2
#define FAR 6.0
#define CHANCE_MIN 1e-9

void siblings_add(struct siblings *s, double work)
{
	double off;

	if (!(work > 0) || !isfinite(work))
		return;
	off = log(work) - s->mean;
	s->n++;
	s->mean += off / s->n;
	s->squares += off * (log(work) - s->mean);
}

double siblings_spread(const struct siblings *s)
{
	double squares = SIBLINGS_PRIOR * SIBLINGS_SPREAD * SIBLINGS_SPREAD + s->squares;

	if (!s->n)
		return (double)NAN;
	return hypot(sqrt(squares / (SIBLINGS_PRIOR + s->n - 1) * (1 + 1.0 / s->n)), s->apart);
}

/* The part of a normal distribution above x. */
static double above(double x)
{
	return erfc(x / sqrt(2)) / 2;
}

/* The least over D of E(work until it ends, or D) / P(it ends within D), after `from` deviations of
 * the logarithm, in units of the typical length. */
static double index_of(double spread, double from)
{
	double done = exp(spread * from), left = above(from), mean = exp(spread * spread / 2);
	double first = fmax(from, FROM) + STEP / 2, least = HUGE_VAL;

	if (from > FAR)		/* there an end has this chance for each unit of work */
		return done * spread / from;
	for (int i = 0; first + i * STEP < FAR + STEP; i++) {
		double z = first + i * STEP;
		double chance = (left - above(z)) / left;
		double ended = mean * (above(from - spread) - above(z - spread)) / left;
		double spent = ended - done * chance +
			       (exp(spread * z) - done) * (1 - chance);

		if (chance > CHANCE_MIN)
			least = fmin(least, spent / chance);
	}
	return least;
}

double siblings_remaining(const struct siblings *s, double done)
{
	double spread = siblings_spread(s), typical = exp(s->mean), part = done / typical;
	double from = part > 0 ? log(part) / spread : -HUGE_VAL;
	double unlike = 1.0 / (s->n + 2), alike = (1 - unlike) * above(from);

	if (!s->n || alike < unlike / (1 + fmax(part, 0)))
		return (double)NAN;
	return typical * index_of(spread, from);
}
