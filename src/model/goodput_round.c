/* goodput_round.c - the best configuration, of round numbers.
 *
 * The parameters' goodput rises and falls once along the local batch size; with residuals on top it may do so
 * many times, and all round numbers are looked at. */
#include <math.h>

#include "goodput_limits.h"

/* A round number of samples may cost so much of the goodput, and another one must gain as much: one in a
 * hundred. */
#define ROUNDED 0.99
/* Of passes every one up to so many, then in steps of an eighth. */
#define PASSES_STEP 8

static void round_down(const struct goodput_model *g, struct throughput_place place,
		       struct goodput_choice *best)
{
	struct configuration c = best->configuration;
	int64_t unit = 1;
	struct goodput_choice rounded;

	while (c.local_batch_size >= 8 * unit)
		unit *= 2;
	c.local_batch_size -= c.local_batch_size % unit;
	rounded = goodput_choice_at(g, place, c.local_batch_size, c.accumulation_steps);
	if (configuration_batch_size(&best->configuration) > g->initial_batch_size &&
	    configuration_batch_size(&c) >= g->initial_batch_size &&
	    c.local_batch_size >= g->min_local_batch_size &&
	    rounded.goodput >= ROUNDED * best->goodput)
		*best = rounded;
}

/* The best that was looked at. */
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
	double phi = isnan(g->noise_scale) ? 0 : g->noise_scale;
	int64_t s = (l->share_min + m - 1) / m;

	if (s == 1 && goodput_needs_passes(g, place, m))
		s = 2;
	for (; s <= l->s_max && s * m <= l->share_max; s += s < PASSES_STEP ? 1 : s / PASSES_STEP) {
		double batch = (double)(place.replicas * m * s);
		double goodput = batch / ((double)(s - 1) * grad_s + update_s) *
				 goodput_efficiency(phi, (double)g->initial_batch_size, batch);

		if (goodput > best->goodput)
			*best = (struct found){ goodput, m, s };
	}
}

/* The round number after m. */
static int64_t next_round(int64_t m)
{
	int64_t unit = 1;

	while (m >= 8 * unit)
		unit *= 2;
	return m - m % unit + unit;
}

static void look_around(const struct goodput_model *g, struct throughput_place place,
			struct goodput_choice *best)
{
	struct found other = { .goodput = best->goodput / ROUNDED };
	struct goodput_limits l;

	if (!goodput_limits_of(g, place, &l))
		return;
	if (isnan(g->noise_scale))	/* no more samples than there must be */
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
