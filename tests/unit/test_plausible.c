/* test_plausible.c - which reported positions can be true; the limits are worked out by hand. */
#include "pollux/plausible.h"
#include "tap.h"

/* 100 samples a second, told every second: rate 200 / 2 s, advance 200 / 2. */
static struct position_watch steady(void)
{
	struct position_watch w = { 0 };

	for (int i = 0; i <= 2; i++)
		position_judge(&w, 100.0 * i, i);
	return w;
}

static void is_judged(double samples, double now_s, enum position_verdict want, const char *name)
{
	struct position_watch w = steady();

	is_int(position_judge(&w, samples, now_s), want, name);
}

static void test_limits(void)
{
	/* A second later: 100 * max(100 * 1, 100) = 10000 beyond 200. */
	is_judged(300, 3, POSITION_FINE, "the next position of a steady program is fine");
	is_judged(10200, 3, POSITION_FINE, "a position of a hundred times the rate is fine");
	is_judged(10201, 3, POSITION_JUMPED,
		  "a position above a hundred times the rate has jumped");
	is_judged(1e15, 3, POSITION_JUMPED, "a position far above the rate has jumped");
	/* Ten seconds later: 100 * 100 * 10. */
	is_judged(100200, 12, POSITION_FINE,
		  "a position of a hundred times the rate is fine after a long time");
	is_judged(100201, 12, POSITION_JUMPED,
		  "a position above that has jumped even after a long time");
	/* Read together with the last position: the second before that counts. */
	is_judged(10200, 2, POSITION_FINE,
		  "a position that was read together with the last is fine");
	is_judged(10201, 2, POSITION_JUMPED,
		  "a position that was read together may not jump, either");
	is_judged(200, 3, POSITION_FINE, "a position that stays is fine");
	is_judged(199, 3, POSITION_FELL, "a position below the last one has fallen");
}

static void test_refused(void)
{
	struct position_watch w = steady();

	is_int(position_judge(&w, 1e15, 3), POSITION_JUMPED, "a jump is refused");
	is_int(position_judge(&w, 1e15, 4), POSITION_JUMPED, "a jump is refused a second time");
	is_int(position_judge(&w, 0, 4), POSITION_FELL, "a fall after a jump is refused");
	is_int(position_judge(&w, 300, 5), POSITION_FINE,
	       "the next position after refused ones is fine");
	/* 300 at 5 s: rate 60, n 4; 1e6 is explained after 999700 / 6000 = 166.6 s. */
	is_int(position_judge(&w, 1e6, 171), POSITION_JUMPED,
	       "a jump to a million is refused for 166 s");
	is_int(position_judge(&w, 1e6, 172), POSITION_FINE,
	       "a jump to a million is believed after 167 s");
}

static void test_unknown(void)
{
	struct position_watch w = { 0 };

	is_int(position_judge(&w, 1e9, 5), POSITION_FINE, "a program may begin at any position");
	is_int(position_judge(&w, 2e9, 5), POSITION_FINE,
	       "a second position at the same time is fine");
	is_int(position_judge(&w, 3e9, 5), POSITION_FINE,
	       "a third position at the same time is fine");
	is_int(position_judge(&w, 9e12, 5), POSITION_FINE, "no position is a jump without a rate");
	is_int(position_judge(&w, 1, 6), POSITION_FELL,
	       "a position below the last has fallen even without a rate");
	position_restart(&w);
	is_int(position_judge(&w, 1, 6), POSITION_FINE,
	       "a program that restarts may begin at any position");
}

int main(void)
{
	test_limits();
	test_refused();
	test_unknown();
	return done();
}
