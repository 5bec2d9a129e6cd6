/* Which devices: cases worked by hand, then every small case against the rules of assign.h. */
#include <stdbool.h>
#include <string.h>

#include "pollux/assign.h"
#include "tap.h"

#define FREE ASSIGN_FREE
#define GONE ASSIGN_UNUSABLE

static const struct {
	const char *name;
	int n_devices, holder[6];
	int n_jobs, count[4];
	int owner[6];
} cases[] = {
	{ "free devices go out by number, to the job with the smaller index first",
	  4, { FREE, FREE, FREE, FREE }, 2, { 1, 2 }, { 0, 1, 1, FREE } },
	{ "no job moves while the counts stay the same",
	  4, { 1, 0, FREE, 1 }, 2, { 1, 2 }, { 1, 0, FREE, 1 } },
	{ "a shrinking job gives up its highest devices",
	  4, { 0, FREE, 0, 0 }, 1, { 2 }, { 0, FREE, 0, FREE } },
	{ "a growing job keeps its own and takes free ones before those given up",
	  5, { 0, 0, 1, FREE, 0 }, 2, { 1, 3 }, { 0, 1, 1, 1, FREE } },
	{ "a starting job takes what is given up when nothing is free",
	  2, { 0, 0 }, 2, { 0, 2 }, { 1, 1 } },
	{ "an unusable device is given to nobody",
	  3, { GONE, FREE, FREE }, 1, { 2 }, { FREE, 0, 0 } },
	{ "a device lost under a job is replaced",
	  3, { GONE, 0, FREE }, 1, { 2 }, { FREE, 0, 0 } },
	{ "one job shrinks, one ends, one grows and one starts in one pass",
	  6, { 0, 0, 1, 2, FREE, 2 }, 4, { 1, 0, 3, 2 }, { 0, 3, 3, 2, 2, 2 } },
	{ "a job that can start at once starts, though another comes first",
	  6, { 0, 0, 0, FREE, FREE, GONE }, 3, { 0, 3, 2 }, { 1, 1, 1, 2, 2, FREE } },
	{ "without jobs all devices stay free", 2, { FREE, GONE }, 0, { 0 }, { FREE, FREE } },
	{ "a job gets no device where there are none", 0, { 0 }, 1, { 0 }, { 0 } },
};

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int owner[6];
		size_t bytes = (size_t)cases[i].n_devices * sizeof(*owner);

		assign_devices(cases[i].n_devices, cases[i].holder, cases[i].n_jobs, cases[i].count,
			       NULL, owner);
		ok(!memcmp(owner, cases[i].owner, bytes), cases[i].name);
	}
}

#define DEVICES 5
#define JOBS 3

struct tally {
	int held, kept, given;
};

static bool rules_hold(const int *holder, const int *count, const int *owner)
{
	struct tally jobs[JOBS] = { { 0, 0, 0 } };
	bool free_left = false, given_up_used = false;

	for (int d = 0; d < DEVICES; d++) {
		if (holder[d] == GONE && owner[d] != FREE)
			return false;
		if (holder[d] >= 0)
			jobs[holder[d]].held++;
		if (owner[d] >= 0) {
			jobs[owner[d]].given++;
			jobs[owner[d]].kept += holder[d] == owner[d];
			given_up_used = given_up_used || (holder[d] >= 0 && holder[d] != owner[d]);
		} else {
			free_left = free_left || holder[d] == FREE;
		}
		/* What is given up is the highest: nothing kept above it. */
		for (int e = d + 1; e < DEVICES; e++)
			if (holder[d] >= 0 && owner[d] != holder[d] && holder[e] == holder[d] &&
			    owner[e] == holder[e])
				return false;
	}
	for (int j = 0; j < JOBS; j++) {
		int least = jobs[j].held < count[j] ? jobs[j].held : count[j];

		if (jobs[j].given != count[j] || jobs[j].kept != least)
			return false;
	}
	return !(free_left && given_up_used);
}

static void test_every_small_case(void)
{
	int broken = 0, n = 0;

	/* Each device held by one of the jobs, free, or gone; every count of up to as many as
	 * usable. */
	for (int code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
		int holder[DEVICES], owner[DEVICES], usable = 0;

		for (int d = 0, c = code; d < DEVICES; d++, c /= 5) {
			holder[d] = c % 5 - 2;
			usable += holder[d] != GONE;
		}
		for (int counts = 0; counts < 6 * 6 * 6; counts++) {
			const int count[JOBS] = { counts % 6, counts / 6 % 6, counts / 36 };

			if (count[0] + count[1] + count[2] > usable)
				continue;
			assign_devices(DEVICES, holder, JOBS, count, NULL, owner);
			broken += !rules_hold(holder, count, owner);
			n++;
		}
	}
	is_int(broken, 0, "every case of 5 devices and 3 jobs keeps the rules");
	printf("# %d cases\n", n);
}

int main(void)
{
	test_by_hand();
	test_every_small_case();
	return done();
}
