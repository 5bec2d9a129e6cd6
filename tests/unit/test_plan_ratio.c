/* test_plan_ratio.c - step times of a plan by those of another one: the ratio, its spread, what is
 * borrowed. */
#include "pollux/time_ratio.h"

#include <math.h>
#include <string.h>

#include "pollux/fit.h"
#include "tap.h"

static struct observation seen_at(int replicas, int64_t m, double step_time_s)
{
	return (struct observation){
		.configuration = configuration_make(replicas, m, 1), .step_time_s = step_time_s,
		.sync_time_s = (double)NAN, .weight = 1,
	};
}

/* A plan with a pass of 10 ms and 1 ms a sample, and 20 ms of synchronisation. */
static const struct observation reference_seen[] = {
	{ .configuration = { .replicas = 1, .local_batch_size = 10, .accumulation_steps = 1,
			     .nodes = 1 }, .step_time_s = 0.020, .sync_time_s = NAN, .weight = 1 },
	{ .configuration = { .replicas = 1, .local_batch_size = 40, .accumulation_steps = 1,
			     .nodes = 1 }, .step_time_s = 0.050, .sync_time_s = NAN, .weight = 1 },
	{ .configuration = { .replicas = 2, .local_batch_size = 40, .accumulation_steps = 1,
			     .nodes = 1 }, .step_time_s = 0.070, .sync_time_s = NAN, .weight = 1 },
};
static struct fit_result reference_fit;

static struct plan_times times(const char *name, const struct observation *seen, int n,
			       const struct fit_result *fit)
{
	return (struct plan_times){ .name = name, .seen = seen, .n_seen = n, .fit = fit };
}

static void test_names(void)
{
	bool known;

	near(plan_usual_time("gc", &known), 1.33, 1e-12, "the usual time of recomputation is 1.33");
	ok(known, "the usual time of recomputation is known by its name");
	near(plan_usual_time("zero3-cpu", &known), 1.3, 1e-12,
	     "the usual time of a name follows its beginning");
	near(plan_usual_time("mine", &known), 1, 1e-12, "the usual time of another name is 1");
	ok(!known, "the usual time of another name is not known");
}

static void test_ratio(void)
{
	struct plan_times dp = times("dp", reference_seen, 3, &reference_fit);
	struct observation one = seen_at(1, 40, 0.100), far = seen_at(1, 20, 0.060);
	struct fit_result fit = { .n_observations = 1 };
	struct plan_times none = times("gc", NULL, 0, &fit), at = times("gc", &one, 1, &fit);
	struct plan_times mine = times("mine", NULL, 0, &fit), by_model = times("x", &far, 1, &fit);
	struct fit_expectation r = plan_ratio(&none, &dp);
	double w0 = 1 / (0.35 * 0.35), w1 = 1 / (0.1 * 0.1);

	near(r.value, 1.33, 1e-9, "the ratio without measurements is that of the names");
	near(r.spread, 0.35, 1e-9, "the spread without measurements is that of known names");
	near(plan_ratio(&mine, &dp).spread, 0.7, 1e-9, "the spread of unknown names is wide");
	r = plan_ratio(&at, &dp);
	near(r.value, exp((w0 * log(1.33) + w1 * log(2)) / (w0 + w1)), 1e-9,
		"a common size moves the ratio by its spread");
	near(r.spread, 1 / sqrt(w0 + w1), 1e-9, "a common size narrows the spread");
	r = plan_ratio(&by_model, &dp);
	near(r.value, exp(25 * log(0.060 / 0.030) / (1 / 0.49 + 25)), 2e-3,
		"another size is compared with the time of the model");
}

static void test_borrow(void)
{
	struct plan_times dp = times("dp", reference_seen, 3, &reference_fit);
	struct observation one = seen_at(1, 40, 0.100);
	struct observation three[] = { seen_at(1, 10, 0.04), seen_at(1, 20, 0.06),
					   seen_at(1, 40, 0.1) };
	struct fit_result fit = fit_throughput(&one, 1, &FIT_OPTIONS_DEFAULT);
	struct fit_result own = fit_throughput(three, 3, &FIT_OPTIONS_DEFAULT);
	struct plan_times at = times("gc", &one, 1, &fit), known = times("gc", three, 3, &own);
	struct throughput_params p;
	bool pass, sync;

	ok(plan_is_hardly_measured(&one, 1) && !plan_is_hardly_measured(three, 3),
	   "a plan measured at three sizes is not hardly measured");
	ok(plan_is_hardly_measured((struct observation[]){ one, one, one }, 3),
	   "a plan measured three times at one size is hardly measured");
	p = plan_borrow(&at, &dp, 2, &pass, &sync);
	ok(pass && sync, "a plan that was measured once borrows both times");
	near(p.beta_grad, 2 * reference_fit.params.beta_grad, 1e-12,
	     "a plan borrows the time of a pass times the ratio");
	near(p.alpha_sync_local, 2 * reference_fit.params.alpha_sync_local, 1e-9,
		"a plan borrows the synchronisation times the ratio");
	p = plan_borrow(&known, &dp, 2, &pass, &sync);
	ok(!pass && sync, "a plan measured at three sizes borrows the synchronisation alone");
	near(p.beta_grad, own.params.beta_grad, 1e-12,
	     "a plan measured at three sizes keeps its own pass");
	plan_borrow(&dp, &at, 2, &pass, &sync);
	ok(!pass && !sync, "a plan borrows nothing that the other one did not measure");
}

/* --- tiers --- */

static struct observation seen_on(enum configuration_tier tier, int replicas,
				      double step_time_s)
{
	struct observation o = seen_at(replicas, 40, step_time_s);

	o.configuration.tier = tier;
	return o;
}

/* The reference on pairs near by, with three devices there, and across, three times as long. */
static struct fit_result fit_on_tiers(struct observation seen[6])
{
	memcpy(seen, reference_seen, sizeof(reference_seen));
	seen[2].configuration.tier = TIER_FAST;
	seen[3] = seen_on(TIER_FAST, 3, .080);
	seen[4] = seen_on(TIER_FAR, 2, .110);
	seen[5] = seen_on(TIER_FAR, 3, .140);
	return fit_by_tier(seen, 6, &FIT_OPTIONS_DEFAULT, NULL);
}

static void test_ratio_by_tier(void)
{
	struct observation dp_seen[6], far = seen_on(TIER_FAR, 2, .220);
	struct fit_result dp_fit = fit_on_tiers(dp_seen), fit = { .n_observations = 1 };
	struct plan_times dp = times("dp", dp_seen, 6, &dp_fit), gc = times("gc", &far, 1, &fit);
	double w0 = 1 / (0.35 * 0.35), w1 = 1 / (0.1 * 0.1);

	near(plan_ratio(&gc, &dp).value, exp((w0 * log(1.33) + w1 * log(2)) / (w0 + w1)), 1e-9,
	     "a size counts beside the same size of its tier");
	far.configuration.tier = TIER_UNKNOWN;
	near(plan_ratio(&gc, &dp).value,
	     exp((w0 * log(1.33) + w1 * log(.220 / .070)) / (w0 + w1)), 1e-9,
	     "a size of unknown tier counts beside any tier");
}

static void test_borrow_tiers(void)
{
	struct observation dp_seen[6], one = seen_at(1, 40, 0.100);
	struct observation pair[] = { one, seen_on(TIER_FAST, 2, .150) };
	struct observation across[] = { one, seen_on(TIER_FAR, 2, .150) };
	struct fit_result dp_fit = fit_on_tiers(dp_seen);
	struct fit_result alone = fit_by_tier(&one, 1, &FIT_OPTIONS_DEFAULT, NULL);
	struct fit_result on_pair = fit_by_tier(pair, 2, &FIT_OPTIONS_DEFAULT, NULL);
	struct fit_result on_far = fit_by_tier(across, 2, &FIT_OPTIONS_DEFAULT, NULL);
	struct plan_times dp = times("dp", dp_seen, 6, &dp_fit), gc = times("gc", &one, 1, &alone);
	double far = dp_fit.params.ln_tier[TIER_FAR];
	struct throughput_params p;
	bool pass, sync;

	ok(far > .5, "synchronisation takes longer across the far tier");
	p = plan_borrow(&gc, &dp, 2, &pass, &sync);
	near(p.ln_tier[TIER_FAR], far, 0,
	     "a plan on one device borrows the measured factor of a tier");
	near(p.ln_tier[TIER_NUMA], dp_fit.params.ln_tier[TIER_NUMA], 0,
	     "a plan on one device borrows the expected factor of a tier");
	gc = times("gc", pair, 2, &on_pair);
	p = plan_borrow(&gc, &dp, 2, &pass, &sync);
	ok(sync, "a plan on a pair borrows a part of the synchronisation");
	near(p.ln_tier[TIER_FAR], far, 0,
	     "a plan on a pair borrows a measured factor for an expected one");
	near(p.ln_tier[TIER_NUMA], on_pair.params.ln_tier[TIER_NUMA], 0,
	     "a plan on a pair borrows no expected factor");
	gc = times("gc", across, 2, &on_far);
	p = plan_borrow(&gc, &dp, 2, &pass, &sync);
	near(p.ln_tier[TIER_FAST], -far, 1e-12,
	     "a borrowed factor counts from the tier that was measured");
	near(p.beta_sync_local, 2 * exp(far) * dp_fit.params.beta_sync_local, 1e-9,
	     "a borrowed growth counts for the tier that was measured");
	near(p.ln_tier[TIER_FAR], 0, 0, "the tier that was measured has the factor 1");
	p = plan_borrow(&dp, &gc, 2, &pass, &sync);
	near(p.ln_tier[TIER_FAR], far, 0, "a factor that was measured is not borrowed");
}

int main(void)
{
	reference_fit = fit_throughput(reference_seen, 3, &FIT_OPTIONS_DEFAULT);
	test_names();
	test_ratio();
	test_borrow();
	test_ratio_by_tier();
	test_borrow_tiers();
	return done();
}
