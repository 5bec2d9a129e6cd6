/* test_tier_wait.c - who waits for devices that are joined better, and who moves, on cases made by
 * hand: four devices in two pairs. */
#include "pollux/tier_wait.h"

#include <math.h>
#include <string.h>

#include "tap.h"

#define N 4

/* 0-1 and 2-3 are near (0); all others are far (3). */
static const unsigned char pairs[N * N] = {
	0, 0, 3, 3,
	0, 0, 3, 3,
	3, 3, 0, 0,
	3, 3, 0, 0,
};
static const struct tier_links links = { N, pairs };

static void test_sets(void)
{
	static const unsigned char chain[9] = { 0, 0, 3, 0, 0, 0, 3, 0, 0 };
	static const bool all[N] = { true, true, true, true }, across[N] = { true, false, true };
	static const bool pair[N] = { false, false, true, true }, alone[N] = { true };
	static const struct tier_links three = { 3, chain };

	is_int(tier_of_set(&links, all), 3, "the tier of all devices is that of the farthest pair");
	is_int(tier_of_set(&links, pair), 0, "the tier of a near pair is near");
	is_int(tier_of_set(&links, across), 3, "the tier of two halves is far");
	is_int(tier_of_set(&links, alone), TIER_NONE, "one device has no tier of a pair");
	is_int(tiers_of_set(&links, all), 2, "all devices have two tiers");
	is_int(tiers_of_set(&links, pair), 1, "a near pair has one tier");
	is_int(tier_largest_set(&links, all, 0), 2, "the largest near set has two devices");
	is_int(tier_largest_set(&links, all, 3), 4, "the largest far set has all devices");
	is_int(tier_largest_set(&three, all, 0), 2, "a chain of three is no near set");
}

static void test_best_by_number(void)
{
	static const bool all[N] = { true, true, true, true }, across[N] = { true, false, true };
	enum configuration_tier best[6] = { TIER_UNKNOWN };

	ok(tier_best_by_number(&links, all, best, 6),
	   "four devices in pairs can be joined in two ways");
	ok(best[2] == TIER_FAST && best[3] == TIER_FAR && best[4] == TIER_FAR,
	   "two devices can be near, and three and four are far");
	is_int((int)best[5], TIER_FAR, "more devices than there are would be far");
	ok(best[0] == TIER_UNKNOWN && best[1] == TIER_UNKNOWN, "one device has no best tier");
	ok(!tier_best_by_number(&links, across, best, 3), "two devices are joined in one way");
	is_int((int)best[2], TIER_FAR, "the best tier of two devices is theirs");
}

static void test_earliest(void)
{
	double free_s[N] = { 10, 5, HUGE_VAL, 0 };
	bool set[N];

	near(tier_earliest_set(&links, free_s, 2, 0, set), 10, 0,
	     "the earliest near pair is free when both devices are");
	ok(set[0] && set[1] && !set[2] && !set[3], "the earliest near pair is the first one");
	near(tier_earliest_set(&links, free_s, 2, 3, set), 5, 0,
	     "any two devices are free when the second one is");
	ok(set[1] && set[3], "the earliest two devices are those free first");
	ok(isinf(tier_earliest_set(&links, free_s, 3, 0, set)),
	   "no three devices are near at any time");
	free_s[2] = 8;
	near(tier_earliest_set(&links, free_s, 2, 0, set), 8, 0,
	     "a near pair that is free earlier comes first");
	ok(set[2] && set[3], "the second pair is the one that is free earlier");
}

/* A job of 1000 samples: 10 a second on a pair, 5 across; 1 and 3 are free now. */
static struct tier_offer offer(const double *free_s)
{
	return (struct tier_offer){
		.links = links, .free_s = free_s, .replicas = 2, .now_s = 100,
		.goodput = { 10, (double)NAN, (double)NAN, 5 }, .tier_now = 3, .worst = 3,
		.work = 1000, .usual_wait_s = { 60, 60, 60, 60 }, .since_s = 100,
		.latest_s = HUGE_VAL,
	};
}

static struct tier_answer ask(const struct tier_offer *o)
{
	static bool wanted[N];
	struct tier_answer a = { .wanted = wanted };

	tier_ask(o, &a);
	return a;
}

static void test_waits(void)
{
	double free_s[N] = { 150, 100, 5000, 100 };
	struct tier_offer o = offer(free_s);
	struct tier_answer a = ask(&o);

	ok(a.waits && a.tier == 0, "a job waits 50 s to save 100 s");
	ok(a.wanted[0] && a.wanted[1] && !a.wanted[3],
	   "a job waits for the pair that is free first");
	near(a.start_s, 150, 0, "a job that waits is expected to start when the pair is free");
	near(a.until_s, 200, 1e-9, "a job waits no longer than it can save");
	free_s[0] = 199;
	ok(ask(&o).waits, "a job waits 99 s to save 100 s");
	free_s[0] = 201;
	ok(!ask(&o).waits, "a job does not wait 101 s to save 100 s");
	free_s[0] = 3700;
	ok(!ask(&o).waits, "a job does not wait an hour to save 100 s");
	free_s[0] = 150;
	o.work = (double)NAN;
	ok(!ask(&o).waits, "a job of unknown work does not wait");
	o.work = 1000;
	o.goodput[0] = 5;
	ok(!ask(&o).waits, "a job does not wait for a pair that is no faster");
	o.goodput[0] = (double)NAN;
	ok(!ask(&o).waits, "a job does not wait for a pair of unknown speed");
}

static void test_bounds(void)
{
	double free_s[N] = { 150, 100, 5000, 100 };
	struct tier_offer o = offer(free_s);

	o.latest_s = 140;
	ok(!ask(&o).waits, "a job does not wait beyond what is allowed");
	o.latest_s = 160;
	near(ask(&o).until_s, 160, 0, "a job waits until what is allowed at the most");
	o.latest_s = HUGE_VAL;
	o.since_s = 20;
	ok(ask(&o).waits == false, "a job that waited 80 s does not wait 50 s more");
	o.since_s = 60;
	near(ask(&o).until_s, 160, 1e-9, "a job waits until the whole wait has cost what it saves");
}

static void test_unknown_ends(void)
{
	double free_s[N] = { (double)NAN, 100, 5000, 100 };
	struct tier_offer o = offer(free_s);

	near(ask(&o).start_s, 160, 0, "a device of unknown end is expected to wait as usual");
	o.usual_wait_s[0] = 120;
	ok(!ask(&o).waits, "a job does not wait where the usual wait does not pay");
}

static void test_pinned(void)
{
	double free_s[N] = { 100000, 100, HUGE_VAL, 100 };
	struct tier_offer o = offer(free_s);
	struct tier_answer a;

	o.worst = 0;
	a = ask(&o);
	ok(a.waits && isinf(a.until_s), "a job that accepts no other tier waits without end");
	near(a.start_s, 100000, 0, "a job that accepts no other tier starts when its pair is free");
	o.work = (double)NAN;
	ok(ask(&o).waits, "a job of unknown work waits if it accepts no other tier");
	o.tier_now = 0;
	ok(!ask(&o).waits, "a job that accepts no other tier does not wait if it has that");
}

static void test_moves(void)
{
	ok(tier_move_pays(5, 10, (double)NAN, 600, 20, 20), "a move to twice the speed pays");
	ok(!tier_move_pays(5, 5.5, (double)NAN, 600, 20, 20),
	   "a move to 10 % more does not pay for 20 of 300 s");
	ok(tier_move_pays(5, 5.7, (double)NAN, 600, 20, 20),
	   "a move to 14 % more pays for 20 of 300 s");
	ok(!tier_move_pays(5, 10, 50, 600, 20, 20),
	   "a move to twice the speed does not pay for the last 10 s");
	ok(!tier_move_pays(5, 5.2, (double)NAN, 600, 0, 0),
	   "a move to less than 5 % more does not pay");
	ok(!tier_move_pays(5, (double)NAN, (double)NAN, 600, 20, 20),
	   "a move to an unknown speed does not pay");
	ok(!tier_move_pays((double)NAN, 10, (double)NAN, 600, 20, 20),
	   "a move from an unknown speed does not pay");
}

static void test_past(void)
{
	static const struct tier_past past[] = {
		{ 1000, 2, 0, 30 }, { 2000, 2, 0, 10 }, { 3000, 2, 0, 80 }, { 3000, 4, 0, 500 },
		{ 3000, 2, 1, 700 }, { 3000, 2, 0, 50 },
	};

	near(tier_usual_wait_s(past, 6, 2, 0, 4000, 7), 40, 0,
	     "the usual wait is the median of four");
	near(tier_usual_wait_s(past, 6, 4, 0, 4000, 7), 500, 0,
	     "the usual wait is that of the number of devices");
	near(tier_usual_wait_s(past, 6, 2, 1, 4000, 7), 700, 0,
	     "the usual wait is that of the tier");
	near(tier_usual_wait_s(past, 6, 3, 0, 4000, 7), 7, 0,
	     "the usual wait without a past is the default");
	near(tier_usual_wait_s(past, 6, 2, 0, 2500 + TIER_WAITS_KEPT_S, 7), 65, 0,
	     "the usual wait is that of the last seven days");
	near(tier_usual_wait_s(past, 6, 2, 0, 4000 + TIER_WAITS_KEPT_S, 7), 7, 0,
	     "waits before the last seven days do not count");
}

int main(void)
{
	test_sets();
	test_best_by_number();
	test_earliest();
	test_waits();
	test_bounds();
	test_unknown_ends();
	test_pinned();
	test_moves();
	test_past();
	return done();
}
