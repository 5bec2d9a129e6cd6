/* test_share_pair.c - whether jobs stay together on one device. */
#include <math.h>

#include "pollux/share_pair.h"
#include "tap.h"

#define UNKNOWN ((double)NAN)

/* i beside j: measured in enough windows, or, where the rate is NaN, not at all. */
static void set(struct share_group *g, int i, int j, double relative)
{
	g->factors[i][j] = (struct share_factor){
		.relative = relative, .n_windows = isnan(relative) ? 0 : SHARE_WINDOWS,
		.was_alone = true,
	};
}

static struct share_group pair(double a, double b)
{
	struct share_group g = { .n = 2 };

	set(&g, 0, 1, a);
	set(&g, 1, 0, b);
	return g;
}

static void test_pairs(void)
{
	static const struct {
		const char *name;
		double a, b;
		enum share_verdict wanted;
	} cases[] = {
		{ "two that wait half of the time", 1, 1, SHARE_TOGETHER },
		{ "two that compute", 0.5, 0.5, SHARE_APART },
		{ "a little above turns is not worth it", 0.52, 0.52, SHARE_APART },
		{ "a small job that hardly disturbs a large one", 0.95, 0.3, SHARE_TOGETHER },
		{ "one gains what the other loses", 0.9, 0.1, SHARE_APART },
		{ "nothing is known", UNKNOWN, UNKNOWN, SHARE_TRY },
		{ "the host alone was measured", 0.9, UNKNOWN, SHARE_TRY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct share_group g = pair(cases[i].a, cases[i].b);

		is_int(share_judge(&g).verdict, cases[i].wanted, cases[i].name);
	}
}

static void test_measurements(void)
{
	struct share_group g = pair(0.9, UNKNOWN);

	g.factors[1][0].was_alone = false;
	is_int(share_judge(&g).verdict, SHARE_TOGETHER, "a rate alone that nobody knows");
	near(share_judge(&g).sum, 1.8, 1e-12, "counts as the other's");
	g = pair(0.5, 0.5);
	g.factors[0][1].n_windows = g.factors[1][0].n_windows = SHARE_WINDOWS - 1;
	is_int(share_judge(&g).verdict, SHARE_TRY, "few windows do not decide");
	g = pair(1, 1);
	g.factors[1][0].out_of_memory = true;
	is_int(share_judge(&g).verdict, SHARE_NOT_AGAIN, "out of memory once is enough");
}

static void test_memory(void)
{
	struct share_group g = pair(1, 1);

	g.room_bytes = 100;
	g.need_bytes[0] = g.need_bytes[1] = 46;
	is_int(share_judge(&g).verdict, SHARE_TOGETHER, "92 of 100 fit");
	g.need_bytes[1] = 47;
	is_int(share_judge(&g).verdict, SHARE_NO_ROOM, "93 do not");
	g.need_bytes[1] = UNKNOWN;
	is_int(share_judge(&g).verdict, SHARE_NO_ROOM, "nor what nobody knows");
	g.room_bytes = 0;
	is_int(share_judge(&g).verdict, SHARE_TOGETHER, "unless the device has no memory");
}

static void test_three(void)
{
	struct share_group g = { .n = 3 };

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			set(&g, i, j, 0.9);
	near(share_judge(&g).sum, 3 * 0.81, 1e-12, "rates are products");
	is_int(share_judge(&g).verdict, SHARE_TOGETHER, "three that wait");
	set(&g, 0, 2, 0.5);
	set(&g, 2, 0, 0.5);
	is_int(share_judge(&g).verdict, SHARE_APART, "a third that brings less than it takes");
	set(&g, 1, 2, UNKNOWN);
	is_int(share_judge(&g).verdict, SHARE_APART, "no pair is tried beside a third");
}

int main(void)
{
	test_pairs();
	test_measurements();
	test_memory();
	test_three();
	return done();
}
