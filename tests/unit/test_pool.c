/* test_pool.c - what many runs say together: observations that agree or age out, and the noise
 * scale at a position, against values worked out by hand. */
#include <math.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/noise_scale.h"
#include "pollux/observation.h"
#include "tap.h"

#define NOT_KNOWN ((double)NAN)

static struct observation entry(int replicas, int64_t m, double step_s, double sd_s,
				int64_t windows)
{
	return (struct observation){
		.configuration = configuration_make(replicas, m, 1),
		.n_steps = 100 * windows, .n_windows = windows, .step_time_s = step_s,
		.step_time_sd_s = sd_s, .step_time_min_s = step_s, .sync_time_s = NOT_KNOWN,
	};
}

static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_observations(void)
{
	struct observation out[8];
	struct observation two[] = { entry(1, 64, 0.10, 0.001, 10),
				     entry(2, 64, 0.06, 0.001, 10),
				     entry(1, 64, 0.104, 0.001, 30),
				     entry(1, 32, 0.05, 0.001, 10) };
	struct observation aged[] = { entry(1, 64, 0.10, 0.001, 6), entry(1, 64, 0.15, 0.001, 100),
				      entry(1, 64, 0.10, 0.001, 9) };
	struct observation passing[] = { entry(1, 64, 0.20, 0.001, 2),
					 entry(1, 64, 0.10, 0.001, 50),
					 entry(1, 64, 0.10, 0.001, 50) };
	struct observation noisy[] = { entry(1, 64, 0.10, 0.05, 9), entry(1, 64, 0.14, 0.05, 9) };
	struct observation single[] = { entry(1, 64, 0.10, NOT_KNOWN, 1),
					entry(1, 64, 0.13, NOT_KNOWN, 1) };
	struct observation none[] = { entry(1, 64, NOT_KNOWN, NOT_KNOWN, 0),
				      entry(1, 8, 0.1, 0.1, 3) };

	ok(pool_observations(two, 4, out) == 3,
	   "the pool has one observation for each configuration");
	ok(out[0].configuration.replicas == 1 && out[0].configuration.local_batch_size == 64 &&
	   out[1].configuration.replicas == 2 &&
	   out[2].configuration.local_batch_size == 32,
	   "the pool is in the order of the newest observations");
	ok(out[0].n_windows == 40 && same(out[0].step_time_s, 0.103),
	   "two observations that agree are one, weighted by windows");
	ok(isnan(out[0].sync_time_s) && out[0].weight > 0.9 && out[0].weight <= 1,
	   "the pooled observation has the weight that a fit gives it");

	ok(pool_observations(aged, 3, out) == 1 && out[0].n_windows == 6 &&
	   same(out[0].step_time_s, 0.10), "an observation that disagrees drops all before it");
	ok(pool_observations(passing, 3, out) == 1 && out[0].n_windows == 100 &&
	   same(out[0].step_time_s, 0.10),
	   "a passing disturbance does not drop the observations before");
	ok(pool_observations(noisy, 2, out) == 1 && out[0].n_windows == 18,
	   "noisy observations do not disagree");
	/* sd taken as 10 %: the standard error of the difference is 0.0164, three of them 0.049. */
	ok(pool_observations(single, 2, out) == 1 && out[0].n_windows == 2,
	   "an observation of one window has a deviation of a tenth");
	ok(pool_observations(none, 2, out) == 1 && out[0].configuration.local_batch_size == 8,
	   "an observation without a window is left out");
	ok(pool_observations(none, 0, out) == 0, "a pool of no observations is empty");
}

/* Measured well at 64: 0.1 s. Then 128 takes 0.1 to 0.2 s, and 32 takes 0.05 to 0.1 s, and a
 * quarter more or less. */
static void test_doubtful(void)
{
	struct observation out[4];
	struct {
		double step_s;
		int64_t m, windows;
		int replicas, kept;
		const char *what;
	} cases[] = {
		{ 0.24, 128, 2, 1, 2, "twice the samples may take 2.4 times the time" },
		{ 0.26, 128, 2, 1, 1, "twice the samples in 2.6 times the time are doubted" },
		{ 0.26, 128, POOL_WINDOWS, 1, 2,
		  "a time that was measured as well is not doubted" },
		{ 0.26, 128, 2, 2, 2, "a time of another place is not doubted" },
		{ 0.081, 128, 2, 1, 2,
		  "twice the samples may take less time within the tolerance" },
		{ 0.079, 128, 2, 1, 1, "twice the samples in much less time are doubted" },
		{ 0.041, 32, 2, 1, 2,
		  "half the samples may take a little less than half the time" },
		{ 0.039, 32, 2, 1, 1,
		  "half the samples in much less than half the time are doubted" },
		{ 0.124, 32, 2, 1, 2, "half the samples may take a little more time" },
		{ 0.126, 32, 2, 1, 1, "half the samples in much more time are doubted" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct observation seen[] = {
			entry(cases[i].replicas, cases[i].m, cases[i].step_s, 0.001,
			      cases[i].windows),
			entry(1, 64, 0.10, 0.001, 10),
		};
		int n = pool_observations(seen, 2, out);

		ok(n == cases[i].kept && out[n - 1].configuration.local_batch_size == 64,
		   cases[i].what);
	}
}

static struct noise_window window(int64_t job, double first, double last, int64_t n, double sqr,
				  double var)
{
	return (struct noise_window){
		.job_id = job, .first_samples = first, .last_samples = last, .batch_size = 10,
		.n = n,
		.mean_sqr = sqr, .m2_sqr = 0.01 * sqr * sqr * (double)n,
		.mean_var = var, .m2_var = 0.01 * var * var * (double)n,
	};
}

static void test_noise(void)
{
	/* M0 = 10: the horizon is 2,000 samples up to position 8,000, then a quarter of it. */
	struct noise_window own[] = { window(7, 0, 1000, 100, 2, 100),
				      window(7, 1000, 3000, 200, 1, 150) };
	struct noise_window others[] = { window(7, 0, 100, 2, 2, 100),
					 window(8, 0, 1000, 100, 1, 300),
					 window(8, 99000, 101000, 200, 1, 900) };
	struct noise_window unknown[] = { { .job_id = 7, .first_samples = 0, .last_samples = 1000,
		.batch_size = 10, .n = 1000, .mean_sqr = 1, .m2_sqr = NOT_KNOWN, .mean_var = 50,
		.m2_var = NOT_KNOWN } };
	struct noise_window lost = window(7, NOT_KNOWN, NOT_KNOWN, 1000, 1, 5);
	struct noise_window negative = window(7, 0, 1000, 1000, -1, 5);
	struct noise_estimate e = noise_estimate(own, 2, 7, 3000, 10);
	/* Middles at distances 2,500 and 1,000; 1,000 and 2,000 samples. */
	double w1 = 1000 * exp(-1.25), w2 = 2000 * exp(-0.5);

	ok(e.own && same(e.noise_scale, (w1 * 100 + w2 * 150) / (w1 * 2 + w2 * 1)),
	   "the scale is the quotient of averages by samples and distance");
	ok(e.n_updates == 200, "the estimate tells on how many updates it rests");
	e = noise_estimate(own, 2, 9, 0, 10);
	ok(!e.own && e.noise_scale > 50 && e.noise_scale < 150,
	   "another job knows what this one knew");
	e = noise_estimate(others, 3, 7, 200, 10);
	w1 = 20 * exp(-150.0 / 2000);
	w2 = 1000 * exp(-300.0 / 2000);
	ok(!e.own && same(e.noise_scale, (w1 * 100 + w2 * 300) / (w1 * 2 + w2 * 1)),
	   "a job with few windows gets those of all near its position");
	e = noise_estimate(others, 3, 9, 100000, 10);
	ok(e.noise_scale > 890 && e.noise_scale < 900,
	   "a job far on gets the windows of jobs far on");
	ok(isnan(noise_estimate(unknown, 1, 7, 500, 10).noise_scale),
	   "a window without deviations does not tell the scale");
	ok(isnan(noise_estimate(&lost, 1, 7, 0, 10).noise_scale),
	   "a window without a position does not count");
	ok(isnan(noise_estimate(&negative, 1, 7, 0, 10).noise_scale),
	   "a negative square gives an unknown scale");
	/* Of late |G|^2 does not differ from 0; earlier it did. */
	struct noise_window late[] = { window(7, 0, 10000, 100, 1, 50),
				       window(7, 99000, 101000, 200, 0.01, 100) };

	late[1].m2_sqr = 200;
	e = noise_estimate(late, 2, 7, 100000, 10);
	/* Horizons 25,000, 100,000 and 400,000, the first that tells; distances 95,000 and 0. */
	w1 = 1000 * exp(-95000.0 / 400000);
	w2 = 2000;
	ok(e.own && isnan(e.noise_scale) &&
	   e.interval.low > (w1 * 50 + w2 * 100) / (w1 * 1 + w2 * 0.01),
	   "late windows that drown in noise raise the bound");
	ok(isnan(noise_estimate(NULL, 0, 7, NOT_KNOWN, 10).noise_scale),
	   "the scale of no windows is unknown");
}

static void is_printed(const struct noise_estimate *e, const char *want)
{
	scoped(text_release) struct text t = TEXT_INIT;

	noise_estimate_print(e, &t);
	is_str(t.data, want, "the estimate is printed with its interval");
}

/* Fieller's ends for n entries with a spread of a tenth of both means, which are 2 and 3000, by
 * numpy: with e = 0.01 t^2 / (n - 1), 1500 * np.roots([1 - e, -2, 1 - e]) */
static void test_bounds(void)
{
	struct noise_window w = window(7, 0, 1000, 17, 2, 3000), late[2];
	struct noise_estimate e = noise_estimate(&w, 1, 7, 500, 10), few;
	double w1, w2;

	near(e.interval.low, 1391.56260156, 1e-8,
	     "the low end of one window is that of independent means");
	near(e.interval.high, 1616.88737358, 1e-8,
	     "the high end of one window is that of independent means");
	is_printed(&e, "1500 (1390 to 1620)");
	w.entries = 5;
	few = noise_estimate(&w, 1, 7, 500, 10);
	ok(isnan(few.noise_scale) && few.interval.low < e.interval.low,
	   "as many updates in fewer reports tell less");
	is_printed(&few, "at least 1230");
	w.entries = 0;
	w.cross = (double)NAN;
	few = noise_estimate(&w, 1, 7, 500, 10);
	ok(few.interval.low < e.interval.low, "an unknown joint spread tells less");
	/* Of late nothing but a bound is known, and a low value of early. */
	late[0] = window(7, 0, 1000, 20, 0.2, 100);
	late[1] = window(7, 99000, 101000, 16, 0.01, 100);
	late[1].m2_sqr = 16 * 0.02 * 0.02;
	e = noise_estimate(late, 2, 7, 100000, 10);
	ok(isnan(e.noise_scale) && e.interval.low > 3000 && isinf(e.interval.high),
	   "a bound from near counts before a value far below it");
	late[0] = window(7, 0, 1000, 100, 0.005, 100);
	e = noise_estimate(late, 2, 7, 100000, 10);
	/* The second horizon, 100,000, tells; distances 99,500 and 0. */
	w1 = 1000 * exp(-99500.0 / 100000);
	w2 = 160;
	ok(same(e.noise_scale, (w1 * 100 + w2 * 100) / (w1 * 0.005 + w2 * 0.01)) &&
	   e.interval.low > 10000, "a bound from near does not count before a value above it");
	e = (struct noise_estimate){ .noise_scale = 40, .interval = { 40, 40 } };
	is_printed(&e, "40");
	e = (struct noise_estimate){ .noise_scale = (double)NAN, .interval = { (double)NAN, 1 } };
	is_printed(&e, "unknown");
}

int main(void)
{
	test_observations();
	test_doubtful();
	test_noise();
	test_bounds();
	return done();
}
