/* The best configuration against other searches, and against values worked out with Python:
 *
 *	>>> phi, m0, m = 1000., 128., 512.
 *	>>> (phi + m0) / (phi + m), m / m0 * (phi + m0) / (phi + m), (m / m0) ** .5
 *	(0.746031746031746, 2.984126984126984, 2.0)
 *	>>> tg, ts, g = .05 + .002 * 64, .01 + .004 * 2, 2.
 *	>>> tu = (tg ** g + ts ** g) ** (1 / g); t = (2 - 1) * tg + tu
 *	>>> tu, t, 512 / t, 512 / t * (phi + m0) / (phi + m)
 *	(0.17890779748239033, 0.3569077974823903, 1434.5441697032743, 1070.2154916833952)
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "pollux/goodput.h"
#include "tap.h"

/* Relative; of two equally good configurations either may come out ahead by so much. */
#define ROUNDING 1e-12

static uint64_t state;

static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double log_uniform(double low, double high)
{
	return low * pow(high / low, uniform());
}

static int64_t whole(double low, double high)
{
	return (int64_t)log_uniform(low, high + 1);
}

/* A parameter is at its bound as often as fits leave it there. */
static double parameter(double low, double high)
{
	return uniform() < 0.15 ? THROUGHPUT_TIME_MIN_S : log_uniform(low, high);
}

static double noise(void)
{
	double kind = uniform();

	if (kind < 0.05)
		return (double)NAN;
	if (kind < 0.1)
		return kind < 0.075 ? 0 : (double)INFINITY;
	return log_uniform(1, 1e6);
}

static struct goodput_model random_model(double initial_most, double growth)
{
	struct goodput_model model = {
		.params = { parameter(1e-4, 1), parameter(1e-7, 1e-1), parameter(1e-4, 1),
			    parameter(1e-5, 1e-1), parameter(1e-4, 1), parameter(1e-5, 1e-1),
			    1 + 9 * uniform() * uniform(), { 0 } },
		.noise_scale = noise(), .batch.size = whole(1, initial_most),
		.batch.accumulates = uniform() < 0.8, .noise_is_measured = uniform() < 0.3,
	};

	model.batch.max = model.batch.size * whole(1, growth);
	model.batch.max_local = uniform() < 0.2
					     ? 0
					     : whole(1, 2 * (double)model.batch.size);
	model.batch.min_local = uniform() < 0.5
					     ? 0
					     : whole(1, (double)model.batch.size / 2 + 1);
	return model;
}

static struct throughput_place random_place(int most)
{
	int replicas = (int)whole(1, most), nodes = uniform() < 0.5 ? 1 : (int)whole(1, replicas);

	return throughput_place_on(nodes, replicas);
}

/* The limits as pollux/goodput.h states them. */
static bool allowed(const struct goodput_model *g, int replicas, int64_t m, int64_t s)
{
	int64_t batch = replicas * m * s;
	int64_t least = g->batch.min_local > 0 ? g->batch.min_local : 1;

	if (batch < g->batch.size || batch > g->batch.max || m < least)
		return false;
	if (g->batch.max_local > 0 && m > g->batch.max_local)
		return false;
	if (s > 1 && !g->batch.accumulates)
		return false;
	return !(replicas == 1 && s == 1 && batch > g->batch.size && !g->noise_is_measured);
}

static double brute_force(const struct goodput_model *g, struct throughput_place place)
{
	double best = 0;

	for (int64_t s = 1; place.replicas * s <= g->batch.max; s++)
		for (int64_t m = 1; place.replicas * m * s <= g->batch.max; m++)
			if (allowed(g, place.replicas, m, s))
				best = fmax(best, goodput_of(g, place, (double)m, (double)s));
	return best;
}

/* Fifty batch sizes in geometric progression, each in as few passes as it takes: goodput.py of the
 * published artifact, lines 91-145, without what is outside of the limits. */
static double published_search(const struct goodput_model *g, struct throughput_place place)
{
	double least = g->batch.min_local > 0 ? (double)g->batch.min_local : 1;
	double low = fmax((double)g->batch.size, least * place.replicas), best = 0;
	double most = g->batch.max_local > 0 ? (double)g->batch.max_local
						  : (double)g->batch.max;

	for (int i = 0; i < 50; i++) {
		double batch = low * pow((double)g->batch.max / low, i / 49.0);
		double local = batch / place.replicas, s = fmax(ceil(local / most - 1e-8), 1);

		if (place.replicas == 1 && batch > (double)g->batch.size + 1e-8 &&
		    !g->noise_is_measured)
			s = fmax(s, 2);

		double m = ceil(local / s - 1e-8);

		if (allowed(g, place.replicas, (int64_t)m, (int64_t)s))
			best = fmax(best, goodput_of(g, place, m, s));
	}
	return best;
}

static bool is_consistent(const struct goodput_model *g, struct throughput_place place,
			  const struct goodput_choice *c)
{
	const struct configuration *k = &c->configuration;

	return k->replicas == place.replicas &&
	       allowed(g, place.replicas, k->local_batch_size, k->accumulation_steps) &&
	       configuration_batch_size(k) ==
		       k->replicas * k->local_batch_size * k->accumulation_steps &&
	       fabs(c->throughput * c->efficiency / c->goodput - 1) < 1e-12;
}

typedef double other_search(const struct goodput_model *g, struct throughput_place place);

static void compare(other_search *other, double initial_most, double growth, bool both_ways)
{
	int below = 0, above = 0, inconsistent = 0, found = 0;

	for (int i = 0; i < 10000; i++) {
		struct goodput_model g = random_model(initial_most, growth);
		struct throughput_place place = random_place(both_ways ? 6 : 64);
		struct goodput_choice c;
		bool any = goodput_best(&g, place, &c);
		double want = other(&g, place);

		found += any;
		below += c.goodput < want * (1 - (both_ways ? 1e-9 : ROUNDING));
		above += both_ways && c.goodput > want * (1 + 1e-9);
		inconsistent += any ? !is_consistent(&g, place, &c) : c.goodput > 0;
	}
	printf("# %d of 10000 have a configuration\n", found);
	is_int(below, 0, "the best goodput is never below that of the other search");
	is_int(above, 0, "the best goodput is never above that of all configurations");
	is_int(inconsistent, 0, "the best configuration is within its limits and consistent");
}

static void test_searches(void)
{
	state = 1;
	puts("# 10000 small models, against all configurations");
	compare(brute_force, 24, 12, true);
	puts("# 10000 models, against the published search");
	compare(published_search, 2048, 128, false);
}

static void test_efficiency(void)
{
	near(goodput_efficiency(1000, 128, 512), 0.746031746031746, 1e-15,
	     "the efficiency is that worked out with Python");
	near(goodput_efficiency(1000, 128, 128), 1, 0, "the efficiency at M0 is 1");
	near(goodput_efficiency((double)INFINITY, 128, 512), 1, 0,
	     "the efficiency of noise alone is 1");
	near(goodput_gain(1000, 128, 512), 2.984126984126984, 1e-15,
	     "the gain is that worked out with Python");
	near(goodput_gain(0, 128, 512), 1, 1e-15, "the gain without noise is 1");
}

static void test_learning_rates(void)
{
	enum lr_rule rule;

	near(goodput_lr_factor(LR_ADASCALE, 1000, 128, 512), 2.984126984126984, 1e-15,
	     "the factor of adascale is the gain");
	near(goodput_lr_factor(LR_ADASCALE, (double)NAN, 128, 512), 1, 0,
	     "the factor of adascale is 1 for unknown noise");
	near(goodput_lr_factor(LR_SQRT_GAIN, 1000, 128, 512), sqrt(2.984126984126984), 1e-15,
	     "the factor of sqrt-gain is the root of the gain");
	is_int(lr_rule_for(LR_AUTO, OPTIMIZER_ADAM), LR_SQRT_GAIN,
	       "the rule for Adam is the root of the gain");
	is_int(lr_rule_for(LR_AUTO, OPTIMIZER_SGD), LR_ADASCALE, "the rule for SGD is the gain");
	is_int(lr_rule_for(LR_AUTO, OPTIMIZER_UNKNOWN), LR_ADASCALE,
	       "the rule for an unknown optimizer is the gain");
	is_int(lr_rule_for(LR_AUTO, OPTIMIZER_OTHER), LR_NONE,
	       "the rule for other optimizers is none");
	is_int(lr_rule_for(LR_LINEAR, OPTIMIZER_ADAM), LR_LINEAR,
	       "the rule that a person gave holds for all optimizers");
	near(goodput_lr_factor(LR_ADASCALE, (double)NAN, 128, 64), 0.5, 0,
	     "the factor of a smaller batch is in proportion");
	near(goodput_lr_factor(LR_SQRT, 1000, 128, 512), 2, 1e-15,
	     "the factor of sqrt is the root of the ratio");
	near(goodput_lr_factor(LR_LINEAR, 1000, 128, 512), 4, 0,
	     "the factor of linear is the ratio");
	near(goodput_lr_factor(LR_NONE, 1000, 128, 512), 1, 0, "the factor of none is 1");
	for (int i = 0; i <= LR_NONE; i++)
		ok(lr_rule_parse(&rule, lr_rule_name((enum lr_rule)i)) && rule == (enum lr_rule)i,
		   lr_rule_name((enum lr_rule)i));
	ok(!lr_rule_parse(&rule, "cosine"), "an unknown rule is refused");
}

static const struct throughput_params params = { .05, .002, .01, .004, .04, .006, 2, { 0 } };

static void test_goodput_of(void)
{
	struct goodput_model g = { .params = params, .noise_scale = 1000,
				   .batch.size = 128 };
	struct throughput_place place = throughput_place_on(1, 4);

	near(goodput_of(&g, place, 64, 2), 1070.2154916833952, 1e-13,
	     "the goodput is that worked out with Python");
}

static void test_limits(void)
{
	struct goodput_model g = { .params = params, .noise_scale = 1000, .batch.size = 128,
				   .batch.max = 4096, .batch.accumulates = true };
	struct throughput_place one = throughput_place_on(1, 1);
	struct throughput_place three = throughput_place_on(1, 3);
	struct goodput_choice c;

	goodput_best(&g, one, &c);
	ok(configuration_batch_size(&c.configuration) == 128 ||
		   c.configuration.accumulation_steps >= 2,
	   "one replica takes no larger batch without a second pass");
	g.batch.max_local = 32;
	goodput_best(&g, one, &c);
	ok(c.configuration.local_batch_size <= 32 &&
		   configuration_batch_size(&c.configuration) >= 128,
	   "memory limits the local batch");
	g.batch.accumulates = false;
	ok(!goodput_best(&g, one, &c), "no configuration fits without accumulation");
	ok(c.goodput <= 0 && configuration_batch_size(&c.configuration) == 0,
	   "no goodput is told where no configuration fits");
	g.batch.max_local = 0;
	g.noise_scale = (double)NAN;
	goodput_best(&g, one, &c);
	is_int(configuration_batch_size(&c.configuration), 128,
	       "the batch stays as it is with unknown noise");
	goodput_best(&g, three, &c);
	is_int(configuration_batch_size(&c.configuration), 129,
	       "the batch becomes the next one that spreads");
	g.batch.max = 0;
	ok(!goodput_best(&g, three, &c), "no configuration is given if the batch may not grow");
	ok(!goodput_best(&g, throughput_place_on(0, 0), &c), "no replicas have no goodput");
}

int main(void)
{
	test_efficiency();
	test_learning_rates();
	test_goodput_of();
	test_limits();
	test_searches();
	return done();
}
