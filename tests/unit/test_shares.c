/* test_shares.c - shares worked out by hand; what holds of all; people who take turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/random_numbers.h"
#include "pollux/shares.h"
#include "tap.h"

#define MOST 8

/* --- by hand --- */

static const struct {
	const char *name;
	int n_devices, n;
	struct share people[4];
	int want[4];
} cases[] = {
	{ "nobody else", 4, 1, { { .name = "a", .wanted = 9 } }, { 4 } },
	{ "no more than is wanted", 4, 1, { { .name = "a", .wanted = 3 } }, { 3 } },
	{ "even", 4, 2, { { .name = "a", .wanted = 4 }, { .name = "b", .wanted = 4 } }, { 2, 2 } },
	{ "what one does not want the other has", 4, 2,
	  { { .name = "a", .wanted = 4 }, { .name = "b", .wanted = 1 } }, { 3, 1 } },
	{ "small wishes first", 8, 4,
	  { { .name = "a", .wanted = 8 }, { .name = "b", .wanted = 1 },
	    { .name = "c", .wanted = 2 }, { .name = "d", .wanted = 8 } }, { 3, 1, 2, 2 } },
	{ "by weight", 6, 2, { { .name = "a", .wanted = 6, .weight = 2 },
			       { .name = "b", .wanted = 6, .weight = 1 } }, { 4, 2 } },
	{ "a weight that is none is 1", 4, 2, { { .name = "a", .wanted = 4, .weight = -3 },
						{ .name = "b", .wanted = 4, .weight = 1 } },
	  { 2, 2 } },
	{ "the one that is left over to whom it is new", 3, 2,
	  { { .name = "a", .held = 2, .wanted = 3 }, { .name = "b", .held = 1, .wanted = 3 } },
	  { 1, 2 } },
	{ "of two to whom it is new, who waits longer", 4, 3,
	  { { .name = "a", .held = 2, .wanted = 4 },
	    { .name = "b", .held = 1, .wanted = 4, .without_since_s = 20 },
	    { .name = "c", .held = 1, .wanted = 4, .without_since_s = 10 } }, { 1, 1, 2 } },
	{ "fewer devices than people", 1, 3,
	  { { .name = "a", .held = 1, .wanted = 1 },
	    { .name = "b", .wanted = 1, .without_since_s = 5 },
	    { .name = "c", .wanted = 1, .without_since_s = 4 } }, { 0, 0, 1 } },
	{ "by name", 1, 2, { { .name = "b", .wanted = 1 }, { .name = "a", .wanted = 1 } },
	  { 0, 1 } },
	{ "no device", 0, 1, { { .name = "a", .wanted = 1 } }, { 0 } },
	{ "nothing wanted", 3, 2, { { .name = "a" }, { .name = "b", .wanted = -1 } }, { 0, 0 } },
};

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct share people[4];
		char got[40], want[40];

		memcpy(people, cases[i].people, sizeof(people));
		shares_divide(people, cases[i].n, cases[i].n_devices);
		snprintf(got, sizeof(got), "%d %d %d %d", people[0].devices, people[1].devices,
			 people[2].devices, people[3].devices);
		snprintf(want, sizeof(want), "%d %d %d %d", cases[i].want[0], cases[i].want[1],
			 cases[i].want[2], cases[i].want[3]);
		is_str(got, want, cases[i].name);
	}
}

static int allowed(int held, int wanted, int other_held, int other_wanted, int n_free)
{
	struct share people[] = {
		{ .name = "me", .held = held, .wanted = wanted },
		{ .name = "other", .held = other_held, .wanted = other_wanted },
	};

	shares_divide(people, 2, held + other_held + n_free);
	return shares_allowed(people, 2, 0, n_free);
}

static void test_allowed(void)
{
	is_int(allowed(4, 4, 0, 0, 0), 4, "who is alone keeps all");
	is_int(allowed(4, 4, 0, 4, 0), 2, "a newcomer is to have half");
	is_int(allowed(4, 4, 0, 1, 0), 3, "or the one that he wants");
	is_int(allowed(3, 4, 0, 1, 1), 3, "a free one is left for him");
	is_int(allowed(2, 4, 2, 2, 0), 2, "both have what is theirs");
	is_int(allowed(2, 4, 1, 1, 1), 3, "what nobody else wants may be used");
	is_int(allowed(0, 4, 4, 4, 0), 0, "nothing is free yet");
	is_int(allowed(0, 4, 3, 4, 1), 1, "what was given back is taken");
	is_int(allowed(3, 4, 0, 4, 1), 2, "and not taken back by the giver");
}

/* --- of all --- */

static int random_below(uint64_t *random, int n)
{
	return (int)(random_bits(random) % (uint64_t)n);
}

static struct share random_person(uint64_t *random, int i, int n_devices)
{
	struct share p = {
		.held = random_below(random, n_devices + 1),
		.weight = random_below(random, 2) ? 1 : 0.5 + random_below(random, 4),
		.without_since_s = random_below(random, 5),
	};

	p.wanted = random_below(random, n_devices + 3);
	snprintf(p.name, sizeof(p.name), "person %d", i);
	return p;
}

/* Nobody could have one more without another, who has no more for the weight, having one less. */
static bool is_fair(const struct share *people, int n)
{
	for (const struct share *a = people; a < people + n; a++)
		for (const struct share *b = people; b < people + n; b++)
			if (a->devices < a->wanted && b->devices > 0 &&
			    a->devices / a->weight < (b->devices - 1) / b->weight - 1e-12)
				return false;
	return true;
}

static void test_random(void)
{
	uint64_t random = 7;
	int n_unfair = 0, n_sum = 0, n_order = 0;

	for (int i = 0; i < 5000; i++) {
		int n = 1 + random_below(&random, MOST), n_devices, sum = 0, wanted = 0;
		struct share people[MOST], turned[MOST];

		n_devices = random_below(&random, 17);
		for (int k = 0; k < n; k++)
			people[k] = random_person(&random, k, n_devices);
		for (int k = 0; k < n; k++)
			turned[n - 1 - k] = people[k];
		shares_divide(people, n, n_devices);
		shares_divide(turned, n, n_devices);
		for (int k = 0; k < n; k++) {
			sum += people[k].devices;
			wanted += people[k].wanted;
			n_sum += people[k].devices > people[k].wanted;
			n_order += people[k].devices != turned[n - 1 - k].devices;
		}
		n_sum += sum != (wanted < n_devices ? wanted : n_devices);
		n_unfair += !is_fair(people, n);
	}
	is_int(n_sum, 0, "all devices that are wanted are given out, none beyond");
	is_int(n_unfair, 0, "max-min fair");
	is_int(n_order, 0, "the same for all, in whatever order they know of the others");
}

/* --- turns --- */

/* People whose passes come one after the other, each at a moment of its own in every tick, as
 * cron's do: they publish what they hold and want, take free devices, and give back at the ends of
 * slices. */
#define SLICE 10		/* ticks */
#define TURN_DEVICES 4

struct turns {
	struct share people[MOST];	/* as published */
	int n, n_devices;
	int owner[TURN_DEVICES];	/* -1: free */
	int since[TURN_DEVICES];	/* tick of the launch */
	int *had;			/* by tick and person */
};

static int held_by(const struct turns *t, int person)
{
	int n = 0;

	for (int d = 0; d < t->n_devices; d++)
		n += t->owner[d] == person;
	return n;
}

static void pass(struct turns *t, int me, int now)
{
	struct share people[MOST];
	int n_free = held_by(t, -1), may, held = held_by(t, me);

	memcpy(people, t->people, sizeof(people));
	people[me].held = held;
	shares_divide(people, t->n, t->n_devices);
	may = shares_allowed(people, t->n, me, n_free);
	for (int d = 0; d < t->n_devices && held > may; d++)
		if (t->owner[d] == me && now - t->since[d] >= SLICE) {
			t->owner[d] = -1;
			held--;
		}
	for (int d = 0; d < t->n_devices && held < may && held < people[me].wanted; d++)
		if (t->owner[d] == -1) {
			t->owner[d] = me;
			t->since[d] = now;
			held++;
		}
	if (held < t->people[me].held)
		t->people[me].without_since_s = now;
	t->people[me].held = held;
}

/* The worst difference from the fair share over any ten slices, in slices of one device. */
static double worst(const struct turns *t, int ticks, const double *fair)
{
	double most = 0;

	for (int from = 5 * SLICE; from + 10 * SLICE <= ticks; from++)
		for (int p = 0; p < t->n; p++) {
			int had = 0;

			for (int i = from; i < from + 10 * SLICE; i++)
				had += t->had[i * MOST + p];
			most = fmax(most, fabs(had / (double)SLICE - 10 * fair[p]));
		}
	return most;
}

static double take_turns(int n, int n_devices, const int *wanted, const double *fair)
{
	enum { TICKS = 400 };
	static int had[TICKS * MOST];
	struct turns t = { .n = n, .n_devices = n_devices, .had = had };

	for (int d = 0; d < TURN_DEVICES; d++)
		t.owner[d] = -1;
	for (int p = 0; p < n; p++) {
		t.people[p] = (struct share){ .wanted = wanted[p], .weight = 1 };
		snprintf(t.people[p].name, sizeof(t.people[p].name), "%d", p);
	}
	for (int i = 0; i < TICKS; i++)
		for (int p = 0; p < n; p++) {
			pass(&t, p, i);
			for (int q = 0; p == n - 1 && q < n; q++)
				had[i * MOST + q] = held_by(&t, q);
		}
	return worst(&t, TICKS, fair);
}

static void test_turns(void)
{
	static const double even[] = { 4.0 / 3, 4.0 / 3, 4.0 / 3 }, two[] = { 2, 2 };
	static const double third[] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 }, half[] = { 0.5, 0.5 };
	static const double small[] = { 1.5, 1, 1.5 };
	static const int all[] = { 4, 4, 4 }, one[] = { 1, 1, 1 }, mixed[] = { 4, 1, 4 };
	double d[] = {
		take_turns(2, 4, all, two), take_turns(3, 4, all, even),
		take_turns(3, 1, one, third), take_turns(2, 1, one, half),
		take_turns(3, 4, mixed, small),
	};

	for (size_t i = 0; i < sizeof(d) / sizeof(d[0]); i++)
		printf("# %.2f slices\n", d[i]);
	ok(d[0] <= 1, "two people, four devices: within a slice of fair over any ten slices");
	ok(d[1] <= 1, "three people, four devices");
	ok(d[2] <= 1, "three people, one device");
	ok(d[3] <= 1, "two people, one device");
	ok(d[4] <= 1, "one of three wants one of four");
}

int main(void)
{
	test_by_hand();
	test_allowed();
	test_random();
	test_turns();
	return done();
}
