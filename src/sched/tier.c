/* tier.c - sets of GPUs by tiers, and the timers that jobs wait. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/tier.h"

static int n_machines(const struct tier_cluster *c)
{
	return c->racks * c->machines_per_rack;
}

static int sum_free(const struct tier_cluster *c, int first, int n)
{
	int sum = 0;

	for (int m = first; m < first + n; m++)
		sum += c->free[m];
	return sum;
}

/* The machine of [first, first + n) with the most free GPUs, among those of which held has no GPU;
 * the first one of equals; -1: none. */
static int emptiest(const struct tier_cluster *c, int first, int n, const int *held)
{
	int best = -1;

	for (int m = first; m < first + n; m++)
		if (!held[m] && c->free[m] && (best < 0 || c->free[m] > c->free[best]))
			best = m;
	return best;
}

/* Adds to held `gpus` free GPUs of the machines [first, first + n), which have enough. */
static void take_free_gpus(const struct tier_cluster *c, int first, int n, int gpus, int *held)
{
	while (gpus > 0) {
		int m = emptiest(c, first, n, held);

		held[m] = gpus < c->free[m] ? gpus : c->free[m];
		gpus -= held[m];
	}
}

bool tier_find(const struct tier_cluster *c, enum tier within, int n, int *held)
{
	int width = within == TIER_MACHINE ? 1
		: within == TIER_RACK ? c->machines_per_rack : n_machines(c);
	int best = -1, best_free = 0;

	memset(held, 0, (size_t)n_machines(c) * sizeof(*held));
	for (int first = 0; first < n_machines(c); first += width) {
		int free = sum_free(c, first, width);

		if (free >= n && (best < 0 || free < best_free)) {
			best = first;
			best_free = free;
		}
	}
	if (best < 0)
		return false;
	take_free_gpus(c, best, width, n, held);
	return true;
}

enum tier tier_of(const struct tier_cluster *c, const int *held)
{
	enum tier tier = TIER_MACHINE;
	int first = -1;

	for (int m = 0; m < n_machines(c); m++) {
		if (!held[m])
			continue;
		if (first >= 0)
			tier = m / c->machines_per_rack != first / c->machines_per_rack
			       || tier == TIER_NETWORK ? TIER_NETWORK : TIER_RACK;
		else
			first = m;
	}
	return tier;
}

void tier_history_add(struct tier_history *h, struct tier_wait wait, double lease_s)
{
	int old = 0;

	while (old < h->n && wait.time_s - h->waits[old].time_s >= TIER_HOURS * lease_s)
		old++;
	h->n -= old;
	if (old)
		memmove(h->waits, h->waits + old, (size_t)h->n * sizeof(*h->waits));
	h->waits = xreallocarray(h->waits, (size_t)h->n + 1, sizeof(*h->waits));
	h->waits[h->n++] = wait;
}

void tier_history_release(struct tier_history *h)
{
	free(h->waits);
	*h = (struct tier_history){ 0 };
}

static bool wait_counts(const struct tier_wait *w, int gpus, double now_s, double lease_s)
{
	return w->gpus == gpus && now_s - w->time_s < TIER_HOURS * lease_s;
}

/* Mean plus two population standard deviations of the waits of jobs of this many GPUs. */
static double statistic(const struct tier_history *h, int gpus, double now_s, double lease_s)
{
	double sum = 0, squares = 0, mean;
	int n = 0;

	for (int i = 0; i < h->n; i++)
		if (wait_counts(&h->waits[i], gpus, now_s, lease_s)) {
			sum += h->waits[i].leases;
			n++;
		}
	if (n == 0)
		return 1;
	mean = sum / n;
	for (int i = 0; i < h->n; i++)
		if (wait_counts(&h->waits[i], gpus, now_s, lease_s)) {
			double off = h->waits[i].leases - mean;

			squares += off * off;
		}
	return mean + 2 * sqrt(squares / n);
}

struct tier_timers tier_tune(const struct tier_history *machine, const struct tier_history *rack,
			     int gpus, double now_s, double lease_s)
{
	double on_rack = ceil(statistic(machine, gpus, now_s, lease_s));
	double anywhere = ceil(statistic(rack, gpus, now_s, lease_s));

	return (struct tier_timers){
		.rack_s = lease_s * fmin(ceil(0.8 * TIER_HOURS), fmax(6, on_rack)),
		.network_s = lease_s * fmin(TIER_HOURS, fmax(12, anywhere)),
	};
}
