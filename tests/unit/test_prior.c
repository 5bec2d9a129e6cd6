/* test_prior.c - what measured kernels lead one to expect, by hand; and what a fit makes of it. */
#include <stdbool.h>

#include "pollux/prior.h"
#include "tap.h"

#define MAX 32
#define UNKNOWN ((double)NAN)

static struct device_measurement items[MAX];
static struct device_measurement_list list = { items, 0 };

static struct device_measurement *add(enum measured what, int devices, int64_t bytes, double time_s)
{
	items[list.count] = (struct device_measurement){
		.what = what, .devices = devices, .bytes = bytes, .time_s = time_s,
		.repetitions = 10,
	};
	return &items[list.count++];
}

/* Products of 1, 4 and 64 rows that take a + b m. */
static void add_products(const char *variant, int64_t width, double a, double b)
{
	for (int64_t m = 1; m <= 64; m = m == 1 ? 4 : m * 16) {
		struct device_measurement *p = add(MEASURED_PRODUCT, 1, 0, a + b * (double)m);

		p->m = m;
		p->n = p->k = width;
		memcpy(p->variant, variant, strlen(variant) + 1);
	}
}

static struct fit_prior made(double n_parameters)
{
	struct fit_prior prior;

	prior_make(&list, n_parameters, &prior);
	return prior;
}

static void test_nothing(void)
{
	struct fit_prior prior;

	list.count = 0;
	ok(!prior_make(&list, 1e6, &prior), "nothing is expected without measurements");
	add_products("fp32", 10, 1e-3, 1e-3);
	ok(!prior_make(&list, 0, &prior) && !prior_make(&list, UNKNOWN, &prior),
	   "nothing is expected without the number of parameters");
	ok(isnan(prior.grad_ratio.value) && isnan(prior.sync_time.value) &&
		   isnan(prior.sync_growth.value), "each expectation of nothing is NaN");
	list.count = 1;
	ok(!prior_make(&list, 1000, &prior), "one product gives no slope");
}

/* a/b = 4 samples. Of 1000 parameters an update copies 12,000 bytes, in 6 ms: 6 us for each
 * parameter, 0.6 ms for the 100 of this width, against 3 * 0.5 ms for a sample: 0.4 more. */
static void test_passes(void)
{
	list.count = 0;
	add_products("fp32", 10, 2e-3, 0.5e-3);
	near(made(1000).grad_ratio.value, 4, 1e-9,
	     "the ratio of a pass is that of the line through the products");
	near(made(1000).grad_ratio.spread, PRIOR_SPREAD, 0,
	     "the spread of the ratio is the one that is assumed");
	add(MEASURED_MEMORY, 1, 12000, 6e-3);
	near(made(1000).grad_ratio.value, 4.4, 1e-9,
	     "the ratio of a pass has the time of an update");
	add_products("fp64", 10, 1, 1e-9);
	near(made(1000).grad_ratio.value, 4.4, 1e-9, "products in double precision do not count");
	/* 20 wide: 1 + 6e-6 * 400 / (3 * 1e-3) = 1.8 */
	add_products("bf16", 20, 1e-3, 1e-3);
	near(made(1000).grad_ratio.value, sqrt(4.4 * 1.8), 1e-9,
	     "the ratio of two series is their geometric mean");
	/* 100.4: the logarithms of 4.4, 1.8 and 100.4 deviate by 2.11156 */
	add_products("tf32", 10, 50e-3, 0.5e-3);
	near(made(1000).grad_ratio.spread, 2.11156, 1e-5,
	     "the spread of three series counts where it is larger");
	list.count = 0;
	add_products("fp32", 10, -0.4e-3, 0.5e-3);
	ok(made(1000).grad_ratio.value > 0 && isfinite(made(1000).grad_ratio.value),
	   "a line that begins below nothing gives a finite ratio");
}

static void test_sync(void)
{
	struct fit_prior prior;

	list.count = 0;
	add(MEASURED_REDUCTION, 2, 40, 5e-6);
	add(MEASURED_REDUCTION, 2, 4000, 30e-6);
	near(made(1000).sync_time.value, 30e-6, 1e-12,
	     "a synchronisation takes 4 bytes for each parameter");
	add(MEASURED_BARRIER, 2, 0, 10e-6);
	prior = made(1000);
	near(prior.sync_time.value, 40e-6, 1e-12, "a synchronisation comes after a barrier");
	near(prior.sync_growth.value, (15 + 25.0 / 4) / 40, 1e-9,
	     "the growth has the latency again, and a quarter of the rest");
	ok(isnan(prior.grad_ratio.value), "the ratio of a pass is unknown without products");
	near(made(4000).sync_time.value, 10e-6 + 120e-6, 1e-9,
	     "a size beyond those measured has the rate of the largest");
	near(made(1).sync_time.value, 15e-6, 1e-9,
	     "a size below those measured has the time of the smallest");
	near(made(100).sync_time.value, 10e-6 + 5e-6 * sqrt(6), 1e-9,
	     "a size between those measured is on a line of logarithms");
	add(MEASURED_BARRIER, 4, 0, 20e-6);
	add(MEASURED_REDUCTION, 4, 4000, 60e-6);
	near(made(1000).sync_growth.value, 0.5, 1e-9,
	     "the growth to four devices is half of the measured difference");
	add(MEASURED_REDUCTION, 4, 4000, 1e-6);
	list.count = 0;
	memcpy(add(MEASURED_COPY, 2, 2000, 7e-6)->variant, "peer", 5);
	memcpy(add(MEASURED_COPY, 2, 20, 1e-6)->variant, "peer", 5);
	prior = made(1000);
	near(prior.sync_time.value, 14e-6, 1e-12,
	     "a synchronisation of GPUs is two copies of half of it");
	near(prior.sync_growth.value, (2 + 12.0 / 4) / 14, 1e-9,
	     "the synchronisation of GPUs grows by latency and rest");
}

/* Those from first on. */
static void set_steady(int first, bool steady, double sd_s)
{
	for (int i = first; i < list.count; i++) {
		items[i].steady = steady;
		items[i].time_sd_s = sd_s;
	}
}

static void test_unsteady(void)
{
	list.count = 0;
	add_products("fp32", 10, 2e-3, 0.5e-3);
	set_steady(0, true, 0);
	add_products("bf16", 20, 1, 1e-3);
	near(made(1000).grad_ratio.value, 4, 1e-9,
	     "a series without steady points is left out beside a steady one");
	items[list.count - 1].steady = true;
	near(made(1000).grad_ratio.value, 4, 1e-9, "a series with one steady point is left out");
	items[list.count - 2].steady = true;
	near(made(1000).grad_ratio.value, sqrt(4 * 1000), 1e-6,
	     "a series with two steady points counts");

	/* 4 rows take a third of the time, plus or minus as much: hardly a point at all. */
	list.count = 0;
	add_products("fp32", 10, 2e-3, 0.5e-3);
	set_steady(0, true, 0);
	items[1].time_s /= 3;
	items[1].steady = false;
	items[1].time_sd_s = items[1].time_s * sqrt(10);
	near(made(1000).grad_ratio.value, 4, 0.2, "an uncertain time has little weight");
	items[1].time_sd_s = UNKNOWN;
	near(made(1000).grad_ratio.value, 4, 0.2, "a time that was taken once has little weight");
	set_steady(0, false, 0);
	ok(made(1000).grad_ratio.value < 3, "the uncertain time would have had much weight");

	list.count = 0;
	add(MEASURED_REDUCTION, 2, 4000, 900e-6);
	near(made(1000).sync_time.value, 900e-6, 1e-12,
	     "an unsteady time counts where there is no other");
	add(MEASURED_REDUCTION, 2, 1000, 10e-6)->steady = true;
	near(made(1000).sync_time.value, 40e-6, 1e-12,
	     "a steady time of a near size counts before an unsteady one");
	items[1].bytes = 100;
	near(made(1000).sync_time.value, 900e-6, 1e-12,
	     "a steady time of a size 40 times as small does not count");
	items[1].bytes = 1000;
	items[1].devices = 4;
	near(made(1000).sync_time.value, 900e-6, 1e-12,
	     "a steady time of other devices does not count");
}

/* --- in a fit --- */

static const struct fit_prior expected = { { 12, 0.7 }, { 0.004, 0.7 }, { 0.5, 0.7 } };

static struct fit_result fit(const struct observation *o, int n, const struct fit_prior *prior)
{
	struct fit_options options = FIT_OPTIONS_DEFAULT;

	options.prior = prior;
	return fit_throughput(o, n, &options);
}

static struct observation step(int replicas, int64_t m, double time_s, double sync_s)
{
	return (struct observation){
		.configuration = configuration_make(replicas, m, 1),
		.step_time_s = time_s, .sync_time_s = sync_s, .weight = 1,
	};
}

static bool is_basis(const struct fit_result *f, const char *want)
{
	static const char letters[] = { [FIT_FROM_DATA] = 'd',
					[FIT_FROM_PENALTY] = 'p',
					[FIT_TIED] = 't',
					[FIT_FROM_PRIOR] = 'k' };

	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		if (letters[f->basis[i]] != want[i])
			return false;
	return true;
}

/* One pass seen, of 36 samples in 48 ms: 12 + 36 parts of 1 ms. */
static void test_unseen(void)
{
	struct observation o = step(1, 36, 0.048, UNKNOWN);
	struct fit_result f = fit(&o, 1, &expected);

	near(f.params.alpha_grad, 0.012, 1e-6, "the expected ratio divides the time of a pass");
	near(f.params.beta_grad, 0.001, 1e-6, "the time of a pass that was seen is kept");
	near(f.params.alpha_sync_local, 0.004, 1e-6,
	     "a synchronisation that was not seen is as expected");
	near(f.params.beta_sync_local, 0.002, 1e-6, "a growth that was not seen is as expected");
	near(f.params.alpha_sync_node, 0.0044, 1e-6,
	     "nodes are no better linked than devices of one node");
	near(throughput_step_time(&f.params, throughput_place_on(1, 4), 72, 1),
	     0.084 + 0.008, 1e-5, "the time of a step that nobody saw is as expected");
	ok(is_basis(&f, "kdkkttp"), "each parameter of one pass tells its basis");
	ok(f.stop == FIT_CONVERGED, "the fit with a prior converges");
	is_str(fit_basis_name(FIT_FROM_PRIOR), "prior",
	       "the basis of an expected parameter is called 'prior'");
}

static double truth(int replicas, double m)
{
	static const struct throughput_params p = { 0.03, 0.0005, 0.02, 0.003, 1e-8, 1e-8, 1.5,
						    { 0 } };

	return throughput_step_time(&p, throughput_place_on(1, replicas), m, 1);
}

/* Where the data tell, it does not matter what was expected. */
static void test_seen(void)
{
	static const struct fit_prior wrong = { { 6000, 0.7 }, { 2, 0.7 }, { 15, 0.7 } };
	struct observation o[12];
	struct fit_result without, with;
	int n = 0;

	for (int replicas = 1; replicas <= 4; replicas *= 2)
		for (int64_t m = 16; m <= 1024; m *= 4)
			o[n++] = step(replicas, m, truth(replicas, (double)m),
				      truth(replicas, (double)m) - truth(1, (double)m));
	without = fit(o, n, NULL);
	with = fit(o, n, &wrong);
	near(with.params.alpha_grad, without.params.alpha_grad, 1e-3,
	     "a wrong prior does not change the constant time that was seen");
	near(with.params.beta_grad, without.params.beta_grad, 1e-3,
	     "a wrong prior does not change the time of a sample that was seen");
	near(throughput_step_time(&with.params, throughput_place_on(1, 4), 100, 1),
	     truth(4, 100), 0.02, "a wrong prior does not change the time of a step that was seen");
	ok(is_basis(&with, "ddddttd"), "each parameter that was seen rests on the data");
}

/* Two replicas seen: the growth alone is expected, in units of what was seen. */
static void test_growth(void)
{
	struct observation o[] = { step(1, 10, 0.02, 0), step(1, 30, 0.04, 0),
				       step(2, 10, 0.05, 0.03), step(2, 30, 0.07, 0.03) };
	struct fit_result f = fit(o, 4, &expected);

	near(f.params.alpha_sync_local, 0.03, 1e-3, "the synchronisation that was seen is kept");
	near(f.params.beta_sync_local, 0.015, 2e-3,
	     "the growth is the half of it that is expected");
	ok(is_basis(&f, "dddkttd"), "the growth alone rests on the prior");
}

/* Whole steps alone, of 48 samples on one replica and half of them on each of two: 12 + 48 ms, and
 * 36 + 4 ms would be one way to read them. */
static void test_confounded(void)
{
	struct observation o[] = { step(1, 48, 0.060, UNKNOWN), step(2, 24, 0.040, UNKNOWN) };
	struct fit_result f = fit(o, 2, &expected);

	near(f.params.alpha_grad, 0.012, 1e-3,
	     "confounded steps have the constant time that is expected");
	near(f.params.alpha_sync_local, 0.004, 1e-3,
	     "confounded steps have the synchronisation that is expected");
	ok(is_basis(&f, "kkkkttp"), "confounded steps leave all parameters resting on the prior");
}

static void test_none(void)
{
	static const struct fit_prior nothing = { { (double)NAN, 1 }, { 0, 1 }, { 1, 0 } };
	struct observation o = step(1, 36, 0.048, UNKNOWN);
	struct fit_result a = fit(&o, 1, NULL), b = fit(&o, 1, &nothing);

	double x[N_THROUGHPUT_PARAMS], y[N_THROUGHPUT_PARAMS], difference = 0;

	memcpy(x, &a.params, sizeof(x));
	memcpy(y, &b.params, sizeof(y));
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		difference += fabs(x[i] - y[i]);
	ok(difference <= 0 && a.evaluations == b.evaluations,
	   "a prior that expects nothing changes nothing");
	ok(is_basis(&a, "tdttttp"), "a fit without a prior ties parameters as published");
}

int main(void)
{
	test_nothing();
	test_passes();
	test_sync();
	test_unsteady();
	test_unseen();
	test_seen();
	test_growth();
	test_confounded();
	test_none();
	return done();
}
