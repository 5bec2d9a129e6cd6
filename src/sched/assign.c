/* assign.c - which devices each job gets: the devices that jobs keep, and the jobs that wait; and
 * good sets of many devices, one device at a time.
 *
 * The next device is the nearest to those that the job has: by its farthest link, then by the sum
 * of its links. Among equally near devices, the next is in the best group for the number still
 * needed: the tightest group that is large enough, and among these the smallest, so that whole
 * groups are left to other jobs (best fit). */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "assign_pool.h"
#include "pollux/assign.h"
#include "pollux/mem.h"

/* --- good sets of many devices --- */

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

/* The distance within which `need` devices lie around a place. */
static int reach(const struct place *a, int need)
{
	int link = 0;

	while (link < ASSIGN_LINK_MAX && a->within[link] < need)
		link++;
	return link;
}

static bool is_better(const struct place *a, const struct place *b, int need)
{
	int link, other;

	if (a->worst != b->worst)
		return a->worst < b->worst;
	if (a->sum != b->sum)
		return a->sum < b->sum;
	link = reach(a, need);
	other = reach(b, need);
	if (link != other)
		return link < other;
	if (a->within[link] != b->within[link])
		return a->within[link] < b->within[link];
	/* Of two groups that are equally tight and large, the better has more devices in its inner
	 * groups. */
	while (--link >= 0)
		if (a->within[link] != b->within[link])
			return a->within[link] > b->within[link];
	return false;
}

/* n_wanted: what this and all later takers need. Where no more devices than these are free, the
 * taker gets free devices only. */
static void pick_for(struct picker *k, const struct taker *t, int n_wanted)
{
	for (struct place *a = k->places; a < end_of(k); a++) {
		a->worst = 0;
		a->sum = 0;
	}
	for (int d = 0; d < k->pool->n_devices; d++)
		if (k->pool->owner[d] == t->job)
			come_near(k, d);
	for (int need = t->need; need > 0; need--, n_wanted--) {
		bool only_free = n_wanted <= k->n_free;
		struct place *best = NULL;

		for (struct place *a = k->places; a < end_of(k); a++)
			if (!a->out && (a->free || !only_free) &&
			    (!best || is_better(a, best, need)))
				best = a;
		assert(best);		/* not more are wanted than exist */
		k->pool->owner[best->device] = t->job;
		set_out(k, best, true);
		come_near(k, best->device);
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

void assign_greedily(struct assign_pool *p)
{
	struct picker k = { .pool = p };
	autofree struct turn *turns = xcalloc((size_t)p->n_takers, sizeof(*turns));
	int n_wanted = 0;
	bool waits = false;

	for (int t = 0; t < p->n_takers; t++) {
		turns[t].taker = &p->takers[t];
		n_wanted += p->takers[t].need;
		for (int d = 0; d < p->n_devices; d++)
			turns[t].held += p->owner[d] == p->takers[t].job;
	}
	qsort(turns, (size_t)p->n_takers, sizeof(*turns), compare_turns);
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
}

/* --- who chooses --- */

static void choose_owners(struct assign_pool *p)
{
	int next = 0;

	if (p->links && p->n <= ASSIGN_EXACT) {
		assign_exactly(p);
	} else if (p->links) {
		assign_greedily(p);
	} else {
		/* Rule 5 alone. Jobs that wait come last, and so do the devices that they wait
		 * for. */
		for (struct taker *t = p->takers; t < p->takers + p->n_takers; t++)
			for (int i = 0; i < t->need; i++)
				p->owner[p->device[next++]] = t->job;
	}
}

/* A job that shrinks chooses among its own devices only. */
static void shrink(const struct assign_pool *p, const int *holder, int job, int count)
{
	struct taker taker = { .job = job, .need = count };
	struct assign_pool own = *p;

	for (int d = 0; d < p->n_devices; d++)
		if (holder[d] == job)
			own.device[own.n++] = d;
	own.n_free = own.n;
	own.leaves_groups = false;
	own.takers = &taker;
	own.n_takers = 1;
	choose_owners(&own);
}

static void append_devices(struct assign_pool *p, const int *holder, bool given_up)
{
	for (int d = 0; d < p->n_devices; d++)
		if (p->owner[d] < 0 && holder[d] != ASSIGN_UNUSABLE && (holder[d] >= 0) == given_up)
			p->device[p->n++] = d;
}

/* Jobs that need few devices come first, so that the free devices suffice for as many jobs as
 * possible. */
static int compare_need(const void *left, const void *right)
{
	const struct taker *a = left, *b = right;

	return a->need != b->need ? (a->need > b->need) - (a->need < b->need)
				  : (a->job > b->job) - (a->job < b->job);
}

static int compare_order(const void *left, const void *right)
{
	const struct taker *a = left, *b = right;

	return a->waits != b->waits ? (int)a->waits - (int)b->waits
				    : (a->job > b->job) - (a->job < b->job);
}

/* Gives devices to jobs that grow or start, after all others have theirs. */
static void hand_out(struct assign_pool *p, const int *holder, int total)
{
	size_t n = (size_t)p->n_takers;
	int n_free;

	append_devices(p, holder, false);
	p->n_free = n_free = p->n;
	if (n_free < total)
		append_devices(p, holder, true);
	assert(total <= p->n);		/* otherwise more devices were decided than exist */

	qsort(p->takers, n, sizeof(*p->takers), compare_need);
	for (struct taker *t = p->takers; t < p->takers + n; t++) {
		t->waits = t->need > n_free;
		n_free -= t->waits ? 0 : t->need;
	}
	qsort(p->takers, n, sizeof(*p->takers), compare_order);
	choose_owners(p);
}
static void grow_and_shrink(struct assign_pool *p, const int *holder, int n_jobs, const int *held,
			    const int *count)
{
	autofree struct taker *takers = xcalloc((size_t)n_jobs, sizeof(*takers));
	int n = 0, total = 0;

	p->device = xcalloc((size_t)p->n_devices, sizeof(*p->device));
	for (int j = 0; j < n_jobs; j++) {
		if (count[j] > held[j]) {
			takers[n++] = (struct taker){ .job = j, .need = count[j] - held[j] };
			total += count[j] - held[j];
		} else if (count[j] > 0 && count[j] < held[j]) {
			shrink(p, holder, j, count[j]);
		}
	}
	p->takers = takers;
	p->n_takers = n;
	if (n > 0)
		hand_out(p, holder, total);
	free(p->device);
}

void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count,
		    const unsigned char *links, int *owner)
{
	struct assign_pool pool = { .n_devices = n_devices, .leaves_groups = true };
	autofree int *held = xcalloc((size_t)n_jobs, sizeof(*held));
	bool chooses = false, differ = false;

	pool.owner = owner;
	for (int d = 0; d < n_devices; d++)
		if (holder[d] >= 0)
			held[holder[d]]++;
	for (int d = 0; d < n_devices; d++) {
		int j = holder[d];

		pool.owner[d] = j >= 0 && held[j] <= count[j] ? j : ASSIGN_FREE;
	}
	for (int j = 0; j < n_jobs; j++)
		chooses |= count[j] > 0 && count[j] != held[j];
	for (int a = 0; chooses && links && a < n_devices; a++)
		for (int b = 0; !differ && b < n_devices; b++)
			differ = a != b && links[(long)a * n_devices + b] != links[1];
	pool.links = differ ? links : NULL;
	if (chooses)
		grow_and_shrink(&pool, holder, n_jobs, held, count);
}
