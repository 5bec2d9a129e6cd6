/* test_tier_fit.c - the factors of tiers, from step times that are made by known ones. */
#include "pollux/mem.h"
#include "pollux/time_ratio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/observation.h"
#include "pollux/residuals.h"
#include "tap.h"

#define MOST 24

static struct throughput_params truth = {
	.alpha_grad = .05, .beta_grad = .002, .alpha_sync_local = .03, .beta_sync_local = .004,
	.alpha_sync_node = 1e-8, .beta_sync_node = 1e-8, .gamma = 1.5,
};
static struct observation seen[MOST];
static int n;

static void see(int replicas, int64_t m, enum configuration_tier tier)
{
	struct configuration c = configuration_make(replicas, m, 1);

	c.tier = tier;
	seen[n++] = (struct observation){
		.configuration = c, .step_time_s = throughput_time_of(&truth, &c),
		.sync_time_s = (double)NAN, .weight = 1,
	};
}

static void see_pairs(enum configuration_tier tier)
{
	for (int64_t m = 16; m <= 64; m *= 2)
		see(2, m, tier);
	see(4, 32, tier);
}

static void see_alone(void)
{
	n = 0;
	for (int64_t m = 16; m <= 64; m *= 2)
		see(1, m, TIER_UNKNOWN);
}

static double factor(const struct fit_result *fit, enum configuration_tier tier)
{
	return exp(fit->params.ln_tier[tier]);
}

static bool same_fit(const struct fit_result *a, const struct fit_result *b)
{
	double x[N_THROUGHPUT_PARAMS], y[N_THROUGHPUT_PARAMS];

	memcpy(x, &a->params, sizeof(x));
	memcpy(y, &b->params, sizeof(y));
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		if (x[i] < y[i] || x[i] > y[i] || a->basis[i] != b->basis[i])
			return false;
	return true;
}

static void test_one_tier(void)
{
	struct fit_result plain, told, alone;

	see_alone();
	see_pairs(TIER_UNKNOWN);
	plain = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	ok(plain.tier_basis[TIER_FAR] == FIT_TIED && !(plain.params.ln_tier[TIER_FAR] > 0),
	   "tiers that were not told have no factors");
	for (int i = 0; i < n; i++)
		if (seen[i].configuration.replicas > 1)
			seen[i].configuration.tier = TIER_NUMA;
	told = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	ok(same_fit(&plain, &told), "one tier leaves the parameters the same, bit by bit");
	near(factor(&told, TIER_NUMA), 1, 0, "the only tier that was seen has the factor 1");
	near(factor(&told, TIER_FAR), TIER_PRIOR, 1e-12,
	     "a tier worse than the only one has the prior's factor");
	near(factor(&told, TIER_FAST), 1 / (TIER_PRIOR * TIER_PRIOR), 1e-12,
	     "a tier better than the only one has the prior's factor");
	see_alone();
	alone = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	ok(!(fabs(alone.params.ln_tier[TIER_FAR]) > 0), "one device tells nothing of tiers");
}

static void test_two_tiers(void)
{
	struct fit_result without, fit;

	see_alone();
	see_pairs(TIER_FAST);
	without = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	truth.ln_tier[TIER_FAR] = log(4);
	see_pairs(TIER_FAR);
	truth.ln_tier[TIER_FAR] = 0;
	fit = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	ok(same_fit(&without, &fit), "two tiers leave the parameters those of the better one");
	near(factor(&fit, TIER_FAR), 4, .15, "the fit finds the factor of the worse tier");
	ok(fit.tier_basis[TIER_FAR] == FIT_FROM_DATA && fit.tier_basis[TIER_FAST] == FIT_FROM_DATA,
	   "the factors of both tiers rest on the data");
	near(factor(&fit, TIER_SWITCH), TIER_PRIOR, 1e-12,
	     "a tier between two others has the prior's factor");
	ok(fit.tier_basis[TIER_SWITCH] == FIT_FROM_PRIOR,
	   "the factor of a tier between rests on the prior");
}

static void test_never_below_1(void)
{
	struct fit_result fit;

	see_alone();
	see_pairs(TIER_SWITCH);
	truth.ln_tier[TIER_FAR] = -1;
	see_pairs(TIER_FAR);
	truth.ln_tier[TIER_FAR] = 0;
	fit = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	near(factor(&fit, TIER_FAR), 1, 1e-9, "a worse tier is never taken to be faster");
}

static void test_prior(void)
{
	struct device_measurement items[] = {
		{ .what = MEASURED_REDUCTION, .variant = "fast", .devices = 2, .bytes = 1 << 20,
		  .time_s = 1e-3 },
		{ .what = MEASURED_REDUCTION, .variant = "fast", .devices = 2, .bytes = 1 << 26,
		  .time_s = 1 },
		{ .what = MEASURED_COPY, .variant = "peer machine", .devices = 2,
		  .bytes = 1 << 20, .time_s = 6e-3 },
		{ .what = MEASURED_REDUCTION, .variant = "", .devices = 2, .bytes = 1 << 20,
		  .time_s = 9 },
	};
	struct device_measurement_list list = { items, 4 };
	double time_s[CONFIGURATION_TIERS];
	struct fit_result fit;

	tier_prior(&list, 2e6, time_s);
	near(time_s[TIER_FAST], 1e-3, 0,
	     "the prior has the time of a reduction at the nearest size");
	near(time_s[TIER_FAR], 6e-3, 0, "the prior has the time of a copy");
	ok(isnan(time_s[TIER_NUMA]), "the prior has no time of a tier without measurements");
	see_alone();
	see_pairs(TIER_FAST);
	fit = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, time_s);
	near(factor(&fit, TIER_FAR), 6, 1e-9, "the ratio of measured times gives a tier's factor");
	near(factor(&fit, TIER_NUMA), TIER_PRIOR * TIER_PRIOR, 1e-9,
	     "a tier without measurements has the usual factor");
}

static void test_residuals(void)
{
	struct throughput_place place = throughput_place_on(1, 2), places[4];
	struct fit_result fit;
	scoped(residuals_release) struct residuals r = { 0 };
	double at_base, far;

	see_alone();
	see_pairs(TIER_FAST);
	fit = fit_by_tier(seen, n, &FIT_OPTIONS_DEFAULT, NULL);
	for (int i = 0; i < n; i++)	/* half as fast as the model says, on several devices */
		if (seen[i].configuration.replicas > 1)
			seen[i].step_time_s *= 2;
	for (int i = 0; i < 4; i++)
		places[i] = throughput_place_on(1, i + 1);
	r = residuals_of(seen, n, &fit.params, places, 4);
	at_base = residuals_factor(&r, place, 32);
	place.tier = TIER_FAST;
	near(residuals_factor(&r, place, 32), at_base, 0,
	     "the residuals of the untold tier are those of the base");
	place.tier = TIER_FAR;
	far = residuals_factor(&r, place, 32);
	near(log(far), RESIDUALS_TIERS * log(at_base), 1e-12,
	     "the residuals of another tier are a part of the base's");
	ok(at_base > 1.8 && far > 1.1, "both tiers are slower than the model");
}

static void test_pool(void)
{
	struct observation entries[2], pooled[2];

	for (int i = 0; i < 2; i++) {
		observation_init(&entries[i]);
		entries[i].configuration = configuration_make(2, 32, 1);
		entries[i].n_windows = entries[i].n_steps = 10;
		entries[i].step_time_s = i ? .1 : .101;
		entries[i].step_time_sd_s = 1e-3;
	}
	is_int(pool_observations(entries, 2, pooled), 1, "two observations of one tier are pooled");
	entries[1].configuration.tier = TIER_FAR;
	is_int(pool_observations(entries, 2, pooled), 2,
	       "two observations of two tiers are not pooled");
	is_int((int)pooled[1].configuration.tier, TIER_FAR,
	       "an observation keeps its tier in the pool");
}

int main(void)
{
	test_one_tier();
	test_two_tiers();
	test_never_below_1();
	test_prior();
	test_residuals();
	test_pool();
	return done();
}
