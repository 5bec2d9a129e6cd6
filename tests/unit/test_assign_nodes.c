/* Devices on several nodes: by hand, what the header promises of any counts, a large cluster. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/assign.h"
#include "pollux/node_sizes.h"
#include "sched_cases.h"
#include "tap.h"

#define FREE ASSIGN_FREE
#define GONE ASSIGN_UNUSABLE

/* Digits are jobs, "." is free, "x" cannot be used; a blank separates nodes. counts: of jobs 0, 1
 * ...; moves: the jobs that may be moved. */
static const struct {
	const char *name, *before, *counts, *moves, *after;
	bool all;
} cases[] = {
	{ "a small job goes to the fullest node that has room",
	  "0... ....", "12", "", "011. ....", true },
	{ "a large job gets a whole node", ".... ....", "42", "", "0000 11..", true },
	{ "a job of six is split evenly over two nodes", ".... ....", "6", "", "000. 000.", true },
	{ "a job of five gets no nodes of four", ".... .... .... .... ....", "5", "",
	  ".... .... .... .... ....", false },
	{ "no job moves while the counts stay the same", "01.. ..0.", "21", "", "01.. ..0.", true },
	{ "one large node is taken before two small ones", ".. ...... ..", "4", "",
	  ".. 0000.. ..", true },
	{ "two small nodes are taken if the large one is full", ".. .00000 ..", "54", "",
	  "11 .00000 11", true },
	{ "a job that grows stays on its node", ".... 0...", "2", "", ".... 00..", true },
	{ "a job that grows beyond its node moves to a whole node",
	  "1... 00..", "41", "", "1... 0000", true },
	{ "a job that shrinks to one node keeps the first one",
	  "0000 0000", "4", "", "0000 ....", true },
	{ "free devices are taken before those that are given up",
	  "00.. ..11", "022", "", "..22 ..11", true },
	{ "devices that are given up are taken where nothing is free",
	  "0000 1111", "044", "", "2222 1111", true },
	{ "a small job makes room for a large one", "0... 1...", "114", "0", "2222 10..", true },
	{ "room is made where the fewest devices move",
	  "0... 1133", "1042", "03", "2222 0.33", true },
	{ "a job that may not be moved makes no room", "0... 1...", "114", "", "0... 1...", false },
	{ "a large job finds no room, and the others get their devices",
	  "0..x 1.xx", "1142", "", "033x 1.xx", false },
	{ "a job that lost a device goes to a whole node", "00x0 ....", "4", "",
	  "..x. 0000", true },
};

static int parse(const char *text, int *holder, int *node)
{
	int n = 0, at = 0;

	for (; *text; text++) {
		if (*text == ' ') {
			at++;
			continue;
		}
		node[n] = at;
		holder[n++] = *text == '.' ? FREE : *text == 'x' ? GONE : *text - '0';
	}
	return n;
}

static void show(char *text, const char *like, const int *owner)
{
	static const char names[] = "0123456789";
	int d = 0;

	for (; *like; like++, text++) {
		if (*like != ' ') {
			*text = '.';
			if (owner[d] >= 0)
				*text = names[owner[d]];
			else if (*like == 'x')
				*text = 'x';
			d++;
		} else {
			*text = ' ';
		}
	}
	*text = '\0';
}

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int holder[32], node[32], owner[32], count[10] = { 0 }, n_jobs = 0;
		int n = parse(cases[i].before, holder, node);
		bool movable[10] = { false };
		char got[64];
		struct assign_nodes_input in = {
			.n_devices = n, .holder = holder, .node = node, .n_nodes = node[n - 1] + 1,
			.count = count, .movable = movable,
		};

		for (; cases[i].counts[n_jobs]; n_jobs++)
			count[n_jobs] = cases[i].counts[n_jobs] - '0';
		for (const char *p = cases[i].moves; *p; p++)
			movable[*p - '0'] = true;
		in.n_jobs = n_jobs;
		ok(assign_on_nodes(&in, owner) == cases[i].all, cases[i].name);
		show(got, cases[i].before, owner);
		is_str(got, cases[i].after,
		       "the jobs get the devices that were worked out by hand");
	}
}

/* --- links --- */

static unsigned char link_of(const void *arg, int a, int b)
{
	(void)arg;
	return a % 2 == b % 2 ? 0 : 2;	/* even numbers are near even ones */
}

static void test_links(void)
{
	int holder[] = { FREE, FREE, FREE, FREE, FREE, FREE, FREE, FREE }, owner[8];
	int node[] = { 0, 0, 0, 0, 1, 1, 1, 1 }, count[] = { 2 };
	struct assign_nodes_input in = {
		.n_devices = 8, .holder = holder, .node = node, .n_nodes = 2, .n_jobs = 1,
		.count = count, .link = link_of,
	};

	ok(assign_on_nodes(&in, owner) && owner[0] == 0 && owner[2] == 0 && owner[1] < 0,
	   "a job gets the two devices of a node that are joined best");
}

/* --- any counts --- */

static int random_below(int n)
{
	static uint64_t random = 1;

	return case_below(&random, n);
}

#define NODES 6
#define SIZE 5
#define DEVICES (NODES * SIZE)
#define JOBS 8
#define CASES 20000

struct any {
	int n, n_jobs, holder[DEVICES], node[DEVICES], owner[DEVICES], count[JOBS];
	bool movable[JOBS];
	int size[NODES], held[JOBS][NODES], got[JOBS][NODES];
};

static void make(struct any *c)
{
	int left = 0;

	*c = (struct any){ .n_jobs = 1 + random_below(JOBS) };
	for (int k = 0; k < NODES; k++)
		for (int i = 1 + random_below(SIZE); i > 0; i--) {
			c->node[c->n] = k;
			c->holder[c->n] = random_below(8) ? random_below(c->n_jobs + 4) : GONE;
			if (c->holder[c->n] >= c->n_jobs)
				c->holder[c->n] = FREE;
			left += c->holder[c->n] != GONE;
			c->size[k] += c->holder[c->n++] != GONE;
		}
	for (int d = 0; d < c->n; d++)
		if (c->holder[d] >= 0)
			c->held[c->holder[d]][c->node[d]]++;
	for (int j = 0; j < c->n_jobs; j++) {
		int held = 0;

		for (int k = 0; k < NODES; k++)
			held += c->held[j][k];
		c->count[j] = random_below(3) ? held : random_below(9);
		if (c->count[j] > left)
			c->count[j] = left;
		left -= c->count[j];
		c->movable[j] = random_below(2);
	}
}

static bool is_even(const struct any *c, int j)
{
	int devices = 0, nodes = 0, sizes[NODES], n = 0, sum = 0;
	struct node_sizes all = { sizes, 0 };

	for (int size = SIZE; size > 0; size--)
		for (int k = 0; k < NODES; k++)
			if (c->size[k] == size)
				sizes[n++] = size;
	all.n = n;
	for (int k = 0; k < NODES; k++) {
		if (!c->got[j][k])
			continue;
		if (devices && c->got[j][k] != devices)
			return false;
		devices = c->got[j][k];
		nodes++;
		sum += devices;
	}
	for (n = 0; sum && (n = node_sizes_place_above(&all, sum, n)) > 0;)
		if (n == nodes)
			return true;
	return sum == 0;
}

/* True if the job must get its devices: it keeps what it has, and nobody may move it. */
static bool must_keep(const struct any *c, int j)
{
	int held = 0;

	for (int k = 0; k < NODES; k++)
		held += c->held[j][k];
	return held && held == c->count[j] && !c->movable[j];
}

static bool has_room(const struct any *c, int devices)
{
	for (int k = 0; k < NODES; k++) {
		int room = c->size[k];

		for (int j = 0; j < c->n_jobs; j++)
			room -= c->got[j][k];
		if (room >= devices)
			return true;
	}
	return false;
}

/* Returns the name of the promise that is broken; NULL: none. */
static const char *broken(struct any *c, bool all)
{
	bool lacks = false;

	for (int d = 0; d < c->n; d++) {
		if (c->owner[d] >= 0 && c->holder[d] == GONE)
			return "gives a device that cannot be used";
		if (c->owner[d] >= 0)
			c->got[c->owner[d]][c->node[d]]++;
	}
	for (int j = 0; j < c->n_jobs; j++) {
		int sum = 0;
		bool same = true;

		for (int k = 0; k < NODES; k++) {
			sum += c->got[j][k];
			same &= c->got[j][k] == c->held[j][k];
		}
		if (sum && sum != c->count[j])
			return "neither all nor none";
		if (must_keep(c, j) && !same)
			return "moves a job that must not move";
		if (!same && !is_even(c, j))
			return "is not even";
		lacks |= sum < c->count[j];
	}
	for (int j = 0; j < c->n_jobs; j++)
		for (int k = 0, none = c->count[j] == 1; none && k < NODES; k++)
			if (c->got[j][k])
				none = 0;
			else if (k == NODES - 1 && has_room(c, 1))
				return "a single device is free, and a job waits for it";
	return lacks == all ? "says that all have theirs, or not" : NULL;
}

static void test_any(void)
{
	static struct any c;
	const char *why = NULL;
	int n_all = 0;

	for (int i = 0; i < CASES && !why; i++) {
		struct assign_nodes_input in = {
			.holder = c.holder, .node = c.node, .n_nodes = NODES, .count = c.count,
			.movable = c.movable,
		};
		bool all;

		make(&c);
		in.n_devices = c.n;
		in.n_jobs = c.n_jobs;
		all = assign_on_nodes(&in, c.owner);
		n_all += all;
		why = broken(&c, all);
	}
	is_str(why ? why : "kept", "kept", "every random case keeps the promises of the header");
	ok(n_all > CASES / 4 && n_all < CASES,
	   "the random cases place all jobs in some and not all cases");
}

/* On equal nodes, regular counts whose sum is there are always placed if all may be moved. */
static void test_regular(void)
{
	static const int regular[] = { 1, 2, 4, 8, 12 };
	int holder[24], node[24], owner[24], count[JOBS], missed = 0;
	bool movable[JOBS];

	for (int i = 0; i < CASES; i++) {
		struct assign_nodes_input in = {
			.n_devices = 24, .holder = holder, .node = node, .n_nodes = 6,
			.n_jobs = JOBS, .count = count, .movable = movable,
		};
		int left = 24;

		for (int j = 0; j < JOBS; j++) {
			count[j] = regular[random_below(5)];
			count[j] = count[j] <= left ? count[j] : 0;
			left -= count[j];
			movable[j] = true;
		}
		for (int d = 0; d < 24; d++) {
			node[d] = d / 4;
			holder[d] = FREE;
		}
		assign_on_nodes(&in, owner);
		/* Then others arrive, and some have left. */
		for (int d = 0; d < 24; d++)
			holder[d] = owner[d];
		for (int j = 0; j < JOBS; j++)
			if (random_below(2)) {
				left += count[j];
				count[j] = regular[random_below(5)];
				count[j] = count[j] <= left ? count[j] : 0;
				left -= count[j];
			}
		missed += !assign_on_nodes(&in, owner);
	}
	is_int(missed, 0, "jobs with regular counts always find room");
}

/* --- 10,000 nodes --- */

#define LARGE 10000

static void test_large(void)
{
	static int holder[LARGE * 8], node[LARGE * 8], owner[LARGE * 8], count[100];
	int given = 0, broken_nodes = 0;
	struct assign_nodes_input in = {
		.n_devices = LARGE * 8, .holder = holder, .node = node, .n_nodes = LARGE,
		.n_jobs = 100, .count = count, .link = link_of,
	};

	for (int d = 0; d < LARGE * 8; d++) {
		holder[d] = FREE;
		node[d] = d / 8;
	}
	for (int j = 0; j < 100; j++)
		count[j] = 8 << (j % 10);
	count[99] = 2256;	/* every node is full then */
	ok(assign_on_nodes(&in, owner), "100 jobs of 8 to 4,096 devices fit on 10,000 nodes of 8");
	for (int d = 0; d < LARGE * 8; d++) {
		given += owner[d] >= 0;
		broken_nodes += owner[d] != owner[d - d % 8];
	}
	is_int(given, LARGE * 8, "every one of the 100 jobs has all of its devices");
	is_int(broken_nodes, 0, "every one of the 100 jobs has whole nodes");
}

int main(void)
{
	test_by_hand();
	test_links();
	test_any();
	test_regular();
	test_large();
	return done();
}
