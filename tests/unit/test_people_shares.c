/* test_people_shares.c - shares worked out by hand; what holds of all; people who take turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/people_shares.h"
#include "pollux/random_numbers.h"
#include "tap.h"

#define MOST 8

/* --- by hand --- */

static const struct {
	const char *name;
	int n_devices, n;
	struct person_share people[4];
	int want[4];
} cases[] = {
	{ "a person alone gets all devices", 4, 1, { { .name = "a", .wanted = 9 } }, { 4 } },
	{ "a person gets no more devices than are wanted",
	  4, 1, { { .name = "a", .wanted = 3 } }, { 3 } },
	{ "two people of equal weight get equal shares",
	  4, 2, { { .name = "a", .wanted = 4 }, { .name = "b", .wanted = 4 } }, { 2, 2 } },
	{ "a person gets the devices that another one does not want", 4, 2,
	  { { .name = "a", .wanted = 4 }, { .name = "b", .wanted = 1 } }, { 3, 1 } },
	{ "small wishes are met before large ones", 8, 4,
	  { { .name = "a", .wanted = 8 }, { .name = "b", .wanted = 1 },
	    { .name = "c", .wanted = 2 }, { .name = "d", .wanted = 8 } }, { 3, 1, 2, 2 } },
	{ "shares follow the weights", 6, 2, { { .name = "a", .wanted = 6, .weight = 2 },
			       { .name = "b", .wanted = 6, .weight = 1 } }, { 4, 2 } },
	{ "a device left over goes to the double weight that waits longer", 2, 2,
	  { { .name = "a", .wanted = 2, .weight = 2, .without_since_s = 4 },
	    { .name = "b", .wanted = 2, .weight = 1, .without_since_s = 5 } }, { 2, 0 } },
	{ "a device left over goes to the single weight that waits longer", 2, 2,
	  { { .name = "a", .wanted = 2, .weight = 2, .without_since_s = 5 },
	    { .name = "b", .wanted = 2, .weight = 1, .without_since_s = 4 } }, { 1, 1 } },
	{ "a negative weight counts as 1", 4, 2, { { .name = "a", .wanted = 4, .weight = -3 },
						{ .name = "b", .wanted = 4, .weight = 1 } },
	  { 2, 2 } },
	{ "one device left over of two shares goes to who waits longer", 3, 2,
	  { { .name = "a", .wanted = 3, .without_since_s = 5 },
	    { .name = "b", .wanted = 3, .without_since_s = 4 } }, { 1, 2 } },
	{ "one device left over of three shares goes to who waits longest", 4, 3,
	  { { .name = "a", .held = 2, .wanted = 4, .without_since_s = 30 },
	    { .name = "b", .held = 1, .wanted = 4, .without_since_s = 20 },
	    { .name = "c", .held = 1, .wanted = 4, .without_since_s = 10 } }, { 1, 1, 2 } },
	{ "a single device of three people goes to who waits longest", 1, 3,
	  { { .name = "a", .held = 1, .wanted = 1, .without_since_s = 6 },
	    { .name = "b", .wanted = 1, .without_since_s = 5 },
	    { .name = "c", .wanted = 1, .without_since_s = 4 } }, { 0, 0, 1 } },
	{ "a device left over stays with its holder", 1, 2,
	  { { .name = "a", .held = 1, .wanted = 1, .without_since_s = 5, .stay_s = 2 },
	    { .name = "b", .wanted = 1, .without_since_s = 4 } }, { 1, 0 } },
	{ "a device leaves its holder if another waits clearly longer", 1, 2,
	  { { .name = "a", .held = 1, .wanted = 1, .without_since_s = 5, .stay_s = 2 },
	    { .name = "b", .wanted = 1, .without_since_s = 2 } }, { 0, 1 } },
	{ "only devices that the holder has stay", 4, 2,
	  { { .name = "a", .held = 1, .wanted = 3, .without_since_s = 5, .stay_s = 9 },
	    { .name = "b", .held = 1, .wanted = 1, .without_since_s = 2 } }, { 3, 1 } },
	{ "a device left over goes by name among equals",
	  1, 2, { { .name = "b", .wanted = 1 }, { .name = "a", .wanted = 1 } },
	  { 0, 1 } },
	{ "a person gets nothing where there is no device",
	  0, 1, { { .name = "a", .wanted = 1 } }, { 0 } },
	{ "people who want nothing get nothing",
	  3, 2, { { .name = "a" }, { .name = "b", .wanted = -1 } }, { 0, 0 } },
};

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct person_share people[4];
		char got[80], want[80];

		memcpy(people, cases[i].people, sizeof(people));
		people_divide(people, cases[i].n, cases[i].n_devices);
		snprintf(got, sizeof(got), "%d %d %d %d", people[0].devices, people[1].devices,
			 people[2].devices, people[3].devices);
		snprintf(want, sizeof(want), "%d %d %d %d", cases[i].want[0], cases[i].want[1],
			 cases[i].want[2], cases[i].want[3]);
		is_str(got, want, cases[i].name);
	}
}

static int allowed(int held, int wanted, int other_held, int other_wanted, int n_free)
{
	struct person_share people[] = {
		{ .name = "me", .held = held, .wanted = wanted },
		{ .name = "other", .held = other_held, .wanted = other_wanted },
	};

	people_divide(people, 2, held + other_held + n_free);
	return people_allowed(people, 2, 0, n_free);
}

static void test_allowed(void)
{
	is_int(allowed(4, 4, 0, 0, 0), 4, "a person alone may run on all devices");
	is_int(allowed(4, 4, 0, 4, 0), 2, "a person leaves half of the devices to a newcomer");
	is_int(allowed(4, 4, 0, 1, 0), 3, "a person leaves the one device that a newcomer wants");
	is_int(allowed(3, 4, 0, 1, 1), 3, "a person leaves the free device to a newcomer");
	is_int(allowed(2, 4, 2, 2, 0), 2, "two people with their shares keep them");
	is_int(allowed(2, 4, 1, 1, 1), 3, "a person may use a device that nobody else wants");
	is_int(allowed(0, 4, 4, 4, 0), 0, "a newcomer gets no device before one is free");
	is_int(allowed(0, 4, 3, 4, 1), 1, "a newcomer takes a device that was given back");
	is_int(allowed(3, 4, 0, 4, 1), 2,
	       "a person does not take back a device that was given back");
}

static void test_exact(void)
{
	struct person_share people[] = {
		{ .name = "a", .wanted = 8, .weight = 1 },
		{ .name = "b", .wanted = 1, .weight = 1 },
		{ .name = "c", .wanted = 8, .weight = 2 },
	};
	struct sched_input in = { .now_s = 100, .slice_s = 10 };

	near(people_exact_share(people, 3, 0, 8), 7.0 / 3, 1e-12,
	     "the exact share is a third of what others leave");
	near(people_exact_share(people, 3, 1, 8), 1, 1e-12,
	     "the exact share is what is wanted where there is enough");
	near(people_exact_share(people, 3, 2, 8), 14.0 / 3, 1e-12,
	     "the exact share is the double for the double weight");
	near(people_exact_share(people, 3, 0, 17), 8, 1e-12,
	     "the exact share is all that is wanted where there is enough");
	people[0].without_since_s = 95;
	near(people_without_since_s(&people[0], 2.5, 2, 96, &in), 100 - (exp(-0.04) + 2), 1e-12,
	     "half a device too few for 4 s counts as 2 s without");
	near(people_without_since_s(&people[0], 1.5, 2, 96, &in), 100 - (exp(-0.04) - 2), 1e-12,
	     "half a device too many for 4 s counts as 2 s less without");
	near(people_without_since_s(&people[0], 8, 0, 96, &in), 100, 1e-12,
	     "a person with nothing too few is not without");
	near(people_without_since_s(&people[0], 7, 0, -1000, &in), 0, 1e-12,
	     "the time without is ten slices at most");
	people[0].gained_s = 75;
	near(people_stay_s(&people[0], 7.0 / 3, &in), 6, 1e-12,
	     "a holder stays ahead for nine tenths of two thirds of a slice");
	people[0].gained_s = 70;
	near(people_stay_s(&people[0], 7.0 / 3, &in), 0, 1e-12,
	     "a holder does not stay ahead after three slices");
}

/* --- of all --- */

static int random_below(uint64_t *random, int n)
{
	return (int)(random_bits(random) % (uint64_t)n);
}

static struct person_share random_person(uint64_t *random, int i, int n_devices)
{
	struct person_share p = {
		.held = random_below(random, n_devices + 1),
		.weight = random_below(random, 2) ? 1 : 0.5 + random_below(random, 4),
		.without_since_s = random_below(random, 5),
	};

	p.wanted = random_below(random, n_devices + 3);
	snprintf(p.name, sizeof(p.name), "person %d", i);
	return p;
}

/* Everybody has the exact share, rounded down or up. */
static bool is_fair(const struct person_share *people, int n, int n_devices)
{
	for (int i = 0; i < n; i++) {
		double exact = people_exact_share(people, n, i, n_devices);

		if (!(fabs(people[i].devices - exact) < 1))
			return false;
	}
	return true;
}

static void test_random(void)
{
	uint64_t random = 7;
	int n_unfair = 0, n_sum = 0, n_order = 0;

	for (int i = 0; i < 5000; i++) {
		int n = 1 + random_below(&random, MOST), n_devices, sum = 0, wanted = 0;
		struct person_share people[MOST], turned[MOST];

		n_devices = random_below(&random, 17);
		for (int k = 0; k < n; k++)
			people[k] = random_person(&random, k, n_devices);
		for (int k = 0; k < n; k++)
			turned[n - 1 - k] = people[k];
		people_divide(people, n, n_devices);
		people_divide(turned, n, n_devices);
		for (int k = 0; k < n; k++) {
			sum += people[k].devices;
			wanted += people[k].wanted;
			n_sum += people[k].devices > people[k].wanted;
			n_order += people[k].devices != turned[n - 1 - k].devices;
		}
		n_sum += sum != (wanted < n_devices ? wanted : n_devices);
		n_unfair += !is_fair(people, n, n_devices);
	}
	is_int(n_sum, 0, "all wanted devices are given out, and no others");
	is_int(n_unfair, 0, "all shares are within one device of the exact share");
	is_int(n_order, 0, "all shares are the same in any order of people");
}

/* --- turns --- */

/* People whose passes come one after the other in every tick, as cron's do, and at once when a job
 * of theirs ends: they publish what they hold and want, take free devices, and give back at the
 * ends of slices. */
#define SLICE 10		/* ticks */
#define TURN_DEVICES 4

struct turns {
	struct person_share people[MOST];	/* as published */
	double gained_s[MOST], at_s[MOST];
	int n, n_devices;
	int job_ticks[MOST];		/* how long the jobs of each are */
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

static bool in_slice(const struct turns *t, int d, int now)
{
	return now - t->since[d] < SLICE;
}

/* What people_turns.c makes of the shares. */
static int may_have(struct turns *t, int me, int now)
{
	struct sched_input in = { .now_s = now, .slice_s = SLICE };
	struct person_share people[MOST];
	int kept = 0, allowed, n_free = held_by(t, -1), held = held_by(t, me);

	memcpy(people, t->people, sizeof(people));
	people[me].held = held;
	for (int p = 0; p < t->n; p++)
		people[p].without_since_s = people_without_since_s(
			&t->people[p], people_exact_share(people, t->n, p, t->n_devices),
			t->people[p].held, t->at_s[p], &in);
	for (int p = 0; p < t->n; p++) {
		double exact = people_exact_share(people, t->n, p, t->n_devices);

		people[p].gained_s = t->gained_s[p];
		people[p].stay_s = people_stay_s(&people[p], exact, &in);
	}
	t->people[me].without_since_s = people[me].without_since_s;
	t->at_s[me] = now;
	people_divide(people, t->n, t->n_devices);
	allowed = people_allowed(people, t->n, me, n_free);
	for (int d = 0; d < t->n_devices; d++)
		kept += t->owner[d] == me && in_slice(t, d, now);
	if (people_keep_turn(t->gained_s[me], &in) && t->people[me].held > kept)
		kept = t->people[me].held;
	return allowed > kept ? allowed : kept < held + n_free ? kept : held + n_free;
}

static void pass(struct turns *t, int me, int now)
{
	int may = may_have(t, me, now), held = held_by(t, me);

	for (int d = 0; d < t->n_devices && held > may; d++)
		if (t->owner[d] == me && !in_slice(t, d, now)) {
			t->owner[d] = -1;
			held--;
		}
	for (int d = 0; d < t->n_devices && held < may && held < t->people[me].wanted; d++)
		if (t->owner[d] == -1) {
			t->owner[d] = me;
			t->since[d] = now;
			held++;
		}
	if (held > t->people[me].held)
		t->gained_s[me] = now;
	t->people[me].held = held;
}

static void end_jobs(struct turns *t, int now)
{
	for (int d = 0; d < t->n_devices; d++) {
		int owner = t->owner[d];

		if (owner < 0 || now - t->since[d] < t->job_ticks[owner])
			continue;
		t->owner[d] = -1;
		pass(t, owner, now);
	}
}

/* The worst difference from the share over any ten slices, in slices of one device. */
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

static double take_turns(int n, int n_devices, const int *wanted, const int *job_ticks,
			 const double *fair)
{
	enum { TICKS = 400 };
	static int had[TICKS * MOST];
	struct turns t = { .n = n, .n_devices = n_devices, .had = had };

	for (int d = 0; d < TURN_DEVICES; d++)
		t.owner[d] = -1;
	for (int p = 0; p < n; p++) {
		t.people[p] = (struct person_share){ .wanted = wanted[p], .weight = 1 };
		t.job_ticks[p] = job_ticks[p];
		t.gained_s[p] = -2 * SLICE;
		snprintf(t.people[p].name, sizeof(t.people[p].name), "%d", p);
	}
	for (int i = 0; i < TICKS; i++) {
		end_jobs(&t, i);
		for (int p = 0; p < n; p++) {
			pass(&t, p, i);
			for (int q = 0; p == n - 1 && q < n; q++)
				had[i * MOST + q] = held_by(&t, q);
		}
	}
	return worst(&t, TICKS, fair);
}

/* A turn is a slice, what is left of the last job, and the time to the next pass. */
#define PAUSE(job_ticks) (1 + ((job_ticks) + 1) / (double)SLICE)

static void test_turns(void)
{
	static const double even[] = { 4.0 / 3, 4.0 / 3, 4.0 / 3 }, two[] = { 2, 2 };
	static const double third[] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 }, half[] = { 0.5, 0.5 };
	static const double small[] = { 1.5, 1, 1.5 }, twos[] = { 2.0 / 3, 2.0 / 3, 2.0 / 3 };
	static const int all[] = { 4, 4, 4 }, one[] = { 1, 1, 1 }, mixed[] = { 4, 1, 4 };
	static const int forever[] = { 1000, 1000, 1000 }, brief[] = { 3, 3, 3 };
	static const int unlike[] = { 1000, 2, 7 };
	const struct {
		const char *name;
		double off, most;
	} cases_of_turns[] = {
		{ "two people have fair turns on four devices",
		  take_turns(2, 4, all, forever, two), 1 },
		{ "three people have fair turns on four devices",
		  take_turns(3, 4, all, forever, even), 1 },
		{ "three people have fair turns on one device",
		  take_turns(3, 1, one, forever, third), 1 },
		{ "three people have fair turns on two devices",
		  take_turns(3, 2, all, forever, twos), 1 },
		{ "two people have fair turns on one device",
		  take_turns(2, 1, one, forever, half), 1 },
		{ "three people have fair turns where one wants one of four",
		  take_turns(3, 4, mixed, forever, small), 1 },
		{ "short jobs have fair turns on two devices",
		  take_turns(3, 2, all, brief, twos), 1 },
		{ "short jobs have fair turns on four devices",
		  take_turns(3, 4, all, brief, even), PAUSE(3) },
		{ "long jobs beside short ones have fair turns on two devices",
		  take_turns(3, 2, all, unlike, twos), 1 },
		{ "long jobs beside short ones have fair turns on one device",
		  take_turns(3, 1, one, unlike, third), 1 },
	};

	for (size_t i = 0; i < sizeof(cases_of_turns) / sizeof(cases_of_turns[0]); i++)
		if (!ok(cases_of_turns[i].off <= cases_of_turns[i].most, cases_of_turns[i].name))
			printf("# %.2f slices\n", cases_of_turns[i].off);
}

int main(void)
{
	test_by_hand();
	test_allowed();
	test_exact();
	test_random();
	test_turns();
	return done();
}
