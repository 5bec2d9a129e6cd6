/* test_repeat.c - when a mean is known well enough. */
#include "measure/backend.h"
#include "pollux/step_stats.h"
#include "tap.h"

static const struct repeat_limits limits = {
	.least = 5, .most = 50, .half_width = 0.02, .span_s = 1e-3, .time_s = 1e9,
};

/* From tables of Student's t, 97.5 %. */
static void test_student(void)
{
	near(student_quantile(4), 2.776445, 5e-3, "Student's t of 4 degrees is that of the tables");
	near(student_quantile(9), 2.262157, 1e-3, "Student's t of 9 degrees is that of the tables");
	near(student_quantile(30), 2.042272, 1e-4,
	     "Student's t of 30 degrees is that of the tables");
	near(student_quantile(1000), 1.962339, 1e-6,
	     "Student's t of 1000 degrees is that of the tables");
}

static void test_statistics(void)
{
	static const double same[] = { 2, 2, 2, 2, 2 }, spread[] = { 0.9, 1.1, 1, 1, 1 };
	static const double stalled[] = { 1, 1, 50, 1, 1, 1 }, one[] = { 3 };
	struct repeated s = repeat_of(same, 5, &limits);

	ok(s.steady && s.n == 5 && s.n_stalls == 0, "five equal times are steady");
	near(s.mean_s, 2, 0, "five equal times have their value as mean");
	near(s.sd_s, 0, 0, "five equal times have no deviation");
	s = repeat_of(same, 4, &limits);
	ok(!s.steady, "four equal times are too few");
	s = repeat_of(spread, 5, &limits);
	near(s.mean_s, 1, 1e-12, "the mean of 0.9, 1.1 and three times 1 is 1");
	near(s.sd_s, sqrt(0.005), 1e-12, "the deviation of these times is the root of 0.02 / 4");
	near(s.half_width, 2.776445 * sqrt(0.005 / 5), 5e-3,
	     "the half width of these times is by Student's t");
	ok(!s.steady, "times with a half width of 8.8 % are not steady");
	s = repeat_of(stalled, 6, &limits);
	ok(s.steady && s.n == 5 && s.n_stalls == 1, "a stall among equal times does not count");
	near(s.mean_s, 1, 0, "the time of a stall does not change the mean");
	s = repeat_of(one, 1, &limits);
	ok(!s.steady && s.half_width >= HUGE_VAL, "a single time tells no half width");
}

/* --- the loop, on a clock of its own --- */

struct fake {
	double each_s, ripple;		/* ripple: of every second run, relative */
	int64_t calls, largest, fail_at;
};

static double run(void *state, int64_t count)
{
	struct fake *f = state;

	f->calls++;
	f->largest = count > f->largest ? count : f->largest;
	if (f->calls == f->fail_at)
		return (double)NAN;
	return (double)count * f->each_s * (f->calls % 2 ? 1 + f->ripple : 1);
}

static void test_loop(void)
{
	struct fake even = { .each_s = 1e-5 }, wavy = { .each_s = 1e-2, .ripple = 0.5 };
	struct fake rough = { .each_s = 1e-2, .ripple = 0.02 };
	struct repeated s;

	is_int(repeat_time(&s, run, &even, &limits), 0, "a run of ten microseconds is timed");
	is_int(even.largest, 128, "128 runs of ten microseconds fill a span");
	near(s.mean_s, 1e-5, 1e-12, "the mean is the time of one run");
	ok(s.steady && s.n == 5, "equal repetitions are steady after the least number");
	is_int(repeat_time(&s, run, &wavy, &limits), 0,
	       "a run that alternates between 10 and 15 ms is timed");
	ok(!s.steady && s.n == limits.most,
	   "alternating repetitions are not steady after the most");
	is_int(wavy.largest, 1, "a long run is a repetition by itself");
	is_int(repeat_time(&s, run, &rough, &limits), 0, "a run between 10 and 10.2 ms is timed");
	ok(s.steady && s.n < limits.most, "nearly equal repetitions become steady before the most");
}

/* Two to find how many fill a span, two to warm up, five that count. */
static void test_failures(void)
{
	struct repeated s;
	int n_told = 0;

	for (int64_t at = 1; at <= 10; at++) {
		struct fake broken = { .each_s = 1e-2, .fail_at = at };

		n_told += repeat_time(&s, run, &broken, &limits) == -1;
	}
	is_int(n_told, 9, "a run that fails at any of nine calls is told");
}

/* Time is up before the mean is known. */
static void test_time(void)
{
	struct repeat_limits short_of_time = limits;
	struct fake wavy = { .each_s = 1e-2, .ripple = 0.5 };
	struct repeated s;

	short_of_time.time_s = 0;
	repeat_time(&s, run, &wavy, &short_of_time);
	ok(!s.steady && s.n == limits.least,
	   "repetitions without time stop after the least number");
}

int main(void)
{
	test_student();
	test_statistics();
	test_loop();
	test_failures();
	test_time();
	return done();
}
