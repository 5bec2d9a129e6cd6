/* assign.c - which devices each job gets: the devices that jobs keep, and the jobs that wait. */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "assign_pool.h"
#include "pollux/assign.h"
#include "pollux/mem.h"

static bool links_differ(int n_devices, const unsigned char *links)
{
	for (int a = 0; a < n_devices; a++)
		for (int b = 0; b < n_devices; b++)
			if (a != b && links[(long)a * n_devices + b] != links[1])
				return true;
	return false;
}

/* Rule 5 alone, for links that are all the same. */
static void assign_in_order(struct assign_pool *p)
{
	int next = 0;

	/* Jobs that wait come last, and so do the devices that they wait for. */
	for (struct taker *t = p->takers; t < p->takers + p->n_takers; t++)
		for (int i = 0; i < t->need; i++)
			p->owner[p->device[next++]] = t->job;
}

static void choose_owners(struct assign_pool *p)
{
	if (!p->links)
		assign_in_order(p);
	else if (p->n <= ASSIGN_EXACT)
		assign_exactly(p);
	else
		assign_greedily(p);
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

static void settle_who_waits(struct assign_pool *p)
{
	int n_free = p->n_free;
	size_t n = (size_t)p->n_takers;

	qsort(p->takers, n, sizeof(*p->takers), compare_need);
	for (struct taker *t = p->takers; t < p->takers + n; t++) {
		t->waits = t->need > n_free;
		n_free -= t->waits ? 0 : t->need;
	}
	qsort(p->takers, n, sizeof(*p->takers), compare_order);
}

/* Gives devices to jobs that grow or start, after all others have theirs. */
static void hand_out(struct assign_pool *p, const int *holder, int total)
{
	append_devices(p, holder, false);
	p->n_free = p->n;
	if (p->n_free < total)
		append_devices(p, holder, true);
	assert(total <= p->n);		/* otherwise more devices were decided than exist */
	settle_who_waits(p);
	choose_owners(p);
}

static bool needs_choice(int n_jobs, const int *held, const int *count)
{
	for (int j = 0; j < n_jobs; j++)
		if (count[j] > 0 && count[j] != held[j])
			return true;
	return false;
}

static void grow_and_shrink(struct assign_pool *p, const int *holder, int n_jobs, const int *held,
			    const int *count)
{
	struct taker *takers = xcalloc((size_t)n_jobs, sizeof(*takers));
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
	free(takers);
}

void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count,
		    const unsigned char *links, int *owner)
{
	struct assign_pool pool = { .n_devices = n_devices, .leaves_groups = true };
	int *held = xcalloc((size_t)n_jobs, sizeof(*held));

	pool.owner = owner;
	for (int d = 0; d < n_devices; d++)
		if (holder[d] >= 0)
			held[holder[d]]++;
	for (int d = 0; d < n_devices; d++) {
		int j = holder[d];

		pool.owner[d] = j >= 0 && held[j] <= count[j] ? j : ASSIGN_FREE;
	}
	if (needs_choice(n_jobs, held, count)) {
		pool.links = links && links_differ(n_devices, links) ? links : NULL;
		grow_and_shrink(&pool, holder, n_jobs, held, count);
	}
	free(held);
}
