/* experiment.c - chooses the job's own sizes first, then growth, then the most informative
 * point. */
#include "pollux/experiment.h"

#include <math.h>
#include <stdlib.h>

#include "experiment_information.h"
#include "pollux/configuration.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"

#define GRID_RATIO 1.4142135623730951	/* between local batches of the grid for predictions */
#define DECREMENTS 10000	/* of a local batch, in search of a legal one */
#define STEPS STEADY_STEPS	/* to watch for a measurement */
/* The least part of its weight that a point must still lack to be worth a launch. About five
 * windows reach it. */
#define LEAST_NEWS 0.3

const char *experiment_why_name(enum experiment_why why)
{
	static const char *const names[] = {
		[EXPERIMENT_OWN] = "own sizes", [EXPERIMENT_GROW] = "growth",
		[EXPERIMENT_BISECT] = "bisection", [EXPERIMENT_INFORM] = "tells most",
	};

	return names[why];
}

/* --- the configurations that a job may be given, one by one and as a grid --- */

#define NEARLY 0.99		/* of the largest local batch: too near to be a point of its own */
#define MOST_PASSES 4		/* of an update; more passes give no new information */

/* The bounds of the batch size: M0 if none is declared. */
static int64_t sizes_most_batch(const struct experiment_limits *l)
{
	return l->batch.max > 0 ? l->batch.max : l->batch.size;
}

static int64_t sizes_least_batch(const struct experiment_limits *l)
{
	return l->batch.min > 0 ? l->batch.min : l->batch.size;
}

/* The smaller of a and limit; limit 0: none. */
static int64_t sizes_at_most(int64_t a, int64_t limit)
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

/* Makes the configuration with local batch m and the fewest passes that reach the least batch.
 * Returns false if it is not legal. */
static bool sizes_with_local(const struct experiment_limits *l, int r, int64_t m,
			     struct configuration *c)
{
	int64_t s = ceil_div(sizes_least_batch(l), r * m), low, high;

	if (s > INT32_MAX || (s > 1 && !l->batch.accumulates) ||
	    !local_range(l, r, (int)s, &low, &high))
		return false;
	*c = configuration_make(r, m, (int)s);
	return m >= low && m <= high;
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

/* Adds the configurations of s passes on r devices; the rounded one if the batch does not divide
 * among them. */
static void add_locals(struct grid_maker *g, int r, int s)
{
	const struct experiment_limits *l = g->limits;
	int64_t low, high;

	if (!local_range(l, r, s, &low, &high)) {
		struct configuration c = configuration_spread(&l->batch, r);

		if (c.accumulation_steps == s && c.local_batch_size <= g->local_max &&
		    (s == 1 || l->batch.accumulates))
			add_configuration(g, c);
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

/* Above 8 the numbers of devices double; the largest one is always tried. */
struct experiment_grid experiment_grid_make(const struct experiment_limits *l, int64_t local_max,
					    double ratio)
{
	struct grid_maker g = { .limits = l, .local_max = local_max, .ratio = ratio };

	g.grid.items = xcalloc(EXPERIMENT_GRID_MAX, sizeof(*g.grid.items));
	for (int r = l->min_replicas, next; r <= l->max_replicas; r = next) {
		for (int s = 1; s <= (l->batch.accumulates ? MOST_PASSES : 1); s *= 2)
			add_locals(&g, r, s);
		for (next = r < 8 ? r + 1 : 8; next <= r;)
			next *= 2;
		if (r >= 8 && next > l->max_replicas && r < l->max_replicas)
			next = l->max_replicas;
	}
	return g.grid;
}

/* --- what was tried --- */

static const struct observation *find_point(const struct experiment *e,
						 const struct configuration *c)
{
	for (int i = 0; i < e->n_points; i++)
		if (configuration_equal(&e->points[i].configuration, c))
			return &e->points[i];
	return NULL;
}

/* Local batches that bound the largest possible one. */
struct bounds {
	int64_t worked;			/* largest measured below no_memory; 0: none */
	int64_t no_memory;		/* smallest that did not fit; 0: none */
	/* smallest above worked that failed or was too slow; 0: none */
	int64_t stuck;
};

/* The local batch that takes as much memory on the fewest devices as c takes. */
static int64_t batch_on_fewest(const struct experiment *e, const struct configuration *c)
{
	if (!e->limits.shares_memory || c->replicas == 0)
		return c->local_batch_size;
	return ceil_div(c->replicas * c->local_batch_size, e->limits.min_replicas);
}

static struct bounds find_bounds(const struct experiment *e)
{
	struct bounds b = { 0 };

	for (int i = 0; i < e->n_points; i++) {
		int64_t m = batch_on_fewest(e, &e->points[i].configuration);

		if (e->points[i].outcome == OBSERVATION_NO_MEMORY &&
		    (b.no_memory == 0 || m < b.no_memory))
			b.no_memory = m;
	}
	for (int i = 0; i < e->n_points; i++) {
		int64_t m = e->points[i].configuration.local_batch_size;

		if (e->points[i].outcome == OBSERVATION_MEASURED && m > b.worked &&
		    (b.no_memory == 0 || m < b.no_memory))
			b.worked = m;
	}
	for (int i = 0; i < e->n_points; i++) {
		int64_t m = e->points[i].configuration.local_batch_size;

		if ((e->points[i].outcome == OBSERVATION_FAILED ||
		     e->points[i].outcome == OBSERVATION_TOO_SLOW) &&
		    m > b.worked && (b.stuck == 0 || m < b.stuck))
			b.stuck = m;
	}
	return b;
}

/* --- growth --- */

/* The local batch to try: the double of the largest that worked, or half-way, by its logarithm, to
 * one that did not; 0: none. */
static int64_t next_local(const struct experiment_limits *l, const struct bounds *b)
{
	int64_t top = sizes_at_most(sizes_most_batch(l) / l->min_replicas, l->batch.max_local);
	int64_t least = l->batch.accumulates ? 1 : ceil_div(sizes_least_batch(l), l->min_replicas);
	int64_t low = b->worked > 0 ? b->worked : least - 1, m, limit;

	if (b->no_memory == 0)
		return b->worked > 0 && b->worked < top && !b->stuck
			? sizes_at_most(2 * b->worked, top) : 0;
	limit = b->stuck > 0 ? least_of(b->stuck, b->no_memory) : b->no_memory;
	if (b->worked > 0 && (double)limit <= EXPERIMENT_MEMORY_RATIO * (double)b->worked)
		return 0;
	m = most_of(llround(sqrt((double)most_of(low, 1) * (double)limit)), low + 1);
	return m < limit && m <= top ? m : 0;
}

static bool grow_batch(const struct experiment *e, const struct throughput_params *p,
		       struct experiment_choice *choice)
{
	struct bounds b = find_bounds(e);
	int64_t m = next_local(&e->limits, &b);
	struct configuration *c = &choice->configuration;

	/* m may be illegal in any number of passes: then takes the next smaller legal one. */
	for (int i = 0; m > b.worked; i++) {
		if (sizes_with_local(&e->limits, e->limits.min_replicas, m, c) && !find_point(e, c))
			break;
		m = i < DECREMENTS ? m - 1 : 0;
	}
	if (m <= b.worked)
		return false;
	choice->why = b.no_memory ? EXPERIMENT_BISECT : EXPERIMENT_GROW;
	choice->probe = true;
	choice->expected_s = e->launch_s + EXPERIMENT_PROBE_STEPS * throughput_time_of(p, c);
	return choice->expected_s <= e->growth_left_s;
}

/* --- the most informative point --- */

/* The part of the full weight that c still lacks. 0 for a configuration that ever failed, even if
 * it was measured before: it would fail again. */
static double news(const struct experiment *e, const struct configuration *c)
{
	const struct observation *p = find_point(e, c);
	int64_t no_memory = find_bounds(e).no_memory;

	if (e->limits.shares_memory && no_memory > 0 && batch_on_fewest(e, c) >= no_memory)
		return 0;
	if (!p)
		return 1;
	for (int i = 0; i < e->n_points; i++)
		if (e->points[i].outcome != OBSERVATION_MEASURED &&
		    configuration_equal(&e->points[i].configuration, c))
			return 0;
	return p->weight >= 0 ? 1 - p->weight : 0;
}

/* The data by which candidates are compared. syncs: their synchronisation will be known. */
struct question {
	const struct experiment *e;
	const struct throughput_params *p;
	struct information info;
	struct experiment_grid grid;
	bool syncs;
};

/* Information gained per second; 0: c is not to be tried. */
static double gain_of(const struct question *q, const struct configuration *c, double *cost_s)
{
	const struct experiment *e = q->e;
	struct observation point = {
		.configuration = *c, .weight = news(e, c),
		.sync_time_s = q->syncs ? 0 : (double)NAN,
	};
	double step_s = throughput_time_of(q->p, c);
	double most_s = fmax(e->share_s - e->launch_s, EXPERIMENT_PROBE_STEPS * step_s);

	*cost_s = e->launch_s + fmax(fmin(STEPS * step_s, most_s), EXPERIMENT_MEASURE_S);
	if (point.weight < LEAST_NEWS || *cost_s > e->left_s)
		return 0;
	return information_gain(&q->info, q->p, &point, &q->grid) / *cost_s;
}

/* Tries coarse ratios of local batches first. Each further ratio adds points halfway between the
 * known ones. */
static bool inform(const struct experiment *e, const struct throughput_params *p,
		   struct experiment_choice *choice)
{
	static const double ratios[] = { 2, 1.4142135623730951, 1.189207115002721 };
	int64_t local_max = find_bounds(e).worked;
	struct question q = { .e = e, .p = p, .syncs = e->n_points > 0 };
	double best = 0;

	if (local_max == 0)
		return false;
	information_init(&q.info);
	for (int i = 0; i < e->n_points; i++) {
		if (e->points[i].outcome != OBSERVATION_MEASURED)
			continue;
		information_add(&q.info, p, &e->points[i]);
		q.syncs &= isfinite(e->points[i].sync_time_s);
	}
	information_invert(&q.info);
	q.grid = experiment_grid_make(&e->limits, local_max, GRID_RATIO);
	choice->why = EXPERIMENT_INFORM;
	for (size_t k = 0; k < sizeof(ratios) / sizeof(ratios[0]) && !(best > 0); k++) {
		struct experiment_grid tried = experiment_grid_make(&e->limits, local_max,
								    ratios[k]);

		for (int i = 0; i < tried.count; i++) {
			double cost_s, gain = gain_of(&q, &tried.items[i], &cost_s);

			if (!(gain > best))
				continue;
			best = gain;
			choice->configuration = tried.items[i];
			choice->expected_s = cost_s;
		}
		free(tried.items);
	}
	free(q.grid.items);
	return best > 0;
}

bool experiment_next(const struct experiment *e, struct experiment_choice *choice)
{
	const struct experiment_limits *l = &e->limits;
	int64_t no_memory = find_bounds(e).no_memory;
	/* the job's own, on the fewest devices */
	struct configuration first = l->batch.size > 0
		? configuration_spread(&l->batch, l->min_replicas)
		: configuration_make(l->min_replicas, 0, 1);
	struct throughput_params p = experiment_params(&e->fit, &first);
	bool fits = first.local_batch_size == 0 || no_memory == 0 ||
		    batch_on_fewest(e, &first) < no_memory;

	*choice = (struct experiment_choice){ .configuration = first };
	if (!(e->left_s > e->launch_s))
		return false;
	if (find_point(e, &first) && l->batch.size > 0) {
		if (grow_batch(e, &p, choice))
			return true;
		choice->probe = false;
		if (inform(e, &p, choice)) {
			if (e->again && configuration_equal(&choice->configuration, &first))
				choice->why = EXPERIMENT_OWN;
			return true;
		}
	}
	if (find_point(e, &first) && !(e->again && fits))
		return false;
	*choice = (struct experiment_choice){
		.configuration = first, .why = EXPERIMENT_OWN,
		.expected_s = e->launch_s + EXPERIMENT_MEASURE_S,
	};
	return true;
}
