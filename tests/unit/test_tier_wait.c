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

	is_int(tier_of_set(&links, all), 3, "the farthest pair of all");
	is_int(tier_of_set(&links, pair), 0, "of a pair");
	is_int(tier_of_set(&links, across), 3, "of two halves");
	is_int(tier_of_set(&links, alone), TIER_NONE, "one device has no pair");
	is_int(tiers_of_set(&links, all), 2, "two tiers");
	is_int(tiers_of_set(&links, pair), 1, "one tier");
	is_int(tier_largest_set(&links, all, 0), 2, "two are near");
	is_int(tier_largest_set(&links, all, 3), 4, "all are not farther than the farthest");
	is_int(tier_largest_set(&three, all, 0), 2, "a chain of three is no group");
}

static void test_best_by_number(void)
{
	static const bool all[N] = { true, true, true, true }, across[N] = { true, false, true };
	enum configuration_tier best[6] = { TIER_UNKNOWN };

	ok(tier_best_by_number(&links, all, best, 6), "pairs are joined in two ways");
	ok(best[2] == TIER_FAST && best[3] == TIER_FAR && best[4] == TIER_FAR,
	   "two can be near, three and four cross pairs");
	is_int((int)best[5], TIER_FAR, "more than there are would be far");
	ok(best[0] == TIER_UNKNOWN && best[1] == TIER_UNKNOWN, "one device has no tier");
	ok(!tier_best_by_number(&links, across, best, 3), "two devices are joined in one way");
	is_int((int)best[2], TIER_FAR, "which is that of the two");
}

static void test_earliest(void)
{
	double free_s[N] = { 10, 5, HUGE_VAL, 0 };
	bool set[N];

	near(tier_earliest_set(&links, free_s, 2, 0, set), 10, 0, "when both of a pair are free");
	ok(set[0] && set[1] && !set[2] && !set[3], "which is the first pair");
	near(tier_earliest_set(&links, free_s, 2, 3, set), 5, 0, "the first two of any");
	ok(set[1] && set[3], "wherever they are");
	ok(isinf(tier_earliest_set(&links, free_s, 3, 0, set)), "no three are near");
	free_s[2] = 8;
	near(tier_earliest_set(&links, free_s, 2, 0, set), 8, 0, "the earlier pair");
	ok(set[2] && set[3], "is the second one then");
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

	ok(a.waits && a.tier == 0, "50 s are worth 100 s");
	ok(a.wanted[0] && a.wanted[1] && !a.wanted[3], "for the pair that is free first");
	near(a.start_s, 150, 0, "is expected to start then");
	near(a.until_s, 200, 1e-9, "waits no longer than it can save");
	free_s[0] = 199;
	ok(ask(&o).waits, "99 s are worth 100 s");
	free_s[0] = 201;
	ok(!ask(&o).waits, "101 s are not");
	free_s[0] = 3700;
	ok(!ask(&o).waits, "nor is an hour");
	free_s[0] = 150;
	o.work = (double)NAN;
	ok(!ask(&o).waits, "nothing is known of its work: no wait");
	o.work = 1000;
	o.goodput[0] = 5;
	ok(!ask(&o).waits, "a pair that is no faster is not waited for");
	o.goodput[0] = (double)NAN;
	ok(!ask(&o).waits, "nor one of which nothing is known");
}

static void test_bounds(void)
{
	double free_s[N] = { 150, 100, 5000, 100 };
	struct tier_offer o = offer(free_s);

	o.latest_s = 140;
	ok(!ask(&o).waits, "no wait beyond what is allowed");
	o.latest_s = 160;
	near(ask(&o).until_s, 160, 0, "until then at the most");
	o.latest_s = HUGE_VAL;
	o.since_s = 20;
	ok(ask(&o).waits == false, "what it has waited counts: 80 s, and 50 s more");
	o.since_s = 60;
	near(ask(&o).until_s, 160, 1e-9, "until the whole wait has cost what it saves");
}

static void test_unknown_ends(void)
{
	double free_s[N] = { (double)NAN, 100, 5000, 100 };
	struct tier_offer o = offer(free_s);

	near(ask(&o).start_s, 160, 0, "an unknown end is expected as others waited");
	o.usual_wait_s[0] = 120;
	ok(!ask(&o).waits, "who waited too long for it to pay");
}

static void test_pinned(void)
{
	double free_s[N] = { 100000, 100, HUGE_VAL, 100 };
	struct tier_offer o = offer(free_s);
	struct tier_answer a;

	o.worst = 0;
	a = ask(&o);
	ok(a.waits && isinf(a.until_s), "a job that accepts no other tier waits");
	near(a.start_s, 100000, 0, "for as long as that takes");
	o.work = (double)NAN;
	ok(ask(&o).waits, "also where nothing is known of it");
	o.tier_now = 0;
	ok(!ask(&o).waits, "but not where it has that tier");
}

static void test_moves(void)
{
	ok(tier_move_pays(5, 10, (double)NAN, 600, 20, 20), "twice as fast pays");
	ok(!tier_move_pays(5, 5.5, (double)NAN, 600, 20, 20), "10 % do not pay for 20 of 300 s");
	ok(tier_move_pays(5, 5.7, (double)NAN, 600, 20, 20), "14 % do");
	ok(!tier_move_pays(5, 10, 50, 600, 20, 20), "nor twice for the last 10 s");
	ok(!tier_move_pays(5, 5.2, (double)NAN, 600, 0, 0), "a gain below 5 % is none");
	ok(!tier_move_pays(5, (double)NAN, (double)NAN, 600, 20, 20), "nor an unknown one");
	ok(!tier_move_pays((double)NAN, 10, (double)NAN, 600, 20, 20), "nor over an unknown one");
}

static void test_past(void)
{
	static const struct tier_past past[] = {
		{ 1000, 2, 0, 30 }, { 2000, 2, 0, 10 }, { 3000, 2, 0, 80 }, { 3000, 4, 0, 500 },
		{ 3000, 2, 1, 700 }, { 3000, 2, 0, 50 },
	};

	near(tier_usual_wait_s(past, 6, 2, 0, 4000, 7), 40, 0, "the median of four");
	near(tier_usual_wait_s(past, 6, 4, 0, 4000, 7), 500, 0, "by number of devices");
	near(tier_usual_wait_s(past, 6, 2, 1, 4000, 7), 700, 0, "by tier");
	near(tier_usual_wait_s(past, 6, 3, 0, 4000, 7), 7, 0, "none: what else is expected");
	near(tier_usual_wait_s(past, 6, 2, 0, 2500 + TIER_WAITS_KEPT_S, 7), 65, 0,
	     "those of the last seven days");
	near(tier_usual_wait_s(past, 6, 2, 0, 4000 + TIER_WAITS_KEPT_S, 7), 7, 0, "no others");
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
