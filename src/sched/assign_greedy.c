/* assign_greedy.c - good sets of many devices, one device at a time.
 *
 * The next device is the nearest to those that the job has: by its farthest link, then by the sum
 * of its links. Among equally near devices, the next is in the best group for the number still
 * needed: the tightest group that is large enough, and among these the smallest, so that whole
 * groups are left to other jobs (best fit). */
#include <assert.h>
#include <stdlib.h>

#include "assign_pool.h"
#include "pollux/assign.h"
#include "pollux/mem.h"

/* The devices to choose from, by place in the pool. */
struct place {
	int device;
	bool free, out;				/* out: taken, or not on offer yet */
	/* places not out within each distance, itself included */
	int within[ASSIGN_LINK_MAX + 1];
	int worst;				/* to the taker's devices */
	long sum;
};

struct picker {
	struct assign_pool *pool;
	struct place *places;
	int n_free;				/* of the places not out */
};

static struct place *end_of(const struct picker *k)
{
	return k->places + k->pool->n;
}

static void set_out(struct picker *k, struct place *b, bool out)
{
	int sign = out ? -1 : 1;

	b->out = out;
	k->n_free += b->free ? sign : 0;
	for (struct place *a = k->places; a < end_of(k); a++)
		for (int link = a == b ? 0 : assign_link(k->pool, a->device, b->device);
		     link <= ASSIGN_LINK_MAX; link++)
			a->within[link] += sign;
}

static void offer_places(struct picker *k, bool free_ones)
{
	for (struct place *a = k->places; a < end_of(k); a++)
		if (a->free == free_ones)
			set_out(k, a, false);
}

static void come_near(struct picker *k, int device)
{
	for (struct place *a = k->places; a < end_of(k); a++) {
		int link;

		if (a->device == device)
			continue;
		link = assign_link(k->pool, a->device, device);
		a->worst = link > a->worst ? link : a->worst;
		a->sum += link;
	}
}

static void start_from_own(struct picker *k, const struct taker *t)
{
	for (struct place *a = k->places; a < end_of(k); a++) {
		a->worst = 0;
		a->sum = 0;
	}
	for (int d = 0; d < k->pool->n_devices; d++)
		if (k->pool->owner[d] == t->job)
			come_near(k, d);
}

/* The distance within which `need` devices lie around a place. */
static int reach(const struct place *a, int need)
{
	int link = 0;

	while (link < ASSIGN_LINK_MAX && a->within[link] < need)
		link++;
	return link;
}

/* Compares two groups that are equally tight and large: the better has more devices in its inner
 * groups. */
static int compare_fit(const struct place *a, const struct place *b, int need)
{
	int link = reach(a, need), other = reach(b, need);

	if (link != other)
		return link - other;
	if (a->within[link] != b->within[link])
		return a->within[link] - b->within[link];
	while (--link >= 0)
		if (a->within[link] != b->within[link])
			return b->within[link] - a->within[link];
	return 0;
}

static bool is_better(const struct place *a, const struct place *b, int need)
{
	if (a->worst != b->worst)
		return a->worst < b->worst;
	if (a->sum != b->sum)
		return a->sum < b->sum;
	return compare_fit(a, b, need) < 0;
}

static struct place *next_place(const struct picker *k, bool only_free, int need)
{
	struct place *best = NULL;

	for (struct place *a = k->places; a < end_of(k); a++)
		if (!a->out && (a->free || !only_free) && (!best || is_better(a, best, need)))
			best = a;
	assert(best);		/* not more are wanted than exist */
	return best;
}

/* n_wanted: what this and all later takers need. Where no more devices than these are free, the
 * taker gets free devices only. */
static void pick_for(struct picker *k, const struct taker *t, int n_wanted)
{
	start_from_own(k, t);
	for (int need = t->need; need > 0; need--, n_wanted--) {
		struct place *a = next_place(k, n_wanted <= k->n_free, need);

		k->pool->owner[a->device] = t->job;
		set_out(k, a, true);
		come_near(k, a->device);
	}
}

struct turn {
	const struct taker *taker;
	int held;
};

/* Takers that have devices are bound to a place, so they come first; then those that need most, for
 * which a good set is hardest to find. */
static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;
	const struct taker *s = a->taker, *t = b->taker;

	if (s->waits != t->waits)
		return (int)s->waits - (int)t->waits;
	if ((a->held > 0) != (b->held > 0))
		return a->held > 0 ? -1 : 1;
	if (s->need != t->need)
		return s->need > t->need ? -1 : 1;
	return (s->job > t->job) - (s->job < t->job);
}

static struct turn *turns_of(const struct assign_pool *p, int *n_wanted)
{
	struct turn *turns = xcalloc((size_t)p->n_takers, sizeof(*turns));

	for (int t = 0; t < p->n_takers; t++) {
		turns[t].taker = &p->takers[t];
		*n_wanted += p->takers[t].need;
		for (int d = 0; d < p->n_devices; d++)
			turns[t].held += p->owner[d] == p->takers[t].job;
	}
	qsort(turns, (size_t)p->n_takers, sizeof(*turns), compare_turns);
	return turns;
}

void assign_greedily(struct assign_pool *p)
{
	struct picker k = { .pool = p };
	int n_wanted = 0;
	struct turn *turns = turns_of(p, &n_wanted);
	bool waits = false;

	k.places = xcalloc((size_t)p->n, sizeof(*k.places));
	for (int i = 0; i < p->n; i++)
		k.places[i] = (struct place){
			.device = p->device[i], .free = i < p->n_free, .out = true,
		};
	offer_places(&k, true);
	for (int t = 0; t < p->n_takers; t++) {
		if (turns[t].taker->waits && !waits)
			offer_places(&k, false);
		waits = turns[t].taker->waits;
		pick_for(&k, turns[t].taker, n_wanted);
		n_wanted -= turns[t].taker->need;
	}
	free(k.places);
	free(turns);
}
