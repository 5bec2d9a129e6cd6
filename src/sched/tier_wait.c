/* tier_wait.c - see pollux/tier_wait.h. */
#include "pollux/tier_wait.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define MOVE_GAIN 1.05
#define MOVE_SLICES 0.5
#define MOVE_RELAUNCHES 10

static int link_of(const struct tier_links *l, int a, int b)
{
	return l->links[(size_t)a * (size_t)l->n + (size_t)b];
}

int tier_of_set(const struct tier_links *l, const bool *in)
{
	int farthest = TIER_NONE;

	for (int a = 0; a < l->n; a++)
		for (int b = 0; in[a] && b < a; b++)
			if (in[b] && link_of(l, a, b) > farthest)
				farthest = link_of(l, a, b);
	return farthest;
}

int tiers_of_set(const struct tier_links *l, const bool *in)
{
	bool seen[TIER_LINKS] = { false };
	int n = 0;

	for (int a = 0; a < l->n; a++)
		for (int b = 0; in[a] && b < a; b++)
			if (in[b])
				seen[link_of(l, a, b) % TIER_LINKS] = true;
	for (int t = 0; t < TIER_LINKS; t++)
		n += seen[t];
	return n;
}

static bool is_near_all(const struct tier_links *l, const bool *set, int device, int within)
{
	for (int d = 0; d < l->n; d++)
		if (set[d] && link_of(l, d, device) > within)
			return false;
	return true;
}

int tier_largest_set(const struct tier_links *l, const bool *in, int within)
{
	autofree bool *set = xcalloc((size_t)l->n, sizeof(*set));
	int largest = 0;

	for (int first = 0; first < l->n; first++) {
		int n = 1;

		if (!in[first])
			continue;
		memset(set, 0, (size_t)l->n * sizeof(*set));
		set[first] = true;
		for (int d = 0; d < l->n; d++)
			if (in[d] && !set[d] && is_near_all(l, set, d, within)) {
				set[d] = true;
				n++;
			}
		largest = n > largest ? n : largest;
	}
	return largest;
}

/* Where all pairs are alike, one look at them suffices. */
bool tier_best_by_number(const struct tier_links *l, const bool *in,
			 enum configuration_tier *best, int n_best)
{
	bool several = tiers_of_set(l, in) > 1;
	int only = several ? TIER_NONE : tier_of_set(l, in), r = 2;

	for (int link = 0; several && link < TIER_LINKS && r < n_best; link++)
		for (int n = tier_largest_set(l, in, link); r <= n && r < n_best; r++)
			best[r] = (enum configuration_tier)(TIER_FAST + link);
	for (; (several || only != TIER_NONE) && r < n_best; r++)
		best[r] = several ? TIER_FAR : (enum configuration_tier)(TIER_FAST + only);
	return several;
}

/* --- the earliest set --- */

struct by_time {
	double free_s;
	int device;
};

static int compare_times(const void *left, const void *right)
{
	const struct by_time *a = left, *b = right;

	if (a->free_s < b->free_s || a->free_s > b->free_s)
		return a->free_s < b->free_s ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

/* The devices that are free at some time, the first one first. */
struct order {
	struct by_time *items;		/* owned */
	int count;
};

/* The set from one device on: those that are free first, as far as they are near all before. */
struct from_one {
	double latest_s, sum_s;
	int n;
};

static struct from_one gather_devices(const struct tier_links *l, const struct order *order,
				      const struct by_time *first, int n, int within, bool *set)
{
	struct from_one f = { first->free_s, first->free_s, 1 };

	memset(set, 0, (size_t)l->n * sizeof(*set));
	set[first->device] = true;
	for (int i = 0; i < order->count && f.n < n; i++) {
		const struct by_time *next = &order->items[i];

		if (set[next->device] || !is_near_all(l, set, next->device, within))
			continue;
		set[next->device] = true;
		f.latest_s = fmax(f.latest_s, next->free_s);
		f.sum_s += next->free_s;
		f.n++;
	}
	return f;
}

double tier_earliest_set(const struct tier_links *l, const double *free_s, int n, int within,
			 bool *set)
{
	struct from_one best = { HUGE_VAL, HUGE_VAL, 0 };
	autofree bool *here = xcalloc((size_t)l->n, sizeof(*here));
	struct order order = { .items = xcalloc((size_t)l->n, sizeof(*order.items)) };

	for (int d = 0; d < l->n; d++)
		if (free_s[d] < HUGE_VAL)
			order.items[order.count++] = (struct by_time){ free_s[d], d };
	qsort(order.items, (size_t)order.count, sizeof(*order.items), compare_times);
	memset(set, 0, (size_t)l->n * sizeof(*set));
	for (int i = 0; i < order.count && order.items[i].free_s <= best.latest_s; i++) {
		struct from_one f = gather_devices(l, &order, &order.items[i], n, within, here);

		if (f.n < n || f.latest_s > best.latest_s ||
		    (f.latest_s >= best.latest_s && f.sum_s >= best.sum_s))
			continue;
		best = f;
		memcpy(set, here, (size_t)l->n * sizeof(*set));
	}
	free(order.items);
	return best.latest_s;
}

/* --- to wait or not --- */

/* The earliest set within a tier. Where it is not known when a device is free, it is taken to be
 * when jobs usually have theirs. free_s: room for all devices. */
static double expected_set(const struct tier_offer *o, int tier, double *free_s, bool *set)
{
	double usual_s = fmax(o->since_s + o->usual_wait_s[tier], o->now_s);

	for (int d = 0; d < o->links.n; d++)
		free_s[d] = isnan(o->free_s[d]) ? usual_s : fmax(o->free_s[d], o->now_s);
	return tier_earliest_set(&o->links, free_s, o->replicas, tier, set);
}

void tier_ask(const struct tier_offer *o, struct tier_answer *a)
{
	size_t n = (size_t)o->links.n;
	autofree double *free_s = xcalloc(n, sizeof(*free_s));
	autofree bool *set = xcalloc(n, sizeof(*set));
	double best_end_s = o->now_s + o->work / o->goodput[o->tier_now];

	a->waits = false;
	a->tier = TIER_NONE;
	a->start_s = a->until_s = (double)NAN;
	memset(a->wanted, 0, n * sizeof(*a->wanted));
	if (o->tier_now > o->worst) {
		/* A job that does not accept what there is waits, whatever is known of its work. */
		a->waits = true;
		a->tier = o->worst;
		a->until_s = HUGE_VAL;
		a->start_s = expected_set(o, o->worst, free_s, a->wanted);
	}
	for (int t = 0; t < o->tier_now && o->tier_now <= o->worst; t++) {
		double start_s = expected_set(o, t, free_s, set);
		double end_s = start_s + o->work / o->goodput[t];
		/* The most that a wait for the tier can save. */
		double saved_s = o->work / o->goodput[o->tier_now] - o->work / o->goodput[t];
		double until_s = fmin(o->since_s + saved_s, o->latest_s);

		if (!(start_s < HUGE_VAL) || !(end_s < best_end_s) || !(start_s < until_s) ||
		    !(o->now_s < until_s))
			continue;
		best_end_s = end_s;
		a->waits = true;
		a->tier = t;
		a->start_s = start_s;
		a->until_s = until_s;
		memcpy(a->wanted, set, n * sizeof(*set));
	}
}

bool tier_move_pays(double goodput_now, double goodput_there, double work, double slice_s,
		    double relaunch_s, double cost_s)
{
	double horizon_s = fmax(MOVE_SLICES * slice_s, MOVE_RELAUNCHES * relaunch_s);
	bool ends_sooner = isnan(work) || work / goodput_there + cost_s < work / goodput_now;

	return ends_sooner &&
	       goodput_there * (horizon_s - cost_s) > MOVE_GAIN * goodput_now * horizon_s;
}

/* --- the past --- */

double tier_usual_wait_s(const struct tier_past *past, int n, int replicas, int tier, double now_s,
			 double otherwise_s)
{
	autofree double *waits = xcalloc((size_t)n, sizeof(*waits));
	double median = otherwise_s;
	int count = 0;

	for (int i = 0; i < n; i++)
		if (past[i].replicas == replicas && past[i].tier == tier &&
		    now_s - past[i].time_s < TIER_WAITS_KEPT_S)
			waits[count++] = past[i].wait_s;
	qsort(waits, (size_t)count, sizeof(*waits), number_compare);
	if (count > 0)
		median = (waits[(count - 1) / 2] + waits[count / 2]) / 2;
	return median;
}
