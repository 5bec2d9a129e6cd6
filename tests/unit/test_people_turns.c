/* test_people_turns.c - how far from fair several people are who take turns, when their passes come
 * at odd moments and a job takes a while to stop. Time is in slices. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pollux/people_shares.h"
#include "pollux/random_numbers.h"
#include "tap.h"

#define PEOPLE 5
#define DEVICES 7
#define TICK 0.01		/* slices */
#define TICKS 8000
#define WINDOW 1000		/* ticks: ten slices */
#define FIRST 2000		/* tick from which on windows count */

static const struct sched_input slices = { .slice_s = 1 };

struct turns {
	int n, n_devices;
	double period;			/* from a pass of a person to the next one, in the mean */
	double stop;			/* from a stop signal to the end of a job, in the mean */
	uint64_t random;
	struct person_share people[PEOPLE];	/* as published */
	double at[PEOPLE];		/* when */
	double next_pass[PEOPLE];
	const double *weights;		/* NULL: all are 1 */
	int owner[DEVICES];		/* -1: free */
	double since[DEVICES];
	double stops_at[DEVICES];	/* 0: the job there was not told to stop */
	double had[TICKS + 1][PEOPLE];	/* device-slices up to a tick */
};

/* Between half of the mean and one and a half. */
static double about(struct turns *t, double mean)
{
	return mean * (0.5 + (double)(random_bits(&t->random) >> 11) * 0x1p-53);
}

/* Devices of the owner; stopping: only those whose job was told to stop. */
static int count(const struct turns *t, int owner, bool stopping)
{
	int n = 0;

	for (int d = 0; d < t->n_devices; d++)
		n += t->owner[d] == owner && (!stopping || t->stops_at[d] > 0);
	return n;
}

static bool in_slice(const struct turns *t, int d, double now)
{
	return now - t->since[d] < 1;
}

/* Brings all people up to date, as people_turns.c does. */
static void look(const struct turns *t, int me, double now, struct person_share *people)
{
	struct sched_input in = slices;

	in.now_s = now;
	memcpy(people, t->people, sizeof(t->people));
	people[me].held = count(t, me, false);
	for (int p = 0; p < t->n; p++) {
		double exact = people_exact_share(people, t->n, p, t->n_devices);

		people[p].without_since_s = people_without_since_s(
			&t->people[p], exact, t->people[p].held, t->at[p], &in);
		people[p].stay_s = people_stay_s(&people[p], exact, &in);
	}
}

/* Free devices that nobody is just handing on to a job of his own. */
static int count_free(const struct turns *t, const struct person_share *people, int me)
{
	int n_free = count(t, -1, false), elsewhere = t->n_devices - n_free - people[me].held;
	int theirs = 0;

	for (int p = 0; p < t->n; p++)
		if (p != me)
			theirs += people[p].held < people[p].devices ? people[p].held
								     : people[p].devices;
	n_free -= theirs > elsewhere ? theirs - elsewhere : 0;
	return n_free > 0 ? n_free : 0;
}

/* Returns how many jobs the person may run. */
static int may_run(struct turns *t, int me, double now)
{
	struct sched_input in = slices;
	struct person_share people[PEOPLE];
	int kept = 0, may;

	in.now_s = now;
	look(t, me, now, people);
	people_divide(people, t->n, t->n_devices);
	may = people_allowed(people, t->n, me, count_free(t, people, me));
	for (int d = 0; d < t->n_devices; d++)
		kept += t->owner[d] == me && t->stops_at[d] <= 0 && in_slice(t, d, now);
	if (people_keep_turn(t->people[me].gained_s, &in) && t->people[me].held > kept)
		kept = t->people[me].held;
	t->people[me].without_since_s = people[me].without_since_s;
	return may > kept ? may : kept;
}

/* The policy gives the person's devices to other jobs of the person at the ends of slices. */
static void change_jobs(struct turns *t, int me, double now, bool gives_none)
{
	double exact = people_exact_share(t->people, t->n, me, t->n_devices);
	struct person_share own = t->people[me];
	bool stay;

	own.held = count(t, me, false);
	stay = gives_none && people_leave_soon(&own, exact);
	for (int d = 0; d < t->n_devices; d++)
		if (t->owner[d] == me && t->stops_at[d] <= 0 && !in_slice(t, d, now) &&
		    !(stay && now - t->since[d] < PEOPLE_TURN_SLICES))
			t->since[d] = now;
}

static void make_pass(struct turns *t, int me, double now)
{
	int had = count(t, me, false), may = may_run(t, me, now);
	int runs = had - count(t, me, true), held;

	for (int d = 0; d < t->n_devices; d++) {
		bool runs_here = t->owner[d] == me && t->stops_at[d] <= 0;

		if (runs_here && runs > may && !in_slice(t, d, now)) {
			t->stops_at[d] = now + about(t, t->stop);
			runs--;
		} else if (t->owner[d] == -1 && runs < may) {
			t->owner[d] = me;
			t->since[d] = now;
			runs++;
		}
	}
	change_jobs(t, me, now, may >= had);
	held = count(t, me, false);
	if (held > t->people[me].held)
		t->people[me].gained_s = now;
	t->people[me].held = held;
	t->at[me] = now;
	t->next_pass[me] = now + about(t, t->period);
}

/* The end of a job asks for a pass of its owner. */
static void end_jobs(struct turns *t, double now)
{
	for (int d = 0; d < t->n_devices; d++) {
		if (t->stops_at[d] <= 0 || t->stops_at[d] > now)
			continue;
		t->next_pass[t->owner[d]] = now;
		t->owner[d] = -1;
		t->stops_at[d] = 0;
	}
}

/* The last person comes at that time; the others are there from the beginning. */
static void run(struct turns *t, double last_comes)
{
	for (int d = 0; d < t->n_devices; d++)
		t->owner[d] = -1;
	for (int p = 0; p < t->n; p++) {
		double from = p == t->n - 1 ? last_comes : 0;

		t->people[p] = (struct person_share){
			.weight = t->weights ? t->weights[p] : 1,
			.gained_s = from > 0 ? from : -9, .without_since_s = from,
		};
		snprintf(t->people[p].name, sizeof(t->people[p].name), "%d", p);
		t->at[p] = t->next_pass[p] = from;
	}
	for (int i = 0; i < TICKS; i++) {
		double now = i * TICK;

		end_jobs(t, now);
		for (int p = 0; p < t->n; p++) {
			if (t->next_pass[p] <= now) {
				t->people[p].wanted = t->n_devices;
				make_pass(t, p, now);
			}
			t->had[i + 1][p] = t->had[i][p] + count(t, p, false) * TICK;
		}
	}
}

/* The worst difference over any ten slices from a fair part of what all had, in slices. */
static double worst(const struct turns *t, int first)
{
	double most = 0, part[PEOPLE];

	for (int p = 0; p < t->n; p++)
		part[p] = people_exact_share(t->people, t->n, p, t->n_devices) / t->n_devices;

	for (int i = first; i + WINDOW <= TICKS; i++) {
		double all = 0;

		for (int p = 0; p < t->n; p++)
			all += t->had[i + WINDOW][p] - t->had[i][p];
		for (int p = 0; p < t->n; p++)
			most = fmax(most, fabs(t->had[i + WINDOW][p] - t->had[i][p] -
					       all * part[p]));
	}
	return most;
}

/* Of several runs with different odd moments. */
static double worst_of_runs(int n, int n_devices, double period, double stop,
			    const double *weights)
{
	static struct turns t;
	double most = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		t = (struct turns){ .n = n, .n_devices = n_devices, .period = period, .stop = stop,
				    .random = seed, .weights = weights };
		run(&t, 0);
		most = fmax(most, worst(&t, FIRST));
	}
	return most;
}

/* The limits have some room: the last digits of exp() differ by C library, and can change a
 * decision. In parentheses, for comparison: what came of times without that were rounded to a tenth
 * of a slice, where the oldest gain came first among equals, and of jobs that changed places at
 * every end of a slice. */
static void test_odd_moments(void)
{
	static const struct {
		int n, n_devices;
		double period, most;
	} cases[] = {
		{ 2, 1, 0.1, 1 },	/* 0.79 (1.10) */
		{ 2, 3, 0.1, 1 },	/* 0.80 (1.06) */
		{ 3, 2, 0.1, 1 },	/* 0.91 (2.19) */
		{ 4, 2, 0.1, 1 },	/* 0.85 (1.24) */
		{ 5, 3, 0.1, 1 },	/* 0.91 (2.01) */
		{ 4, 7, 0.1, 1.1 },	/* 0.99 (1.86) */
		{ 3, 4, 0.1, 1.1 },	/* 1.00 (1.48) */
		{ 3, 1, 0.1, 1.1 },	/* 1.03 (1.53) */
		{ 5, 1, 0.1, 1.1 },	/* 0.94 (1.56) */
		{ 3, 2, 0.3, 1.2 },	/* 1.07 (2.27) */
		{ 5, 3, 0.3, 1.2 },	/* 1.08 (1.66) */
		{ 5, 1, 0.3, 1.6 },	/* 1.44 (1.43) */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double most = 0;
		char name[400];

		for (int stop = 0; stop < 3; stop++)
			most = fmax(most, worst_of_runs(cases[i].n, cases[i].n_devices,
							cases[i].period, 0.1 * stop, NULL));
		snprintf(name, sizeof(name),
			 "%d people on %d devices have fair turns with a pass each %.1f slices",
			 cases[i].n, cases[i].n_devices, cases[i].period);
		if (!ok(most <= cases[i].most, name))
			printf("# %.2f slices off at worst, want at most %.2f\n", most,
			       cases[i].most);
	}
}

static void test_weights(void)
{
	static const double weights[][3] = { { 2, 1 }, { 3, 1 }, { 1, 2, 3 } };
	const struct {
		const char *name;
		double off;
	} cases[] = {
		{ "people of weights 2 and 1 have fair turns on two devices",
		  worst_of_runs(2, 2, 0.1, 0.1, weights[0]) },
		{ "people of weights 2 and 1 have fair turns on one device",
		  worst_of_runs(2, 1, 0.1, 0.1, weights[0]) },
		{ "people of weights 3 and 1 have fair turns on one device",
		  worst_of_runs(2, 1, 0.1, 0.1, weights[1]) },
		{ "people of weights 1, 2 and 3 have fair turns on two devices",
		  worst_of_runs(3, 2, 0.1, 0.1, weights[2]) },
		{ "people of weights 1, 2 and 3 have fair turns on four devices",
		  worst_of_runs(3, 4, 0.1, 0.1, weights[2]) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!ok(cases[i].off <= 1.2, cases[i].name))
			printf("# %.2f slices off at worst\n", cases[i].off);
}

/* A person who comes late. The device of the others changed hands often, and was nobody's then.
 * That must not count for them: before it was forgotten, this person waited for nine slices. */
static void test_newcomer(void)
{
	enum { COMES = 60 };
	static struct turns t;
	double longest = 0, most = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		int i = COMES * 100;

		t = (struct turns){ .n = 3, .n_devices = 1, .period = 0.3, .stop = 0.2,
				    .random = seed };
		run(&t, COMES);
		while (i < TICKS && t.had[i][2] <= 0)
			i++;
		longest = fmax(longest, i * TICK - COMES);
		most = fmax(most, worst(&t, COMES * 100));
	}
	if (!ok(longest <= 3.5, "a newcomer gets a device within three turns of the others"))
		printf("# %.2f slices\n", longest);
	if (!ok(most <= 1.2, "a newcomer has a fair share from the beginning"))
		printf("# %.2f slices\n", most);
}

int main(void)
{
	test_odd_moments();
	test_weights();
	test_newcomer();
	return done();
}
