/* assign_exact.c - the best sets of few devices, by a dynamic program over jobs and the devices
 * left.
 *
 * best(j, left), the least cost of jobs j, j + 1, ... with the devices left, is the least, over the
 * subsets S of left that job j could take, of cost(j, S) + best(j + 1, left - S). The number of
 * devices left tells which job is next, so one table by subset holds all jobs. With n devices, job
 * j looks at C(n, left) C(left, need) pairs of sets. The worst case for n = 16 is 2.2 million pairs
 * over all jobs (nine jobs that need 1, 1, 1, 2, 5, 3, 1, 1 and 1); `benchmarks/assign` measures
 * it.
 *
 * An earlier device of the pool has a higher bit, so among sets of one size the greater number is
 * the set with the lower devices. */
#include <stdint.h>
#include <stdlib.h>

#include "assign_pool.h"
#include "pollux/assign.h"
#include "pollux/mem.h"

/* A cost is the farthest pair times FARTHEST, plus the sum of all pairs times PAIR, plus the sum of
 * the pairs that no job takes. The latter is at most 120 pairs of ASSIGN_LINK_MAX, below PAIR. The
 * sum of all pairs stays below 2^24 even where 16 devices go to jobs that have 100,000. All
 * ASSIGN_EXACT jobs together cost less than IMPOSSIBLE, and twice IMPOSSIBLE does not overflow. */
#define PAIR ((uint64_t)1 << 10)
#define FARTHEST ((uint64_t)1 << 34)
#define IMPOSSIBLE ((uint64_t)1 << 41)

struct solver {
	const struct assign_pool *pool;
	const struct taker *taker;	/* the taker whose sets are in set_cost */
	uint64_t *best;			/* by the set of devices left */
	uint64_t *set_cost;		/* by the set that the taker takes */
	uint32_t all, free;		/* devices of the pool */
	int worst_held;			/* the taker's own devices: its farthest pair */
	int worst_to[ASSIGN_EXACT];	/* from a device to the taker's own */
	uint32_t sum_to[ASSIGN_EXACT];
};

static int device_of(const struct solver *s, uint32_t bit)
{
	return s->pool->n - 1 - __builtin_ctz(bit);
}

static uint32_t may_take(const struct solver *s, const struct taker *t, uint32_t left)
{
	return t->waits ? left : left & s->free;
}

/* The subsets of one size, smallest first: numbers with as many ones, enumerated by Gosper's hack
 * (a block of ones moves up by one, and all but its top go to the bottom). The i-th digit stands
 * for the i-th element. Four digits are looked up at a time. */
struct subsets {
	uint32_t digits, end;
	uint32_t part[ASSIGN_EXACT / 4][16];
};

static bool subsets_first(struct subsets *s, uint32_t of, int size)
{
	int n = 0;

	for (uint32_t rest = of; rest; n++) {
		uint32_t digit = (uint32_t)1 << n % 4;

		s->part[n / 4][0] = 0;
		for (uint32_t i = 0; i < digit; i++)
			s->part[n / 4][digit + i] = s->part[n / 4][i] | (rest & -rest);
		rest &= rest - 1;
	}
	/* Digits beyond the last element are looked up too. */
	for (int i = (n + 3) / 4; i < ASSIGN_EXACT / 4; i++)
		s->part[i][0] = 0;
	s->digits = ((uint32_t)1 << size) - 1;
	s->end = (uint32_t)1 << n;
	return size > 0 && size <= n;
}

static bool subsets_next(struct subsets *s)
{
	uint32_t lowest = s->digits & -s->digits, up = s->digits + lowest;

	s->digits = up | ((s->digits ^ up) >> 2 >> __builtin_ctz(lowest));
	return s->digits < s->end;
}

static uint32_t subsets_get(const struct subsets *s)
{
	return s->part[0][s->digits & 15] | s->part[1][s->digits >> 4 & 15] |
	       s->part[2][s->digits >> 8 & 15] | s->part[3][s->digits >> 12];
}

static uint64_t cost_of(const struct solver *s, uint32_t set)
{
	const struct assign_pool *p = s->pool;
	uint32_t sum = 0;
	int worst = s->worst_held;

	for (; set; set &= set - 1) {
		int i = device_of(s, set);

		worst = s->worst_to[i] > worst ? s->worst_to[i] : worst;
		sum += s->sum_to[i];
		for (uint32_t rest = set & (set - 1); rest; rest &= rest - 1) {
			int link = assign_link(p, p->device[i], p->device[device_of(s, rest)]);

			worst = link > worst ? link : worst;
			sum += (uint32_t)link;
		}
	}
	return (uint64_t)worst * FARTHEST + sum * PAIR;
}

/* Sets the cost of each set that the taker can take. The cost of the taker's own devices among
 * themselves is the same for all sets. */
static void look_at_taker(struct solver *s, const struct taker *t)
{
	const struct assign_pool *p = s->pool;
	struct subsets subsets;

	s->taker = t;
	s->worst_held = 0;
	for (int i = 0; i < p->n; i++) {
		s->worst_to[i] = 0;
		s->sum_to[i] = 0;
	}
	for (int d = 0; d < p->n_devices; d++) {
		if (p->owner[d] != t->job)
			continue;
		for (int e = 0; e < d; e++)
			if (p->owner[e] == t->job && assign_link(p, d, e) > s->worst_held)
				s->worst_held = assign_link(p, d, e);
		for (int i = 0; i < p->n; i++) {
			int link = assign_link(p, d, p->device[i]);

			s->worst_to[i] = link > s->worst_to[i] ? link : s->worst_to[i];
			s->sum_to[i] += (uint32_t)link;
		}
	}
	for (bool more = subsets_first(&subsets, may_take(s, t, s->all), t->need); more;
	     more = subsets_next(&subsets))
		s->set_cost[subsets_get(&subsets)] = cost_of(s, subsets_get(&subsets));
}

/* Finds the best set for the taker; its cost includes all later takers. Among equal sets the last
 * one wins, which has the lowest devices. */
static uint64_t best_set(const struct solver *s, uint32_t left, uint32_t *best)
{
	uint64_t least = IMPOSSIBLE;
	struct subsets subsets;

	for (bool more = subsets_first(&subsets, may_take(s, s->taker, left), s->taker->need); more;
	     more = subsets_next(&subsets)) {
		uint32_t set = subsets_get(&subsets);
		uint64_t cost = s->set_cost[set] + s->best[left & ~set];

		if (cost <= least) {
			least = cost;
			*best = set;
		}
	}
	return least;
}

/* Sets the cost of what is left at the end: the links of all pairs, so that groups are left whole.
 * No free device may be left if a taker waits. */
static void look_at_end(struct solver *s, int n_left, bool waits)
{
	const struct assign_pool *p = s->pool;
	struct subsets subsets;

	s->best[0] = 0;
	for (bool more = subsets_first(&subsets, s->all, n_left); more;
	     more = subsets_next(&subsets)) {
		uint32_t set = subsets_get(&subsets);
		uint64_t sum = 0;

		for (uint32_t left = set; p->leaves_groups && left; left &= left - 1)
			for (uint32_t rest = left & (left - 1); rest; rest &= rest - 1)
				sum += (uint64_t)assign_link(p, p->device[device_of(s, left)],
							     p->device[device_of(s, rest)]);
		s->best[set] = waits && (set & s->free) ? IMPOSSIBLE : sum;
	}
}

void assign_exactly(struct assign_pool *p)
{
	size_t n_sets = (size_t)1 << p->n;
	struct solver s = { .pool = p, .all = (uint32_t)n_sets - 1 };
	struct subsets subsets;
	uint32_t left = s.all, set = 0;
	int n_left = p->n;

	s.free = s.all & ~(s.all >> p->n_free);
	s.best = xcalloc(n_sets, sizeof(*s.best));
	s.set_cost = xcalloc(n_sets, sizeof(*s.set_cost));
	for (int t = 0; t < p->n_takers; t++)
		n_left -= p->takers[t].need;
	look_at_end(&s, n_left, p->takers[p->n_takers - 1].waits);
	for (int t = p->n_takers - 1; t > 0; t--) {
		n_left += p->takers[t].need;
		/* Looks at every set of n_left devices that may be left to the taker. */
		look_at_taker(&s, &p->takers[t]);
		for (bool more = subsets_first(&subsets, s.all, n_left); more;
		     more = subsets_next(&subsets))
			s.best[subsets_get(&subsets)] = best_set(&s, subsets_get(&subsets), &set);
	}
	for (int t = 0; t < p->n_takers; t++) {
		look_at_taker(&s, &p->takers[t]);
		best_set(&s, left, &set);
		left &= ~set;
		for (; set; set &= set - 1)
			p->owner[p->device[device_of(&s, set)]] = p->takers[t].job;
	}
	free(s.best);
	free(s.set_cost);
}
