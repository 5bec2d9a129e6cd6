/* What measured times say beyond the parameters. The values for one point and two were worked out
 * with Python:
 *
 *	>>> from math import *
 *	>>> y = [log(1.2), log(.9)]; a, d, b = 1.03, 1 + .03 / .5, 16 / 64
 *	>>> D = a * d - b * b; dual = (d * y[0] - b * y[1]) / D, (a * y[1] - b * y[0]) / D
 *	>>> exp(dual[0] + dual[1] / 4), exp(dual[0] / 4 + dual[1]), exp(dual[0] / 2 + dual[1] / 2)
 *	(1.1923439335951995, 0.9081210343433495, 1.0323289643359874)
 *	>>> exp(dual[0] / 2 + dual[1] / 8), exp(.3 * (dual[0] / 32 + dual[1] / 8))
 *	(1.0919450231560193, 0.9963923627844522)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/goodput.h"
#include "pollux/mem.h"
#include "tap.h"

static const struct throughput_params params = {
	.alpha_grad = 0.1, .beta_grad = 0.001, .alpha_sync_local = 1e-8, .beta_sync_local = 1e-8,
	.alpha_sync_node = 1e-8, .beta_sync_node = 1e-8, .gamma = 1,
};
static const struct throughput_place one = { 1, 1, 0 }, two = { 1, 2, 0 },
	across = { 2, 8, 0 };
static const struct throughput_place places[] = { { 1, 1, 0 }, { 1, 2, 0 }, { 2, 8, 0 } };

/* Times of m samples and s passes on one replica, so many times as long as by the parameters. */
static struct observation seen(int64_t m, int s, double factor, double weight)
{
	return (struct observation){
		.configuration = configuration_make(1, m, s), .weight = weight,
		.step_time_s = factor * throughput_step_time(&params, one, (double)m, s),
		.sync_time_s = (double)NAN,
	};
}

static struct residuals of(const struct observation *o, int n)
{
	return residuals_of(o, n, &params, places, 3);
}

static void test_none(void)
{
	scoped(residuals_release) struct residuals r = of(NULL, 0);

	near(residuals_factor(&r, one, 16), 1, 0, "without measurements the factor is 1");
	near(residuals_factor(NULL, one, 16), 1, 0, "without residuals the factor is 1");
}

static void test_points(void)
{
	struct observation o[] = { seen(16, 1, 1.2, 1), seen(64, 3, 0.9, 0.5) };
	scoped(residuals_release) struct residuals r = of(o, 2);

	near(residuals_factor(&r, one, 16), 1.1923439335951995, 1e-12,
	     "where it was measured, the factor is near the measured one");
	near(residuals_factor(&r, one, 64), 0.9081210343433495, 1e-12,
	     "passes do not matter, and half a weight is less sure");
	near(residuals_factor(&r, one, 32), 1.0323289643359874, 1e-12,
	     "between two sizes the factor is between theirs");
	near(residuals_factor(&r, two, 16), 1.0919450231560193, 1e-12,
	     "on twice the replicas the factor is half as far from 1");
	near(residuals_factor(&r, across, 64), 0.9963923627844522, 1e-12,
	     "on several nodes one node's times say hardly anything");
	near(residuals_factor(&r, throughput_place_on(1, 3), 16), 1, 0,
	     "a place that is not tabulated has factor 1");
	near(residuals_factor(&r, one, 1e300), residuals_factor(&r, one, 64 * 16), 1e-12,
	     "far beyond all sizes the factor stays as at the last");
	near(residuals_factor(&r, one, 0), residuals_factor(&r, one, 1), 0,
	     "a size of 0 counts as 1");
}

/* Tiers that are told now say nothing against what was measured before tiers were told. */
static void test_no_tier_seen(void)
{
	struct observation o = seen(16, 1, 1.2, 1);
	scoped(residuals_release) struct residuals r = of(&o, 1);
	struct throughput_place far = two;

	far.tier = TIER_FAR;
	near(residuals_factor(&r, far, 16), residuals_factor(&r, two, 16), 0,
	     "where no tier was seen, a told tier counts as the unknown one");
}

static void test_same_sizes(void)
{
	struct observation once = seen(16, 1, exp(0.2), 4);
	struct observation o[] = { seen(16, 1, exp(0.1), 3), seen(16, 2, exp(0.5), 1) };
	scoped(residuals_release) struct residuals a = of(&once, 1), b = of(o, 2);

	near(residuals_factor(&a, one, 16), exp(0.2 / (1 + 0.03 / 4)), 1e-12,
	     "a larger weight means less noise");
	near(residuals_factor(&b, one, 20), residuals_factor(&a, one, 20), 1e-12,
	     "equal sizes are one point, at the weighted mean");
}

static void test_bad(void)
{
	struct observation o[] = { seen(16, 1, 1.2, 1), seen(32, 1, NAN, 1), seen(64, 1, -1, 1),
				       seen(64, 1, 1, 0), seen(0, 1, 1, 1) };
	scoped(residuals_release) struct residuals a = of(o, 1), b = of(o, 5);

	near(residuals_factor(&b, one, 32), residuals_factor(&a, one, 32), 0,
	     "observations that cannot be right are left out");
}

static void test_many(void)
{
	int n = 2 * RESIDUALS_MAX;
	autofree struct observation *o = calloc((size_t)n, sizeof(*o));
	scoped(residuals_release) struct residuals r = { 0 };

	for (int i = 0; i < n; i++)
		o[i] = seen(i + 1, 1, 1.1, 1);
	r = of(o, n);
	near(residuals_factor(&r, one, 16), 1.1, 0.01,
	     "many equal measurements give what they agree on");
	near(residuals_factor(&r, one, 16.0 * n), 1, 0.01,
	     "only the first RESIDUALS_MAX observations count");
}

static void test_best(void)
{
	struct observation o[] = { seen(64, 1, 1.4, 1), seen(32, 1, 1, 1), seen(16, 1, 1, 1) };
	scoped(residuals_release) struct residuals r = of(o, 3);
	struct goodput_model g = { .params = params, .noise_scale = 100, .batch.size = 16,
				   .batch.max = 64, .noise_is_measured = true };
	static const int64_t sizes[] = { 16, 20, 24, 28, 32, 40, 48, 56, 64 };
	struct goodput_choice by_params, best;
	int k = 0;

	goodput_best_round(&g, one, &by_params);
	is_int(by_params.configuration.local_batch_size, 64,
	       "by the parameters the largest size is best");
	g.residuals = &r;
	goodput_best_round(&g, one, &best);
	for (int i = 0; i < 9; i++)
		if (goodput_of(&g, one, (double)sizes[i], 1) >
		    goodput_of(&g, one, (double)sizes[k], 1))
			k = i;
	ok(k < 8, "a size measured to be slow is not the best");
	is_int(best.configuration.local_batch_size, sizes[k],
	       "the best choice is the best of all round sizes");
	near(best.throughput, (double)sizes[k] / goodput_step_time(&g, one, (double)sizes[k], 1),
	     1e-12, "the best choice tells its throughput with residuals");
	g.noise_scale = (double)NAN;
	goodput_best_round(&g, one, &best);
	is_int(configuration_batch_size(&best.configuration), 16,
	       "while the noise is unknown the batch keeps its size");
}

/* One point under each of two plans, at one size: covariance 0.5. With y = ln 1.2 and ln 0.9 and
 * D = 1.03^2 - 0.25: dual = (1.03 y0 - 0.5 y1) / D, (1.03 y1 - 0.5 y0) / D. */
static void test_plans(void)
{
	struct observation a[] = { seen(16, 1, 1.2, 1) }, b[] = { seen(16, 1, 0.9, 1) };
	struct residuals_source own = { a, 1, &params }, other = { b, 1, &params };
	struct residuals_source nothing = { NULL, 0, &params };
	double y0 = log(1.2), y1 = log(0.9), det = 1.03 * 1.03 - 0.25;
	double dual0 = (1.03 * y0 - 0.5 * y1) / det, dual1 = (1.03 * y1 - 0.5 * y0) / det;
	struct residuals r = residuals_of_plan(&own, &other, 1, places, 3);

	near(residuals_factor(&r, one, 16), exp(dual0 + 0.5 * dual1), 1e-12,
	     "a plan's own measurement counts more than another plan's");
	near(residuals_factor(&r, two, 16), exp((dual0 + 0.5 * dual1) / 2), 1e-12,
	     "on other devices what both plans measured counts half");
	residuals_release(&r);
	r = residuals_of_plan(&nothing, &other, 1, places, 3);
	near(residuals_factor(&r, one, 16), exp(0.5 * y1 / 1.03), 1e-12,
	     "what was measured under another plan alone counts half");
	residuals_release(&r);
}

int main(void)
{
	test_none();
	test_points();
	test_no_tier_seen();
	test_same_sizes();
	test_bad();
	test_many();
	test_best();
	test_plans();
	return done();
}
