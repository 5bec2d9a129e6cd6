/* Statistics of step times, against values worked out with Python's statistics module:
 *
 *	>>> w = [[.010, .012, .011], [.020, .014], [.013, .012, .100, .011, .013]]
 *	>>> m = [median(x) for x in w]; m, mean(m), stdev(m)
 *	([0.011, 0.017, 0.013], 0.013666666666666667, 0.0030550504633038945)
 *	>>> a = [.5, .25, .75, .5]; b = [.125, 1.]
 *	>>> mean(a), stdev(a), mean(b), stdev(b), mean(a + b), stdev(a + b)
 *	(0.5, 0.2041241452319315, 0.5625, 0.6187184335382291, 0.5208333333333334,
 *	 0.32031885156304285)
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "pollux/step_stats.h"
#include "tap.h"

static const double not_reported = (double)NAN;

/* Past the warm-up, with nothing of it counted: no two windows agreed. */
static void start(struct step_stats *s)
{
	step_stats_init(s);
	for (int i = 0; i < STEP_WARM_UP_MAX; i++) {
		step_stats_add(s, i % 2 ? 100 : 200, 50);
		step_stats_close_window(s);
	}
}

static void add_window(struct step_stats *s, const double *steps, int n)
{
	for (int i = 0; i < n; i++)
		step_stats_add(s, steps[i], not_reported);
	step_stats_close_window(s);
}

static struct observation windows(const double *medians, int n)
{
	struct step_stats s;
	struct observation o;

	start(&s);
	for (int i = 0; i < n; i++)
		add_window(&s, &medians[i], 1);
	step_stats_result(&s, &o);
	return o;
}

static void test_by_hand(void)
{
	static const double w1[] = { 0.10, 0.12, 0.11 }, w2[] = { 0.20, 0.14 };
	static const double w3[] = { 0.13, 0.12, 1.00, 0.11, 0.13 };
	struct step_stats s;
	struct observation o;

	start(&s);
	add_window(&s, w1, 3);
	add_window(&s, w2, 2);
	add_window(&s, w3, 5);
	step_stats_result(&s, &o);
	near(o.step_time_s, 0.13666666666666667, 1e-14, "the time is the mean of the medians");
	near(o.step_time_sd_s, 0.030550504633038945, 1e-12, "the deviation is that of the medians");
	near(o.step_time_min_s, 0.11, 1e-14, "the least time is the least median");
	is_int(o.n_steps, 10, "all steps of the windows are counted");
	is_int(o.n_windows, 3, "all windows are counted");
	is_int(o.n_outliers, 1, "1.00 counts as an outlier, and 0.20 does not");
	is_int(o.n_dropped, STEP_WARM_UP_MAX, "the steps of the warm-up are counted as dropped");
	is_int(o.n_invalid, 0, "no step is counted as invalid");
	ok(isnan(o.sync_time_s), "synchronisation that was not reported is unknown");
}

static void test_nothing_yet(void)
{
	struct step_stats s;
	struct observation o;

	step_stats_init(&s);
	step_stats_close_window(&s);
	ok(!step_stats_result(&s, &o), "a window without steps gives no result");
	ok(o.n_windows == 0 && o.n_steps == 0, "a window without steps is not counted");
	ok(isnan(o.step_time_s) && isnan(o.step_time_sd_s) && isnan(o.step_time_min_s) &&
	   isnan(o.sync_time_s), "the times of no windows are unknown, not 0");

	o = windows((const double[]){ 0.25 }, 1);
	near(o.step_time_s, 0.25, 0, "one window gives its time as the mean");
	near(o.step_time_min_s, 0.25, 0, "one window gives its time as the least");
	ok(isnan(o.step_time_sd_s), "one window gives no standard deviation");

	step_stats_add(&s, 1, not_reported);
	step_stats_result(&s, &o);
	is_int(o.n_steps + o.n_dropped, 0, "an open window does not count");
}

/* A window of n steps of this time, as windows come: closed at once. */
static void add_steps(struct step_stats *s, double step_s, int n)
{
	for (int i = 0; i < n; i++)
		step_stats_add(s, step_s, not_reported);
	step_stats_close_window(s);
}

/* A program that compiles in its first window, and a little in its second. */
static void test_compilation(void)
{
	struct step_stats s;
	struct observation o;

	step_stats_init(&s);
	step_stats_close_window(&s);
	/* nothing in them: no windows, and they agree with nothing */
	step_stats_close_window(&s);
	add_steps(&s, 60, 3);
	add_steps(&s, 0.7, 2);
	add_steps(&s, 0.5, 4);
	ok(!step_stats_result(&s, &o), "no window counts while no two agree");
	is_int(o.n_dropped, 5, "windows that no later one can agree with are dropped");
	add_steps(&s, 0.54, 4);
	ok(step_stats_result(&s, &o), "two windows within a tenth agree");
	is_int(o.n_windows, 2, "both windows that agree count");
	is_int(o.n_steps, 8, "both windows that agree count with their steps");
	near(o.step_time_s, 0.52, 1e-14, "two windows that agree give their mean");
	is_int(o.n_dropped, 5, "windows before two that agree are dropped");
	add_steps(&s, 1.5, 1);
	step_stats_result(&s, &o);
	is_int(o.n_windows, 3, "every window counts after two that agree");
	is_int(o.n_dropped, 5, "no window is dropped after two that agree");
	add_steps(&s, 50, 2);
	step_stats_result(&s, &o);
	is_int(o.n_windows, 3, "a window three times above the mean waits for the next");
	add_steps(&s, 0.5, 4);
	step_stats_result(&s, &o);
	ok(o.n_windows == 4 && o.step_time_s < 1 && o.n_outliers == 2,
	   "a single slow window is passed over as a stall");
	add_steps(&s, 50, 2);
	add_steps(&s, 70, 2);
	step_stats_result(&s, &o);
	ok(o.n_windows == 6 && o.step_time_s > 20 && o.n_outliers == 2,
	   "two slow windows in a row are no stall");
	add_steps(&s, 0.5, 1);
	step_stats_result(&s, &o);
	is_int(o.n_windows, 7, "a window after two slow ones counts");

	step_stats_init(&s);
	add_steps(&s, 1, 1);
	add_steps(&s, 1.11, 1);
	ok(!step_stats_result(&s, &o), "two windows more than a tenth apart do not agree");
	step_stats_init(&s);
	add_steps(&s, 1.1, 1);
	add_steps(&s, 1, 1);
	step_stats_result(&s, &o);
	ok(o.n_windows == 2 && o.n_dropped == 0, "no window is dropped if the first two agree");
}

/* Times that fall by a fifth from window to window, to a floor. */
static void test_slow_decline(void)
{
	static const double medians[] = { 2.5, 2.0, 1.6, 1.28, 1.024, 1, 1, 1 };
	struct step_stats s;
	struct observation o;

	step_stats_init(&s);
	for (int i = 0; i < 8; i++)
		add_steps(&s, medians[i], 10);
	step_stats_result(&s, &o);
	is_int(o.n_dropped, 40, "windows of a slow decline are dropped while it is steep");
	is_int(o.n_windows, 4, "windows at the end of a slow decline count");
	near(o.step_time_s, (1.024 + 3) / 4, 1e-14,
	     "windows at the end of a slow decline give their mean");
}

static void test_noisy_forever(void)
{
	struct step_stats s;
	struct observation o;

	step_stats_init(&s);
	for (int i = 0; i < STEP_WARM_UP_MAX; i++)
		add_steps(&s, i % 2 ? 1 : 2, 1);
	ok(!step_stats_result(&s, &o), "ten windows that disagree do not count");
	is_int(o.n_dropped, STEP_WARM_UP_MAX,
	       "ten windows that disagree are dropped, the last one too");
	add_steps(&s, 2, 1);
	add_steps(&s, 1, 1);
	step_stats_result(&s, &o);
	is_int(o.n_windows, 2, "every window counts after ten that disagree");
	near(o.step_time_s, 1.5, 1e-14,
	     "windows after ten that disagree count though they disagree");

	step_stats_init(&s);
	for (int i = 0; i < STEP_WARM_UP_MAX - 1; i++)
		add_steps(&s, i % 2 ? 1 : 2, 1);
	add_steps(&s, 2, 1);
	step_stats_result(&s, &o);
	ok(o.n_windows == 2 && o.n_dropped == STEP_WARM_UP_MAX - 2,
	   "the last two windows of the warm-up count if they agree");
}

static void test_sync(void)
{
	struct step_stats s;
	struct observation o;

	start(&s);
	step_stats_add(&s, 1.0, 0.25);
	step_stats_add(&s, 1.0, not_reported);
	step_stats_add(&s, 1.0, 0.5);
	step_stats_add(&s, 1.0, 0.5);
	step_stats_close_window(&s);	/* median 0.5 */
	step_stats_add(&s, 1.0, not_reported);
	step_stats_close_window(&s);	/* none */
	step_stats_add(&s, 1.0, 0.0);
	step_stats_close_window(&s);	/* 0 is a value */
	step_stats_result(&s, &o);
	near(o.sync_time_s, 0.25, 1e-15,
	     "synchronisation is the mean over the windows that have it");
	is_int(o.n_windows, 3, "a window without synchronisation counts for the step time");
}

static void test_invalid(void)
{
	static const double bad[] = { 0, -0.0, -1, 1e7, 1e300, (double)INFINITY, -(double)INFINITY,
				      (double)NAN };
	struct step_stats s;
	struct observation o;

	start(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		step_stats_add(&s, bad[i], not_reported);
	step_stats_result(&s, &o);
	is_int(o.n_invalid, 8, "impossible steps are ignored and counted as invalid");
	step_stats_close_window(&s);
	step_stats_result(&s, &o);
	is_int(o.n_windows, 0, "a window of impossible steps is empty");

	step_stats_add(&s, 1, -0.5);
	step_stats_add(&s, 1, 1.5);
	step_stats_add(&s, 1, (double)INFINITY);
	step_stats_add(&s, STEP_TIME_MAX_S, STEP_TIME_MAX_S);
	step_stats_add(&s, 1, 0.75);
	step_stats_close_window(&s);
	step_stats_result(&s, &o);
	is_int(o.n_invalid, 11, "impossible times of synchronisation count as invalid");
	is_int(o.n_steps, 5, "steps with an impossible synchronisation count");
	near(o.step_time_s, 1, 0, "steps with an impossible synchronisation give their median");
	near(o.sync_time_s, (STEP_TIME_MAX_S + 0.75) / 2, 1e-15,
	     "possible times of synchronisation count beside impossible ones");
}

/* Three steps while a program saves and goes are no window like another. */
static void test_small_windows(void)
{
	struct step_stats s;
	struct observation o;

	start(&s);
	for (int i = 0; i < STEP_WINDOW_STEPS - 1; i++) {
		step_stats_add(&s, 0.01, not_reported);
		step_stats_close_window(&s);
	}
	ok(!step_stats_result(&s, &o), "a few short steps are no window");
	step_stats_add(&s, 0.01, not_reported);
	step_stats_close_window(&s);
	step_stats_result(&s, &o);
	ok(o.n_windows == 1 && o.n_steps == STEP_WINDOW_STEPS, "enough short steps are one window");
	for (int i = 0; i < 9; i++) {
		step_stats_add(&s, 0.025, not_reported);
		step_stats_close_window(&s);
	}
	step_stats_result(&s, &o);
	ok(o.n_windows == 2 && o.n_steps >= STEP_WINDOW_STEPS + 8,
	   "a few long steps are one window");
}

/* 1,000,000 steps in a window: 1 ms, every 8th 9 ms (an evaluation, say). */
static void test_large_window(void)
{
	struct step_stats s, again;
	struct observation o, p;

	start(&s);
	start(&again);
	for (int i = 0; i < 1000000; i++) {
		step_stats_add(&s, i % 8 ? 0.001 : 0.009, not_reported);
		step_stats_add(&again, i % 8 ? 0.001 : 0.009, not_reported);
	}
	step_stats_close_window(&s);
	step_stats_close_window(&again);
	step_stats_result(&s, &o);
	step_stats_result(&again, &p);
	is_int(o.n_steps, 1000000, "all steps of a large window are counted");
	near(o.step_time_s, 0.001, 1e-15, "a periodic slow step does not move the median");
	/* p = 1/8: the standard error of 1,024 draws is 0.0103, 8.3 % of p; four of those. */
	near((double)o.n_outliers, 125000, 0.33,
	     "the outliers of a large window are estimated from a sample");
	is_int(p.n_outliers, o.n_outliers, "the same steps give the same sample");
}

/* The sample is uniform: of times that grow from 0 to 1 the median is 1/2. */
static void test_sample_is_uniform(void)
{
	const int n = 20000, rounds = 200;
	struct step_stats s;
	struct observation o;

	start(&s);
	for (int k = 0; k < rounds; k++) {
		for (int i = 1; i <= n; i++)
			step_stats_add(&s, (double)i / n, not_reported);
		step_stats_close_window(&s);
	}
	step_stats_result(&s, &o);
	/* The median of 1,024 uniform draws has standard deviation 1 / (2 sqrt(1024 + 2)) =
	 * 0.0156. */
	near(o.step_time_sd_s, 0.0156, 0.2,
	     "the medians of samples have the spread of uniform draws");
	near(o.step_time_s, 0.5, 4 * 0.0312 / sqrt(rounds),
	     "the mean of the medians of samples is within 4 errors");
}

static void test_merge(void)
{
	static const double a[] = { 0.5, 0.25, 0.75, 0.5 }, b[] = { 0.375, 1 };
	struct observation x = windows(a, 4), y = windows(b, 2), none;

	observation_init(&none);
	near(x.step_time_sd_s, 0.2041241452319315, 1e-14,
	     "the first of two observations has its deviation");
	near(y.step_time_sd_s, 0.4419417382415922, 1e-14,
	     "the second of two observations has its deviation");
	x.sync_time_s = 0.1;
	y.sync_time_s = 0.4;
	x.n_outliers = 3;
	y.n_invalid = 5;
	observation_merge(&x, &y);
	near(x.step_time_s, 0.5625, 1e-14, "two merged observations have the mean of all windows");
	near(x.step_time_sd_s, 0.270993542358485, 1e-14,
	     "two merged observations have the deviation of all windows");
	near(x.step_time_min_s, 0.25, 0, "two merged observations have the least of both");
	near(x.sync_time_s, (4 * 0.1 + 2 * 0.4) / 6, 1e-14,
	     "two merged observations weight synchronisation by windows");
	ok(x.n_windows == 6 && x.n_steps == 6 && x.n_dropped == 20 && x.n_outliers == 3 &&
	   x.n_invalid == 5, "two merged observations have the sums of their counts");

	observation_merge(&none, &y);
	near(none.step_time_sd_s, y.step_time_sd_s, 0,
	     "an empty observation takes the deviation of another");
	near(none.sync_time_s, 0.4, 0, "an empty observation takes the synchronisation of another");
	is_int(none.n_invalid, 5, "an empty observation takes the counts of another");
	observation_init(&none);
	observation_merge(&y, &none);
	near(y.step_time_s, 0.6875, 1e-15,
	     "an empty observation does not change the mean of another");
	is_int(y.n_windows, 2, "an empty observation does not change the windows of another");
	observation_merge(&none, &none);
	ok(none.n_windows == 0 && isnan(none.step_time_s), "two empty observations stay empty");
}

static void test_merge_single_windows(void)
{
	static const double a[] = { 5, 2.5, 7.5, 5, 1.25, 10 };
	struct observation sum, one;

	observation_init(&sum);
	for (int i = 0; i < 6; i++) {
		one = windows(&a[i], 1);
		observation_merge(&sum, &one);
	}
	near(sum.step_time_s, 5.208333333333334, 1e-14,
	     "windows merged one at a time have the mean of all");
	near(sum.step_time_sd_s, 3.2031885156304285, 1e-14,
	     "windows merged one at a time have the deviation of all");
}

/* Deviations of a ten-millionth of the mean, where E[x^2] - E[x]^2 has no digit left. */
static void test_cancellation(void)
{
	struct step_stats s;
	struct observation o;

	start(&s);
	for (int i = 0; i < 10000; i++) {
		double step_s = 1000 + (i % 2 ? 1e-4 : -1e-4);

		add_window(&s, &step_s, 1);
	}
	step_stats_result(&s, &o);
	/* 10,000 of +-d: n d^2 / (n - 1). */
	near(o.step_time_sd_s, 1e-4 * sqrt(10000.0 / 9999), 1e-6,
	     "a deviation of a ten-millionth of the mean is found");
}

/* Of a configuration in its warm-up the last window is told, but never the first. */
static void test_provisional(void)
{
	static const double slow = 1.0, fast = 0.5;
	struct step_stats s;
	struct observation o = { .n_windows = 7 };

	step_stats_init(&s);
	add_window(&s, &slow, 1);
	ok(!step_stats_provisional(&s, &o) && o.n_windows == 7,
	   "the first window is not told provisionally");
	add_window(&s, &fast, 1);
	ok(!step_stats_result(&s, &o), "two windows that differ do not count");
	ok(step_stats_provisional(&s, &o),
	   "the second of two windows that differ is told provisionally");
	near(o.step_time_s, 0.5, 1e-14, "a provisional result has the median of its window");
	ok(o.n_windows == 1 && o.n_steps == 1 && isnan(o.step_time_sd_s),
	   "a provisional result counts as one window");
	is_int(o.n_dropped, 1, "a provisional result drops the first window");
	add_window(&s, &fast, 1);
	ok(!step_stats_provisional(&s, &o) && step_stats_result(&s, &o),
	   "no result is provisional once windows count");
}

/* A report that has the mean of many steps counts with the time of all. */
static void test_means(void)
{
	struct step_stats s;
	struct observation o;

	start(&s);
	step_stats_add_mean(&s, 0.001, not_reported, 100);
	step_stats_close_window(&s);
	ok(!step_stats_result(&s, &o), "a mean of 100 steps of 1 ms is no window");
	step_stats_add_mean(&s, 0.001, not_reported, 100);
	step_stats_close_window(&s);
	ok(step_stats_result(&s, &o) && o.n_windows == 1,
	   "a mean of 200 steps of 1 ms is a window");
}

int main(void)
{
	test_by_hand();
	test_nothing_yet();
	test_provisional();
	test_means();
	test_compilation();
	test_slow_decline();
	test_noisy_forever();
	test_sync();
	test_invalid();
	test_small_windows();
	test_large_window();
	test_sample_is_uniform();
	test_merge();
	test_merge_single_windows();
	test_cancellation();
	return done();
}
