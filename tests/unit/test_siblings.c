/* What ended jobs of a workload tell of the next: the order that follows from the distribution, and
 * how far it is trusted. */
#include <math.h>

#include "pollux/siblings.h"
#include "tap.h"

static struct siblings of(int n, double work, double factor)
{
	struct siblings s = { 0 };

	for (int i = 0; i < n; i++)
		siblings_add(&s, i % 2 ? work * factor : work / factor);
	return s;
}

/* The least over D of E(min(rest, D)) / P(rest <= D), summed over so many equal parts of the
 * lognormal distribution. */
static double index_by_parts(double typical, double spread, double done)
{
	enum { PARTS = 4000 };
	double least = HUGE_VAL, spent = 0;

	for (int k = 0; k < 40 * PARTS; k++) {	/* D = k / PARTS */
		double d = typical * k / PARTS;
		double after = erfc(log((done + d) / typical) / spread / sqrt(2)) / 2;
		double before = done > 0 ? erfc(log(done / typical) / spread / sqrt(2)) / 2 : 1;

		spent += after / before * typical / PARTS;
		if (after < before * (1 - 1e-6))
			least = fmin(least, spent / (1 - after / before));
	}
	return least;
}

int main(void)
{
	struct siblings none = { 0 }, one = of(1, 1000, 1), alike = of(20, 1000, 1);
	struct siblings differ = of(20, 1000, M_E), odd = { 0 };

	ok(isnan(siblings_remaining(&none, 0)) && isnan(siblings_spread(&none)),
	   "without siblings nothing is known");
	siblings_add(&odd, 0);
	siblings_add(&odd, -1);
	siblings_add(&odd, (double)INFINITY);
	siblings_add(&odd, (double)NAN);
	is_int(odd.n, 0, "work that is no positive number tells nothing");
	near(siblings_remaining(&alike, 0), 1000, 0.03, "many that were alike tell the length");
	near(siblings_remaining(&alike, 900), 130, 0.25, "and what remains of it");
	ok(isnan(siblings_remaining(&alike, 1300)), "a job that outlives them all is unlike them");
	near(siblings_spread(&one), 0.4 * sqrt(2), 1e-9, "one job is not trusted far");
	near(siblings_spread(&alike), 0.4 * sqrt(1.05 / 20), 1e-9, "many that were alike are");
	near(siblings_spread(&differ), 1, 0.05, "the spread of many is their own");
	ok(!isnan(siblings_remaining(&one, 1200)) && isnan(siblings_remaining(&one, 3000)),
	   "one sibling is believed until the job has outlived it by far");
	near(siblings_remaining(&differ, 0), index_by_parts(1000, siblings_spread(&differ), 0),
	     0.02, "what remains is the index of the distribution, at the start");
	near(siblings_remaining(&differ, 3000),
	     index_by_parts(1000, siblings_spread(&differ), 3000), 0.02, "and later");
	near(siblings_remaining(&one, 500), index_by_parts(1000, siblings_spread(&one), 500), 0.02,
	     "also after one sibling");
	ok(siblings_remaining(&differ, 4000) > siblings_remaining(&differ, 0),
	   "where lengths differ much, what is old has longer to go");
	alike.apart = 0.6;
	near(siblings_spread(&alike), sqrt(0.16 * 1.05 / 20 + 0.36), 1e-9,
	     "jobs of another kind tell less, however alike they were");
	return done();
}
