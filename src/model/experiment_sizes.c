/* experiment_sizes.c - the configurations that a job may be given, one by one and as a grid. */
#include <math.h>
#include <stdlib.h>

#include "experiment_sizes.h"
#include "pollux/mem.h"
#include "whole.h"

#define NEARLY 0.99		/* of the largest local batch: too near to be a point of its own */
#define MOST_PASSES 4		/* of an update; more passes give no new information */

int64_t sizes_most_batch(const struct experiment_limits *l)
{
	return l->batch.max > 0 ? l->batch.max : l->batch.size;
}

int64_t sizes_least_batch(const struct experiment_limits *l)
{
	return l->batch.min > 0 ? l->batch.min : l->batch.size;
}

int64_t sizes_at_most(int64_t a, int64_t limit)
{
	return limit > 0 && a > limit ? limit : a;
}

/* The range of local batches for s passes on r devices. Returns false if it is empty. */
static bool local_range(const struct experiment_limits *l, int r, int s, int64_t *low,
			int64_t *high)
{
	*low = ceil_div(sizes_least_batch(l), (int64_t)r * s);
	*high = sizes_at_most(sizes_most_batch(l) / ((int64_t)r * s), l->batch.max_local);
	return *low >= 1 && *low <= *high;
}

bool sizes_with_local(const struct experiment_limits *l, int r, int64_t m, struct configuration *c)
{
	int64_t s = ceil_div(sizes_least_batch(l), r * m), low, high;

	if (s > INT32_MAX || (s > 1 && !l->batch.accumulates) ||
	    !local_range(l, r, (int)s, &low, &high))
		return false;
	*c = configuration_make(r, m, (int)s);
	return m >= low && m <= high;
}

/* The declared batch, rounded to what r devices can do. */
static struct configuration rounded(const struct experiment_limits *l, int r)
{
	return configuration_spread(&l->batch, r);
}

struct configuration sizes_own(const struct experiment_limits *l)
{
	if (l->batch.size == 0)
		return configuration_make(l->min_replicas, 0, 1);
	return rounded(l, l->min_replicas);
}

static int next_replicas(const struct experiment_limits *l, int r)
{
	int next = 8;

	if (r < 8)
		return r + 1;
	while (next <= r)
		next *= 2;
	return next < l->max_replicas || r >= l->max_replicas ? next : l->max_replicas;
}

struct grid_maker {
	const struct experiment_limits *limits;
	struct experiment_grid grid;
	int64_t local_max;
	double ratio;
};

static void add_configuration(struct grid_maker *g, struct configuration c)
{
	int n = g->grid.count;

	if (n < EXPERIMENT_GRID_MAX && (n == 0 || !configuration_equal(&g->grid.items[n - 1], &c)))
		g->grid.items[g->grid.count++] = c;
}

/* Adds the rounded configuration if the batch does not divide among r devices. */
static void add_rounded(struct grid_maker *g, int r, int s)
{
	const struct experiment_limits *l = g->limits;
	struct configuration c = rounded(l, r);

	if (c.accumulation_steps == s && c.local_batch_size <= g->local_max &&
	    (s == 1 || l->batch.accumulates))
		add_configuration(g, c);
}

/* Adds the configurations of s passes on r devices. */
static void add_locals(struct grid_maker *g, int r, int s)
{
	int64_t low, high;

	if (!local_range(g->limits, r, s, &low, &high)) {
		add_rounded(g, r, s);
		return;
	}
	high = sizes_at_most(high, g->local_max);
	for (int i = 0; i < EXPERIMENT_GRID_MAX; i++) {
		double m = (double)low * pow(g->ratio, i);

		if (!(m < NEARLY * (double)high))
			break;
		add_configuration(g, configuration_make(r, (int64_t)m, s));
	}
	if (low <= high)
		add_configuration(g, configuration_make(r, high, s));
}

struct experiment_grid experiment_grid_make(const struct experiment_limits *l, int64_t local_max,
					    double ratio)
{
	struct grid_maker g = { .limits = l, .local_max = local_max, .ratio = ratio };

	g.grid.items = xcalloc(EXPERIMENT_GRID_MAX, sizeof(*g.grid.items));
	for (int r = l->min_replicas; r <= l->max_replicas; r = next_replicas(l, r))
		for (int s = 1; s <= (l->batch.accumulates ? MOST_PASSES : 1); s *= 2)
			add_locals(&g, r, s);
	return g.grid;
}
