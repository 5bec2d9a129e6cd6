/* Which devices, where they are not all as near: by hand on two sockets, against every possible
 * assignment in small random cases, and whole nodes and the first rules in large ones. */
#include <stdbool.h>

#include "pollux/assign.h"
#include "sched/assign_pool.h"
#include "tap.h"

#define FREE ASSIGN_FREE
#define GONE ASSIGN_UNUSABLE

/* The same in every run and everywhere. */
static unsigned random_below(unsigned n)
{
	static unsigned long long state = 20211114;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

/* --- by hand: two sockets of two pairs --- */

static const struct {
	const char *name;
	int holder[8];
	int n_jobs, count[4];
	int owner[8];
} cases[] = {
	{ "two devices of one pair are taken before lower numbers",
	  { GONE, FREE, FREE, FREE, FREE, FREE, FREE, FREE }, 1, { 2 },
	  { FREE, FREE, 0, 0, FREE, FREE, FREE, FREE } },
	{ "a job of four gets a whole socket",
	  { 0, FREE, FREE, FREE, FREE, FREE, FREE, FREE }, 2, { 1, 4 },
	  { 0, FREE, FREE, FREE, 1, 1, 1, 1 } },
	{ "a job grows next to the device that it has",
	  { FREE, FREE, FREE, FREE, FREE, FREE, 0, GONE }, 1, { 2 },
	  { FREE, FREE, FREE, FREE, 0, FREE, 0, FREE } },
	{ "the first job leaves the pair to the second job",
	  { FREE, FREE, GONE, GONE, FREE, GONE, GONE, GONE }, 2, { 1, 2 },
	  { 1, 1, FREE, FREE, 0, FREE, FREE, FREE } },
	{ "a shrinking job keeps its pair, not its lowest numbers",
	  { 0, FREE, FREE, FREE, 0, 0, FREE, FREE }, 1, { 2 },
	  { FREE, FREE, FREE, FREE, 0, 0, FREE, FREE } },
	{ "a shrinking job keeps the lower one of two equal pairs",
	  { 0, 0, 0, 0, FREE, FREE, FREE, FREE }, 1, { 2 },
	  { 0, 0, FREE, FREE, FREE, FREE, FREE, FREE } },
	{ "no device moves, however far apart a job's devices are",
	  { 0, 1, 1, FREE, 0, 1, FREE, FREE }, 2, { 2, 3 },
	  { 0, 1, 1, FREE, 0, 1, FREE, FREE } },
	{ "free devices far apart are taken before a pair that is given up",
	  { 0, 0, FREE, GONE, FREE, GONE, GONE, GONE }, 2, { 0, 2 },
	  { FREE, FREE, 1, FREE, 1, FREE, FREE, FREE } },
	{ "a job of one device breaks no pair",
	  { FREE, FREE, GONE, GONE, GONE, FREE, GONE, GONE }, 1, { 1 },
	  { FREE, FREE, FREE, FREE, FREE, 0, FREE, FREE } },
	{ "a job of one device breaks no socket if a pair is broken anyway",
	  { FREE, FREE, FREE, FREE, FREE, FREE, 0, GONE }, 2, { 1, 1 },
	  { FREE, FREE, FREE, FREE, 1, FREE, 0, FREE } },
	{ "a job that can start at once starts",
	  { 0, 0, 0, GONE, FREE, FREE, GONE, GONE }, 3, { 0, 3, 2 },
	  { 1, 1, 1, FREE, 2, 2, FREE, FREE } },
	{ "a job that waits leaves the best joined free devices to others",
	  { 0, 0, FREE, GONE, GONE, 0, FREE, 0 }, 3, { 0, 3, 3 },
	  { 1, 1, 1, FREE, FREE, 2, 2, 2 } },
};

static void make_sockets(unsigned char *links)
{
	for (int a = 0; a < 8; a++)
		for (int b = 0; b < 8; b++)
			links[a * 8 + b] = a / 2 == b / 2 ? 0 : a / 4 == b / 4 ? 2 : 3;
}

static void test_by_hand(void)
{
	unsigned char links[64];
	int owner[8];

	make_sockets(links);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assign_devices(8, cases[i].holder, cases[i].n_jobs, cases[i].count, links, owner);
		if (!ok(!memcmp(owner, cases[i].owner, sizeof(owner)), cases[i].name))
			for (int d = 0; d < 8; d++)
				printf("# device %d: got %d, want %d\n", d, owner[d],
				       cases[i].owner[d]);
	}
}

/* --- against every possible assignment --- */

#define DEVICES 6
#define JOBS 3
#define SCORES 64

struct instance {
	int holder[DEVICES], count[JOBS], held[JOBS];
	unsigned char links[DEVICES * DEVICES];
};

/* The rules of assign.h as numbers, those of rule 1 first; less is better. */
struct score {
	int values[SCORES], n;
};

static void push(struct score *s, int value)
{
	s->values[s->n++] = value;
}

static void push_cost(struct score *s, const struct instance *in, const int *owner, int from,
		      int to)
{
	int worsts = 0, pairs = 0;

	for (int j = from; j < to; j++) {
		int worst = 0;

		for (int a = 0; a < DEVICES; a++)
			for (int b = 0; b < a; b++)
				if (owner[a] == j && owner[b] == j) {
					int link = in->links[a * DEVICES + b];

					worst = link > worst ? link : worst;
					pairs += link;
				}
		worsts += worst;
	}
	push(s, worsts);
	push(s, pairs);
}

static void push_kept(struct score *s, const struct instance *in, const int *owner)
{
	for (int j = 0; j < JOBS; j++) {
		int least = in->held[j] < in->count[j] ? in->held[j] : in->count[j];

		for (int d = 0; d < DEVICES; d++)
			least -= in->holder[d] == j && owner[d] == j;
		push(s, least);
	}
	for (int j = 0; j < JOBS; j++) {
		if (in->count[j] >= in->held[j])
			continue;
		push_cost(s, in, owner, j, j + 1);
		for (int d = 0; d < DEVICES; d++)
			push(s, owner[d] != j);
	}
}

static bool waits(const struct instance *in, const int *owner, int j)
{
	for (int d = 0; d < DEVICES; d++)
		if (owner[d] == j && in->holder[d] >= 0 && in->holder[d] != j)
			return true;
	return false;
}

static void push_waiting(struct score *s, const struct instance *in, const int *owner)
{
	int given_up = 0, waiting = 0, need = 0;

	for (int d = 0; d < DEVICES; d++)
		given_up += owner[d] >= 0 && in->holder[d] >= 0 && owner[d] != in->holder[d];
	for (int j = 0; j < JOBS; j++) {
		waiting += waits(in, owner, j);
		if (!waits(in, owner, j) && in->count[j] > in->held[j])
			need += in->count[j] - in->held[j];
	}
	push(s, given_up);
	push(s, waiting);
	push(s, need);
	/* Of jobs that need as many, the one with the smaller index starts. */
	for (int j = 0; j < JOBS; j++)
		push(s, waits(in, owner, j));
}

/* What is left of the devices that jobs could choose. */
static void push_left(struct score *s, const struct instance *in, const int *owner)
{
	bool given_up = false;
	int pairs = 0;

	for (int d = 0; d < DEVICES; d++)
		given_up = given_up || (owner[d] >= 0 && in->holder[d] >= 0 &&
					owner[d] != in->holder[d]);
	for (int a = 0; a < DEVICES; a++)
		for (int b = 0; b < a; b++)
			if (owner[a] < 0 && owner[b] < 0 && in->holder[a] != GONE &&
			    in->holder[b] != GONE &&
			    (given_up || (in->holder[a] == FREE && in->holder[b] == FREE)))
				pairs += in->links[a * DEVICES + b];
	push(s, pairs);
}

static void push_order(struct score *s, const struct instance *in, const int *owner)
{
	for (int waiting = 0; waiting < 2; waiting++)
		for (int j = 0; j < JOBS; j++) {
			if (waits(in, owner, j) != waiting)
				continue;
			for (int d = 0; d < DEVICES; d++)
				if (in->holder[d] == FREE)
					push(s, owner[d] != j);
			for (int d = 0; d < DEVICES; d++)
				if (in->holder[d] != FREE)
					push(s, owner[d] != j);
		}
}

static bool score(struct score *s, const struct instance *in, const int *owner)
{
	int given[JOBS] = { 0 };

	s->n = 0;
	for (int d = 0; d < DEVICES; d++) {
		if (in->holder[d] == GONE && owner[d] >= 0)
			return false;
		if (owner[d] >= 0)
			given[owner[d]]++;
	}
	if (memcmp(given, in->count, sizeof(given)) != 0)
		return false;
	push_kept(s, in, owner);
	push_waiting(s, in, owner);
	push_cost(s, in, owner, 0, JOBS);
	push_left(s, in, owner);
	push_order(s, in, owner);
	return true;
}

static bool is_less(const struct score *a, const struct score *b)
{
	for (int i = 0; i < a->n && i < b->n; i++)
		if (a->values[i] != b->values[i])
			return a->values[i] < b->values[i];
	return false;
}

static void best_of_all(const struct instance *in, int *best)
{
	struct score least = { .n = 0 }, s;
	int owner[DEVICES];

	for (int code = 0; code < 4 * 4 * 4 * 4 * 4 * 4; code++) {
		for (int d = 0, c = code; d < DEVICES; d++, c /= JOBS + 1)
			owner[d] = c % (JOBS + 1) - 1;
		if (score(&s, in, owner) && (least.n == 0 || is_less(&s, &least))) {
			least = s;
			memcpy(best, owner, sizeof(owner));
		}
	}
}

static void make_instance(struct instance *in)
{
	unsigned kinds = 2 + random_below(3);
	int usable = 0;

	*in = (struct instance){ .count = { 0 } };
	for (int d = 0; d < DEVICES; d++) {
		in->holder[d] = random_below(3) ? (int)random_below(JOBS + 1) - 1 : FREE;
		in->holder[d] = random_below(12) ? in->holder[d] : GONE;
		usable += in->holder[d] != GONE;
		if (in->holder[d] >= 0)
			in->held[in->holder[d]]++;
		for (int e = 0; e < d; e++)
			in->links[d * DEVICES + e] = in->links[e * DEVICES + d] =
				(unsigned char)random_below(kinds);
	}
	for (int j = 0; j < JOBS; j++) {
		in->count[j] = (int)random_below((unsigned)usable + 1);
		usable -= in->count[j];
	}
}

static void print_wrong(const struct instance *in, const int *owner, const int *want)
{
	for (int d = 0; d < DEVICES; d++)
		printf("# device %d: held by %d, got %d, want %d\n", d, in->holder[d], owner[d],
		       want[d]);
}

static void test_against_all(void)
{
	int wrong = 0;

	for (int i = 0; i < 3000; i++) {
		struct instance in;
		int owner[DEVICES], want[DEVICES];

		make_instance(&in);
		assign_devices(DEVICES, in.holder, JOBS, in.count, in.links, owner);
		best_of_all(&in, want);
		if (!memcmp(owner, want, sizeof(owner)))
			continue;
		if (wrong++ == 0)
			print_wrong(&in, owner, want);
	}
	is_int(wrong, 0, "3000 random small cases get the best of all assignments");
}

/* --- many devices --- */

#define MANY 64
#define NODE 4

static void make_nodes(unsigned char *links, int n, int size)
{
	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++)
			links[a * n + b] = a / size == b / size ? 0 : 3;
}

static int whole_nodes(const int *owner, int who)
{
	int n = 0;

	for (int a = 0; a < MANY; a += NODE) {
		bool whole = owner[a] >= 0 || who == FREE;

		for (int d = a + 1; d < a + NODE; d++)
			whole = whole && owner[d] == owner[a];
		n += whole && (owner[a] == FREE) == (who == FREE);
	}
	return n;
}

/* Some devices are held by a job that stays as it is; jobs of 1, 4, 1, 4, ... start on most of the
 * rest. */
static bool nodes_stay_whole(const unsigned char *links)
{
	int holder[MANY], owner[MANY], count[MANY + 1] = { 0 };
	int n_free = 0, n_jobs = 1, fours = 0, whole, got = 0;
	bool moved = false;

	for (int d = 0; d < MANY; d++) {
		holder[d] = random_below(8) ? FREE : 0;
		count[0] += holder[d] == 0;
		n_free += holder[d] == FREE;
	}
	whole = whole_nodes(holder, FREE);
	for (; n_free >= 5 && n_jobs < 20; n_jobs += 2, n_free -= 5, fours++) {
		count[n_jobs] = 1;
		count[n_jobs + 1] = 4;
	}
	assign_devices(MANY, holder, n_jobs, count, links, owner);
	for (int d = 0; d < MANY; d++)
		moved = moved || (holder[d] == 0) != (owner[d] == 0);
	for (int j = 1; j < n_jobs; j++) {
		int n = 0;

		for (int d = 0; d < MANY; d++)
			n += owner[d] == j;
		if (n != count[j])
			return false;
	}
	got = whole_nodes(owner, 1) - whole_nodes(holder, 1);
	return !moved && got >= (whole < fours ? whole : fours);
}

static void test_nodes(void)
{
	unsigned char links[MANY * MANY];
	int broken = 0;

	make_nodes(links, MANY, NODE);
	for (int i = 0; i < 200; i++)
		broken += !nodes_stay_whole(links);
	is_int(broken, 0, "jobs of 4 get whole nodes of 64 devices, and no job moves");
}

/* Ten free devices: one in the node of a job that grows by one, one more there, and two whole
 * nodes. */
static void test_many_by_hand(void)
{
	static const int count[] = { 0, 3, 4, 2, 4 };
	unsigned char links[24 * 24];
	int holder[24], owner[24];

	make_nodes(links, 24, NODE);
	for (int d = 0; d < 24; d++)
		holder[d] = d < 12 ? 0 : FREE;
	holder[12] = holder[13] = 1;
	assign_devices(24, holder, 5, count, links, owner);
	is_int(owner[14], 1, "a job of many devices grows on its own node");
	ok(owner[16] == 2 && owner[17] == 2 && owner[18] == 2 && owner[19] == 2,
	   "a job of four gets a whole node");
	ok(owner[20] == 3 && owner[21] == 3, "a job of two gets two devices of one node");
	ok(owner[15] == 4 && owner[22] == 4 && owner[23] == 4 && owner[0] == 4,
	   "a job that must wait takes all free devices and one given up");
	holder[20] = holder[21] = holder[22] = 0;
	for (int d = 0; d < 20; d++)
		holder[d] = 0;
	assign_devices(24, holder, 1, (int[]){ 7 }, links, owner);
	ok(owner[0] == 0 && owner[3] == 0 && owner[20] == 0 && owner[22] == 0 && owner[4] == FREE,
	   "a job that shrinks from 23 to 7 keeps a whole node and three others");
}

struct many {
	int holder[MANY], count[10], held[10], n_free;
};

static void make_many(struct many *m)
{
	int left = 0;

	*m = (struct many){ .n_free = 0 };
	for (int d = 0; d < MANY; d++) {
		m->holder[d] = (int)random_below(12) - 2;
		m->n_free += m->holder[d] == FREE;
		left += m->holder[d] != GONE;
		if (m->holder[d] >= 0)
			m->held[m->holder[d]]++;
	}
	for (int j = 0; j < 10; j++) {
		m->count[j] = (int)random_below(left < 14 ? (unsigned)left + 1 : 14);
		left -= m->count[j];
	}
}

/* How many can start at once: those who need fewest. */
static int most_starters(const struct many *m)
{
	int starters = 0, n_free = m->n_free;

	for (int need = 1; need <= 14; need++)
		for (int j = 0; j < 10; j++)
			if (m->count[j] - m->held[j] == need && need <= n_free) {
				n_free -= need;
				starters++;
			}
	return starters;
}

static bool rules_hold(const struct many *m, const int *owner)
{
	int starters = 0, n_idle = 0, n_given_up = 0;

	for (int j = 0; j < 10; j++) {
		int given = 0, kept = 0, from_others = 0;
		int least = m->held[j] < m->count[j] ? m->held[j] : m->count[j];

		for (int d = 0; d < MANY; d++) {
			given += owner[d] == j && m->holder[d] != GONE;
			kept += owner[d] == j && m->holder[d] == j;
			from_others += owner[d] == j && m->holder[d] >= 0 && m->holder[d] != j;
		}
		if (given != m->count[j] || kept != least)
			return false;
		starters += given > kept && from_others == 0;
		n_given_up += from_others;
	}
	for (int d = 0; d < MANY; d++)
		n_idle += m->holder[d] == FREE && owner[d] == FREE;
	return starters == most_starters(m) && (n_idle == 0 || n_given_up == 0);
}

static void test_many(void)
{
	unsigned char links[MANY * MANY];
	int broken = 0, owner[MANY];
	struct many m;

	make_nodes(links, MANY, NODE);
	for (int i = 0; i < 1000; i++) {
		make_many(&m);
		assign_devices(MANY, m.holder, 10, m.count, links, owner);
		broken += !rules_hold(&m, owner);
	}
	is_int(broken, 0, "1000 large cases keep all devices they may and start most jobs");
}

/* --- one at a time, against the best --- */

#define SOME 12

static long cost_of(const struct assign_pool *p)
{
	long cost = 0;

	for (int j = 0; j < p->n_takers; j++) {
		int worst = 0;

		for (int a = 0; a < p->n_devices; a++)
			for (int b = 0; b < a; b++)
				if (p->owner[a] == j && p->owner[b] == j) {
					worst = assign_link(p, a, b) > worst ? assign_link(p, a, b)
									     : worst;
					cost += assign_link(p, a, b);
				}
		cost += 100000L * worst;
	}
	return cost;
}

/* Jobs that start, on some of the free devices of two sockets of three pairs. */
static int compare_ways(const unsigned char *links)
{
	int device[SOME], best[SOME], owner[SOME];
	struct taker takers[SOME];
	struct assign_pool p = { .n_devices = SOME, .links = links, .device = device,
				 .takers = takers, .owner = best };
	long least, cost;

	for (int d = 0; d < SOME; d++) {
		best[d] = owner[d] = FREE;
		if (random_below(4))
			device[p.n++] = d;
	}
	p.n_free = p.n;
	for (int left = p.n; left > 0 && p.n_takers < 4; p.n_takers++) {
		int need = 1 + (int)random_below(left < 4 ? (unsigned)left : 4);

		takers[p.n_takers] = (struct taker){ .job = p.n_takers, .need = need };
		left -= need;
	}
	if (p.n_takers == 0)
		return 0;
	assign_exactly(&p);
	least = cost_of(&p);
	p.owner = owner;
	assign_greedily(&p);
	cost = cost_of(&p);
	return (cost > least) - (cost < least);
}

static void test_greedy_against_exact(void)
{
	unsigned char links[SOME * SOME];
	int worse = 0, better = 0;

	for (int a = 0; a < SOME; a++)
		for (int b = 0; b < SOME; b++)
			links[a * SOME + b] = a / 2 == b / 2 ? 0 : a / 6 == b / 6 ? 2 : 3;
	for (int i = 0; i < 1000; i++) {
		int sign = compare_ways(links);

		worse += sign > 0;
		better += sign < 0;
	}
	is_int(better, 0, "the greedy assignment is never better than the best one");
	ok(worse < 250, "the greedy assignment is the best one in three cases of four");
	printf("# worse in %d of 1000\n", worse);
}

int main(void)
{
	test_by_hand();
	test_against_all();
	test_many_by_hand();
	test_nodes();
	test_many();
	test_greedy_against_exact();
	return done();
}
