/* test_experiment.c - when a step time is steady, and which sizes are tried next. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/experiment_information.h"
#include "pollux/experiment.h"
#include "pollux/step_stats.h"
#include "tap.h"

#define MAX_POINTS 64

/* --- steady --- */

static struct observation observed(int64_t n_windows, int64_t n_steps, double sd)
{
	struct observation o;

	observation_init(&o);
	o.n_windows = n_windows;
	o.n_steps = n_steps;
	o.step_time_s = 0.5;
	o.step_time_sd_s = 0.5 * sd;
	return o;
}

static void test_steady(void)
{
	/* Windows, relative deviation, Student's quantile for windows / 2 - 1, and the half-width
	 * with it. */
	static const struct { int64_t n; double sd, quantile;
	} table[] = {
		{ 6, 0.02, 4.3027 },  { 8, 0.02, 3.1824 },   { 12, 0.02, 2.5706 },
		{ 30, 0.05, 2.1448 }, { 200, 0.10, 1.9842 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct observation o = observed(table[i].n, 1000, table[i].sd);
		double want = table[i].quantile * table[i].sd / sqrt((double)table[i].n / 2);

		near(steady_half_width(&o), want, 0.01, "the half-width is by Student's quantile");
	}
	ok(isnan(steady_half_width(&(struct observation){ .n_windows = 5, .step_time_s = 1,
							    .step_time_sd_s = 0.001 })),
	   "five windows tell no half-width");
	struct observation o = observed(12, 20, 0.01);
	ok(steady_reached(&o), "12 windows of 1 % deviation are steady");
	o.n_steps = 19;
	ok(!steady_reached(&o), "12 windows with 19 steps are not steady");
	o = observed(12, 1000, 0.02);
	ok(!steady_reached(&o), "12 windows of 2 % deviation are not steady");
	observation_init(&o);
	ok(!steady_reached(&o), "no windows are not steady");
}

/* --- a program of known speed and memory --- */

struct world {
	struct experiment e;
	struct observation points[MAX_POINTS];
	struct throughput_params truth;
	int64_t memory;			/* largest local batch that fits; 0: all */
	int64_t broken;			/* from here on it fails for another reason; 0: never */
};

static void world_init(struct world *w, struct experiment_limits limits)
{
	memset(w, 0, sizeof(*w));
	w->truth = (struct throughput_params){
		0.001, 1e-5, 0.0004, 0.0001, 0.01, 0.01, 1, { 0 } };
	w->e = (struct experiment){
		.limits = limits, .points = w->points, .launch_s = 0.5, .share_s = 5,
		.left_s = 1000,
		.growth_left_s = 1000,
	};
}

static void refit(struct world *w)
{
	struct observation seen[MAX_POINTS];
	int n = 0;

	for (int i = 0; i < w->e.n_points; i++) {
		const struct configuration *c = &w->points[i].configuration;

		if (w->points[i].outcome != OBSERVATION_MEASURED)
			continue;
		seen[n++] = (struct observation){
			.configuration = *c, .weight = 1, .sync_time_s = (double)NAN,
			.step_time_s = throughput_time_of(&w->truth, c),
		};
	}
	w->e.fit = fit_throughput(seen, n, &FIT_OPTIONS_DEFAULT);
}

static void add(struct world *w, struct configuration c)
{
	int64_t m = c.local_batch_size;

	w->points[w->e.n_points++] = (struct observation){
		.configuration = c, .weight = 1, .sync_time_s = (double)NAN,
		.outcome = w->memory && m > w->memory ? OBSERVATION_NO_MEMORY
			 : w->broken && m >= w->broken ? OBSERVATION_FAILED : OBSERVATION_MEASURED,
	};
	refit(w);
}

static bool next(struct world *w, struct experiment_choice *choice)
{
	if (w->e.n_points == 0)
		refit(w);
	return w->e.n_points < MAX_POINTS && experiment_next(&w->e, choice);
}

/* The local batches that are tried, of the first n or as long as why holds. */
static void is_tried(struct world *w, const int64_t *want, int n, const char *what)
{
	struct experiment_choice c;
	int right = 0;

	for (int i = 0; i < n && next(w, &c); i++) {
		if (c.configuration.local_batch_size == want[i])
			right++;
		else
			printf("# point %d: %lld, want %lld\n", i,
			       (long long)c.configuration.local_batch_size, (long long)want[i]);
		add(w, c.configuration);
	}
	is_int(right, n, what);
}

static const struct experiment_limits one_device = {
	.min_replicas = 1, .max_replicas = 1, .batch.size = 16, .batch.min = 16,
	.batch.max = 4096,
};

static void test_growth(void)
{
	struct world w;
	struct experiment_choice c;

	world_init(&w, one_device);
	w.memory = 300;
	/* sqrt(256 * 512) = 362.04, sqrt(256 * 362) = 304.4, sqrt(256 * 304) = 278.97; 304 / 279 <
	 * 1.12 */
	is_tried(&w, (int64_t[]){ 16, 32, 64, 128, 256, 512, 362, 304, 279 }, 9,
		 "sizes double until memory says no, then take geometric means");
	ok(next(&w, &c) && c.why == EXPERIMENT_INFORM && !c.probe,
	   "sizes within 12 % of the limit are enough");

	world_init(&w, one_device);
	w.e.limits.batch.max = 100;
	is_tried(&w, (int64_t[]){ 16, 32, 64, 100 }, 4, "sizes double to the end of the range");
	ok(next(&w, &c) && c.why == EXPERIMENT_INFORM, "no size beyond the range is tried");

	world_init(&w, one_device);
	w.e.limits.batch.max_local = 40;
	is_tried(&w, (int64_t[]){ 16, 32, 40 }, 3, "sizes double to the owner's limit");

	world_init(&w, one_device);
	w.broken = 60;
	is_tried(&w, (int64_t[]){ 16, 32, 64 }, 3,
		 "a size that fails for another reason ends the growth");
	ok(next(&w, &c) && c.why == EXPERIMENT_INFORM && c.configuration.local_batch_size <= 32,
	   "no size above what worked is tried after such a failure");

	world_init(&w, one_device);
	w.memory = 300;
	w.broken = 260;
	is_tried(&w, (int64_t[]){ 16, 32, 64, 128, 256, 512, 362, 304, 279 }, 9,
		 "a failure between memory and what worked bounds the sizes");
	ok(next(&w, &c) && c.why == EXPERIMENT_INFORM,
	   "a failed size is not stepped down from one by one");

	world_init(&w, one_device);
	w.e.growth_left_s = 0.6;	/* a launch and 100 ms */
	is_tried(&w, (int64_t[]){ 16, 32, 64, 128, 256, 512, 1024 }, 7,
		 "sizes double as long as there is time");
	ok(next(&w, &c) && c.why == EXPERIMENT_INFORM,
	   "no size is tried whose 5 steps take more than is left");

	world_init(&w, one_device);
	w.e.limits.batch.size = w.e.limits.batch.min = 1024;
	w.memory = 200;
	is_tried(&w, (int64_t[]){ 1024 }, 1, "own sizes that are too large are tried first");
	ok(!next(&w, &c), "no smaller size is tried if none is allowed");
	world_init(&w, one_device);
	w.e.limits.batch.size = w.e.limits.batch.min = 1024;
	w.e.limits.batch.accumulates = true;
	w.memory = 200;
	/* sqrt(1 * 1024) = 32, in 32 passes; then up: sqrt(32 * 1024) = 181, in 6 passes of 1086 */
	is_tried(&w, (int64_t[]){ 1024, 32, 181 }, 3,
		 "own sizes that are too large are tried in more passes");
	ok(w.points[1].configuration.accumulation_steps == 32 &&
	   w.points[2].configuration.accumulation_steps == 6,
	   "as few passes as reach the batch are tried");
}

static void test_shared_memory(void)
{
	struct experiment_limits slots = one_device;
	struct experiment_choice c;
	struct world w;
	int above = 0;

	slots.max_replicas = 4;
	slots.shares_memory = true;
	slots.batch.max = 256;
	world_init(&w, slots);
	is_tried(&w, (int64_t[]){ 16, 32, 64, 128, 256 }, 5, "all sizes fit on one slot");
	w.points[w.e.n_points++] = (struct observation){
		.configuration = { .replicas = 4, .local_batch_size = 33, .accumulation_steps = 1 },
		.outcome = OBSERVATION_NO_MEMORY,
	};
	w.points[4].outcome = OBSERVATION_NO_MEMORY;
	refit(&w);
	ok(next(&w, &c), "four slots that ran out together leave one its own size");
	for (int n = 0; n < 40 && next(&w, &c); n++) {
		above += c.configuration.replicas * c.configuration.local_batch_size >= 132;
		add(&w, c.configuration);
	}
	is_int(above, 0, "no size is tried that takes as much memory together");
	is_int(w.points[3].outcome, OBSERVATION_MEASURED,
	       "a size that worked on one slot still counts as measured");
}

static void test_ends(void)
{
	struct world w;
	struct experiment_choice c;

	world_init(&w, (struct experiment_limits){ .min_replicas = 2, .max_replicas = 4 });
	ok(next(&w, &c) && c.configuration.replicas == 2 &&
		   configuration_batch_size(&c.configuration) == 0,
	   "a job without a batch size is tried on the fewest devices");
	add(&w, c.configuration);
	ok(!next(&w, &c), "a job without a batch size is tried once");
	world_init(&w, (struct experiment_limits){ .min_replicas = 1, .max_replicas = 1,
						   .batch.size = 64 });
	is_tried(&w, (int64_t[]){ 64 }, 1, "a job of one size is tried with that size");
	ok(!next(&w, &c), "a job of one size is tried once");
	w.points[0].weight = 0.1;
	ok(next(&w, &c) && c.configuration.local_batch_size == 64,
	   "a size that is not known well is tried again");
	w.points[w.e.n_points++] = (struct observation){
		.configuration = c.configuration, .outcome = OBSERVATION_FAILED,
	};
	ok(!next(&w, &c), "a size that has failed is not tried again");
	world_init(&w, one_device);
	w.e.left_s = 0.4;
	ok(!next(&w, &c), "no point is tried without time for a launch");
}

/* What is known so well already is not tried, but once, by one who has tried nothing else. */
static void test_again(void)
{
	struct experiment_limits no_batch = { .min_replicas = 1, .max_replicas = 1 };
	struct experiment_limits one_batch = { .min_replicas = 1, .max_replicas = 1,
					       .batch.size = 64 };
	struct experiment_limits both[] = { no_batch, one_batch };
	struct experiment_choice c;

	for (int i = 0; i < 2; i++) {
		struct observation known = {
			.configuration = configuration_make(1, both[i].batch.size, 1), .weight = 1,
			.sync_time_s = (double)NAN,
		};
		struct experiment e = {
			.limits = both[i], .points = &known, .n_points = 1, .launch_s = 1,
			.left_s = 60,
			.growth_left_s = 30, .share_s = 5,
		};

		ok(!experiment_next(&e, &c), "no point is left where the own sizes are known well");
		e.again = true;
		ok(experiment_next(&e, &c) && c.why == EXPERIMENT_OWN && !c.probe &&
			   c.configuration.local_batch_size == both[i].batch.size,
		   "the own sizes are tried again by one who tried nothing else");
		ok(c.expected_s > 1, "a point that is tried again has an expected time");
		known.weight = 0.5;
		ok(experiment_next(&e, &c) && c.why == EXPERIMENT_OWN,
		   "the own sizes are tried again where they were measured badly");
		e.again = false;
		ok(experiment_next(&e, &c) == (i == 1) && (i == 0 || c.why == EXPERIMENT_INFORM),
		   "a badly measured size is tried again for what it tells");
		e.again = true;
		known.outcome = OBSERVATION_NO_MEMORY;
		ok(experiment_next(&e, &c) == (i == 0),
		   "the own sizes are not tried again where they do not fit");
	}
}

/* --- what tells most --- */

/* On one device the model is alpha + beta m: its information matrix has two rows, whose inverse can
 * be written down. The mean over the grid of the variance of ln T, after measuring m[0..n). */
static double mean_variance(const struct throughput_params *p, const int64_t *m, int n,
			    const struct experiment_grid *grid)
{
	double a = 1, b = 0, d = 1, sum = 0;	/* (a b; b d), the prior to begin with */

	for (int i = 0; i < n; i++) {
		double share = p->alpha_grad / (p->alpha_grad + p->beta_grad * (double)m[i]);

		a += share * share / 0.0025;
		b += share * (1 - share) / 0.0025;
		d += (1 - share) * (1 - share) / 0.0025;
	}
	for (int i = 0; i < grid->count; i++) {
		double share = p->alpha_grad /
			       (p->alpha_grad +
				p->beta_grad * (double)grid->items[i].local_batch_size);

		sum += (share * share * d - 2 * share * (1 - share) * b +
			(1 - share) * (1 - share) * a) /
		       (a * d - b * b);
	}
	return sum / grid->count;
}

static void test_choice(void)
{
	int64_t seen[MAX_POINTS] = { 100, 1600 };
	struct experiment_choice c = { .expected_s = 0 };
	struct experiment_grid grid, candidates;
	struct world w;

	world_init(&w, (struct experiment_limits){ .min_replicas = 1, .max_replicas = 1,
						   .batch.size = 100,
						     .batch.min = 100,
						.batch.max = 1600 });
	add(&w, configuration_make(1, 100, 1));
	add(&w, configuration_make(1, 1600, 1));
	grid = experiment_grid_make(&w.e.limits, 1600, sqrt(2));
	candidates = experiment_grid_make(&w.e.limits, 1600, 2);
	is_int(candidates.count, 5, "the candidates are 100, 200, 400, 800 and 1600");
	is_int(grid.count, 9, "the grid has the candidates and those between");
	for (int n = 2; n < 5; n++) {
		double best = (double)INFINITY, variance;
		int64_t want = 0;

		for (int i = 0; i < candidates.count; i++) {
			bool old = false;

			for (int k = 0; k < n; k++)
				old |= seen[k] == candidates.items[i].local_batch_size;
			if (old)
				continue;
			seen[n] = candidates.items[i].local_batch_size;
			variance = mean_variance(&w.e.fit.params, seen, n + 1, &grid);
			if (variance < best) {
				best = variance;
				want = seen[n];
			}
		}
		ok(next(&w, &c), "a next point is found while candidates are left");
		is_int(c.configuration.local_batch_size, want,
		       "the next point leaves the least variance of all");

		seen[n] = want;
		add(&w, c.configuration);
	}
	free(grid.items);
	free(candidates.items);
	ok(next(&w, &c) && c.configuration.local_batch_size % 100 != 0,
	   "the points between the candidates come after them");
}

/* The mean over the grid of the variance of ln T, by an inverted information matrix. */
static double variance_by(const struct information *info, const struct throughput_params *p,
			  const struct experiment_grid *grid)
{
	double values[N_THROUGHPUT_PARAMS], sum = 0;

	memcpy(values, p, sizeof(values));
	for (int i = 0; i < grid->count; i++) {
		const struct configuration *c = &grid->items[i];
		struct throughput_slope slope;
		double time = throughput_step_slope(p, configuration_place(c),
						    (double)c->local_batch_size,
						    c->accumulation_steps, &slope);

		for (int a = 0; a < N_THROUGHPUT_PARAMS; a++)
			for (int b = 0; b < N_THROUGHPUT_PARAMS; b++)
				sum += info->a[a][b] * slope.by_param[a] * values[a] / time *
				       slope.by_param[b] * values[b] / time;
	}
	return sum / grid->count;
}

/* What a point is said to gain is what is gained when it has been added. */
static void test_gain(void)
{
	struct experiment_limits limits = { .min_replicas = 1, .max_replicas = 4, .batch.size = 100,
					    .batch.min = 100, .batch.max = 1600 };
	struct throughput_params p = {
		0.001, 1e-5, 0.0004, 0.0001, 0.01, 0.01, 2, { 0 } };
	struct experiment_grid grid = experiment_grid_make(&limits, 1600, 2);
	struct observation first = { .configuration = configuration_make(1, 100, 1),
					  .weight = 1, .sync_time_s = 0 };

	for (int i = 0; i < grid.count; i += 3) {
		struct observation point = { .configuration = grid.items[i], .weight = 0.7,
						  .sync_time_s = i % 2 ? 0 : (double)NAN };
		struct information before, after;
		double gain;

		information_init(&before);
		information_add(&before, &p, &first);
		after = before;
		information_add(&after, &p, &point);
		information_invert(&before);
		information_invert(&after);
		gain = information_gain(&before, &p, &point, &grid);
		near(gain, variance_by(&before, &p, &grid) - variance_by(&after, &p, &grid), 1e-9,
		     "the gain of a point is the difference of variances");
	}
	free(grid.items);
}

static void test_extremes(void)
{
	struct experiment_choice c;
	struct world w;

	/* One point leaves alpha against beta open: the far end tells most. */
	world_init(&w, (struct experiment_limits){ .min_replicas = 1, .max_replicas = 1,
						   .batch.size = 1024,
						     .batch.min = 16,
						.batch.max = 1024 });
	add(&w, configuration_make(1, 1024, 1));
	ok(next(&w, &c) && c.configuration.local_batch_size == 16,
	   "the smallest size comes after the largest");
	/* Two on one device leave synchronisation open. */
	world_init(&w, (struct experiment_limits){ .min_replicas = 1, .max_replicas = 2,
						   .batch.size = 1024,
						     .batch.min = 16,
						.batch.max = 1024 });
	add(&w, configuration_make(1, 1024, 1));
	add(&w, configuration_make(1, 16, 1));
	ok(next(&w, &c) && c.configuration.replicas == 2,
	   "two devices are tried while their cost is unknown");
	/* Of equal worth the one that takes less time. */
	world_init(&w, (struct experiment_limits){ .min_replicas = 1, .max_replicas = 4,
						   .batch.size = 256,
						     .batch.min = 256,
						.batch.max = 1024 });
	w.truth.alpha_grad = w.truth.beta_grad * 256;
	add(&w, configuration_make(1, 256, 1));
	add(&w, configuration_make(1, 1024, 1));
	ok(next(&w, &c) && c.configuration.replicas > 1 && c.expected_s > 2.9,
	   "a point on several devices costs a launch and 2.5 s");
	w.e.left_s = 2.5;
	ok(!next(&w, &c), "no point is tried that takes more time than is left");
}

/* --- any limits --- */

static int64_t below(unsigned *seed, int64_t n)
{
	*seed = *seed * 1664525U + 1013904223U;
	return (int64_t)(*seed >> 8) % n;
}

static bool is_legal(const struct world *w, const struct experiment_choice *choice)
{
	const struct experiment_limits *l = &w->e.limits;
	const struct configuration *c = &choice->configuration;
	int64_t worked = 0;

	for (int i = 0; i < w->e.n_points; i++)
		if (w->points[i].outcome == OBSERVATION_MEASURED &&
		    w->points[i].configuration.local_batch_size > worked)
			worked = w->points[i].configuration.local_batch_size;
	if (configuration_batch_size(c) !=
		    c->replicas * c->local_batch_size * c->accumulation_steps ||
	    c->local_batch_size < 1 || c->accumulation_steps < 1 || c->replicas < l->min_replicas ||
	    c->replicas > l->max_replicas)
		return false;
	if (choice->why == EXPERIMENT_OWN)
		return true;
	return configuration_batch_size(c) >= l->batch.min &&
	       configuration_batch_size(c) <= l->batch.max &&
	       (!l->batch.max_local || c->local_batch_size <= l->batch.max_local) &&
	       (l->batch.accumulates || c->accumulation_steps == 1) &&
	       (choice->why != EXPERIMENT_INFORM || c->local_batch_size <= worked) &&
	       (choice->why != EXPERIMENT_GROW || c->local_batch_size <= 2 * worked);
}

static bool is_same(const struct configuration *a, const struct configuration *b)
{
	return a->replicas == b->replicas && a->local_batch_size == b->local_batch_size &&
	       a->accumulation_steps == b->accumulation_steps;
}

static void test_any_limits(void)
{
	unsigned seed = 1;
	int wrong = 0, twice = 0, n = 0;

	for (int k = 0; k < RANDOM_CASES(300); k++) {
		struct experiment_choice c;
		struct world w;
		struct experiment_limits l = {
			.min_replicas = 1 + (int)below(&seed, 3),
			.batch.size = 1 + below(&seed, 2000),
			.batch.accumulates = below(&seed, 2),
		};

		l.max_replicas = l.min_replicas + (int)below(&seed, 12);
		l.batch.min = 1 + below(&seed, l.batch.size);
		l.batch.max = l.batch.size + below(&seed, 5000);
		l.batch.max_local = below(&seed, 2) * (1 + below(&seed, 3000));
		world_init(&w, l);
		w.memory = below(&seed, 2) * (1 + below(&seed, 3000));
		while (w.e.n_points < 20 && next(&w, &c)) {
			/* What a local limit rounds out of the range is not of interest here. */
			if (!is_legal(&w, &c)) {
				printf("# %d x %lld x %d (%s) of %lld:%lld on %d to %d, local "
				       "%lld, passes %d\n",
				       c.configuration.replicas,
				       (long long)c.configuration.local_batch_size,
				       c.configuration.accumulation_steps,
				       experiment_why_name(c.why), (long long)l.batch.min,
				       (long long)l.batch.max, l.min_replicas, l.max_replicas,
				       (long long)l.batch.max_local, l.batch.accumulates);
				wrong++;
			}
			for (int i = 0; i < w.e.n_points; i++)
				twice += is_same(&w.points[i].configuration, &c.configuration);
			add(&w, c.configuration);
			n++;
		}
	}
	ok(n > RANDOM_CASES(4000), "many random limits choose many points");
	is_int(wrong, 0, "no point is outside of the limits or above what worked");
	is_int(twice, 0, "no point is tried twice");
}

int main(void)
{
	test_steady();
	test_growth();
	test_shared_memory();
	test_ends();
	test_again();
	test_choice();
	test_gain();
	test_extremes();
	test_any_limits();
	return done();
}
