/* test_core_speed.c - the part of a step that falls with cores, by step times with different
 * numbers of them: values worked out by hand, and times without an answer. */
#include "pollux/time_ratio.h"

#include <math.h>

#include "tap.h"

static struct observation timed(int replicas, int64_t m, int cores, double step_time_s,
				int64_t steps)
{
	return (struct observation){
		.configuration = configuration_make(replicas, m, 1), .cores = cores,
		.step_time_s = step_time_s, .n_steps = steps,
	};
}

/* 1 s, of which 0.6 s is the work of 4 cores. */
static double time_with(int cores)
{
	return 0.4 + 0.6 * 4 / cores;
}

static void test_part(void)
{
	struct observation times[] = {
		timed(1, 64, 4, time_with(4), 1000), timed(1, 64, 8, time_with(8), 100),
		timed(1, 64, 2, time_with(2), 100), timed(1, 128, 4, 9, 100),
		timed(2, 64, 16, 7, 500),
	};
	struct core_speed s = core_speed_fit(times, 5);

	ok(s.known, "one configuration with three numbers of cores tells the speed");
	is_int(s.base, 4, "the base is the number of cores with the most steps");
	near(s.part, 0.6, 1e-9, "the fit finds the part that falls with cores");
	near(core_speed_factor(&s, 4), 1, 1e-12, "the factor is 1 at the base");
	near(core_speed_factor(&s, 8), 0.7, 1e-9, "the factor falls with twice the cores");
	near(core_speed_factor(&s, 2), 1.6, 1e-9, "the factor grows with half of the cores");
}

static void test_unknown(void)
{
	struct observation apart[] = { timed(1, 64, 4, 1, 10), timed(1, 32, 8, 0.1, 10) };
	struct observation slower[] = { timed(1, 64, 4, 1, 10), timed(1, 64, 8, 1.3, 10) };
	struct observation untold[] = { timed(1, 64, 0, 1, 10), timed(1, 64, 8, (double)NAN, 10) };
	struct core_speed s = core_speed_fit(apart, 2);

	ok(!s.known, "different configurations do not tell the speed");
	near(core_speed_factor(&s, 8), 1, 0, "the factor is 1 where the speed is not known");
	s = core_speed_fit(slower, 2);
	near(s.part, 0, 0, "the part is 0 where more cores were slower");
	ok(s.known && core_speed_factor(&s, 1) <= 1,
	   "fewer cores are not slower where more cores bring nothing");
	s = core_speed_fit(untold, 2);
	ok(!s.known && s.base == 0, "times without cores or without a time are ignored");
	ok(!core_speed_fit(NULL, 0).known, "the speed is not known without measurements");
}

int main(void)
{
	test_part();
	test_unknown();
	return done();
}
