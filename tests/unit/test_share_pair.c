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
		{ "two jobs that wait half of the time stay together", 1, 1, SHARE_TOGETHER },
		{ "two jobs that compute all the time stay apart", 0.5, 0.5, SHARE_APART },
		{ "two jobs a little better than turns stay apart", 0.52, 0.52, SHARE_APART },
		{ "a small job that hardly disturbs a large one stays with it",
		  0.95, 0.3, SHARE_TOGETHER },
		{ "two jobs of which one gains what the other loses stay apart",
		  0.9, 0.1, SHARE_APART },
		{ "two jobs of which nothing is known are tried", UNKNOWN, UNKNOWN, SHARE_TRY },
		{ "two jobs of which the host alone was measured are tried",
		  0.9, UNKNOWN, SHARE_TRY },
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
	is_int(share_judge(&g).verdict, SHARE_TOGETHER,
	       "two jobs stay together though one rate alone is unknown");
	near(share_judge(&g).sum, 1.8, 1e-12, "an unknown rate alone counts as the other job's");
	g = pair(0.5, 0.5);
	g.factors[0][1].n_windows = g.factors[1][0].n_windows = SHARE_WINDOWS - 1;
	is_int(share_judge(&g).verdict, SHARE_TRY, "few windows do not decide on two jobs");
	g = pair(1, 1);
	g.factors[1][0].out_of_memory = true;
	is_int(share_judge(&g).verdict, SHARE_NOT_AGAIN,
	       "two jobs that ran out of memory once are not tried again");
}

static void test_memory(void)
{
	struct share_group g = pair(1, 1);

	g.room_bytes = 100;
	g.need_bytes[0] = g.need_bytes[1] = 46;
	is_int(share_judge(&g).verdict, SHARE_TOGETHER,
	       "two jobs that need 92 of 100 bytes have room");
	g.need_bytes[1] = 47;
	is_int(share_judge(&g).verdict, SHARE_NO_ROOM,
	       "two jobs that need 93 of 100 bytes have no room");
	g.need_bytes[1] = UNKNOWN;
	is_int(share_judge(&g).verdict, SHARE_NO_ROOM, "a job of unknown need has no room");
	g.room_bytes = 0;
	is_int(share_judge(&g).verdict, SHARE_TOGETHER,
	       "a job of unknown need has room on a device without memory");
}

static void test_three(void)
{
	struct share_group g = { .n = 3 };

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			set(&g, i, j, 0.9);
	near(share_judge(&g).sum, 3 * 0.81, 1e-12, "the rates of three jobs are products");
	is_int(share_judge(&g).verdict, SHARE_TOGETHER, "three jobs that wait stay together");
	set(&g, 0, 2, 0.5);
	set(&g, 2, 0, 0.5);
	is_int(share_judge(&g).verdict, SHARE_APART,
	       "a third job that brings less than it takes stays apart");
	set(&g, 1, 2, UNKNOWN);
	is_int(share_judge(&g).verdict, SHARE_APART, "a pair is not tried beside a third job");
}

int main(void)
{
	test_pairs();
	test_measurements();
	test_memory();
	test_three();
	return done();
}
