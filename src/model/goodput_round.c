/* goodput_round.c - finds the best configuration with round numbers.
 *
 * The goodput by the parameters rises and falls once along the local batch size. With residuals it
 * may do so many times, so all round numbers are examined. */
#include <math.h>

#include "goodput_limits.h"
#include "whole.h"

/* The part of the goodput that a round number must keep. Another round number must gain as much. */
#define ROUNDED 0.99
/* The search tries every number of passes up to this one; beyond it, numbers that grow by one
 * eighth. */
#define PASSES_STEP 8

/* The distance of the numbers of three binary digits around m. */
static int64_t round_unit(int64_t m)
{
	int64_t unit = 1;

	while (m >= 8 * unit)
		unit *= 2;
	return unit;
}

static void round_down(const struct goodput_model *g, struct throughput_place place,
		       struct goodput_choice *best)
{
	struct configuration c = best->configuration;
	struct goodput_choice rounded;

	c.local_batch_size -= c.local_batch_size % round_unit(c.local_batch_size);
	rounded = goodput_choice_at(g, place, c.local_batch_size, c.accumulation_steps);
	if (configuration_batch_size(&best->configuration) > g->batch.size &&
	    configuration_batch_size(&c) >= g->batch.size &&
	    c.local_batch_size >= g->batch.min_local &&
	    rounded.goodput >= ROUNDED * best->goodput)
		*best = rounded;
}

/* The best configuration found. */
struct found {
	double goodput;
	int64_t m, s;
};

static void look_at_passes(const struct goodput_model *g, struct throughput_place place,
			   const struct goodput_limits *l, int64_t m, struct found *best)
{
	double factor = residuals_factor(g->residuals, place, (double)m);
	double grad_s = factor * throughput_grad_time(&g->params, (double)m);
	double update_s = factor * throughput_update_time(&g->params, place, (double)m);
	double phi = goodput_known_noise(g);
	int64_t s = ceil_div(l->share_min, m);

	if (s == 1 && goodput_needs_passes(g, place, m))
		s = 2;
	for (; s <= l->s_max && s * m <= l->share_max; s += s < PASSES_STEP ? 1 : s / PASSES_STEP) {
		double batch = (double)(place.replicas * m * s);
		double goodput = batch / ((double)(s - 1) * grad_s + update_s) *
				 goodput_efficiency(phi, (double)g->batch.size, batch);

		if (goodput > best->goodput)
			*best = (struct found){ goodput, m, s };
	}
}

/* The round number after m. */
static int64_t next_round(int64_t m)
{
	int64_t unit = round_unit(m);

	return m - m % unit + unit;
}

static void look_around(const struct goodput_model *g, struct throughput_place place,
			struct goodput_choice *best)
{
	struct found other = { .goodput = best->goodput / ROUNDED };
	struct goodput_limits l;

	if (!goodput_limits_of(g, place, &l))
		return;
	if (isnan(g->noise_scale))	/* the fewest samples */
		l.share_max = l.share_min;
	for (int64_t m = next_round(l.local_min - 1); m <= l.local_max; m = next_round(m))
		look_at_passes(g, place, &l, m, &other);
	if (other.m)
		*best = goodput_choice_at(g, place, other.m, other.s);
}

bool goodput_best_round(const struct goodput_model *model, struct throughput_place place,
			struct goodput_choice *choice)
{
	if (!goodput_best(model, place, choice))
		return false;
	round_down(model, place, choice);
	if (model->residuals)
		look_around(model, place, choice);
	return true;
}
