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

static void round_down(const struct goodput_model *g, int nodes, struct goodput_choice *best)
{
	struct configuration c = best->configuration;
	int64_t unit = 1;
	struct goodput_choice rounded;

	while (c.local_batch_size >= 8 * unit)
		unit *= 2;
	c.local_batch_size -= c.local_batch_size % unit;
	c.batch_size = c.replicas * c.local_batch_size * c.accumulation_steps;
	rounded = goodput_choice_of(g, nodes, c);
	if (best->configuration.batch_size > g->initial_batch_size &&
	    c.batch_size >= g->initial_batch_size &&
	    c.local_batch_size >= g->min_local_batch_size &&
	    rounded.goodput >= ROUNDED * best->goodput)
		*best = rounded;
}

static void consider(const struct goodput_model *g, struct throughput_place place, int64_t m, int64_t s,
		     struct goodput_choice *best)
{
	struct goodput_choice choice = goodput_choice_of(g, place.nodes, (struct configuration){
		.replicas = place.replicas, .local_batch_size = m, .accumulation_steps = (int)s,
		.batch_size = place.replicas * m * s,
	});

	if (choice.goodput > best->goodput)
		*best = choice;
}

static void consider_passes(const struct goodput_model *g, struct throughput_place place,
			    const struct goodput_limits *l, int64_t m, struct goodput_choice *best)
{
	int64_t s = (l->share_min + m - 1) / m;

	if (s == 1 && goodput_needs_passes(g, place, m))
		s = 2;
	for (; s <= l->s_max && s * m <= l->share_max; s += s < PASSES_STEP ? 1 : s / PASSES_STEP)
		consider(g, place, m, s, best);
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
	struct goodput_choice other = { .goodput = best->goodput / ROUNDED };
	struct goodput_limits l;

	if (!goodput_limits_of(g, place, &l))
		return;
	if (isnan(g->noise_scale))	/* no more samples than there must be */
		l.share_max = l.share_min;
	for (int64_t m = next_round(l.local_min - 1); m <= l.local_max; m = next_round(m))
		consider_passes(g, place, &l, m, &other);
	if (other.configuration.replicas)
		*best = other;
}

bool goodput_best_round(const struct goodput_model *model, struct throughput_place place,
			struct goodput_choice *choice)
{
	if (!goodput_best(model, place, choice))
		return false;
	round_down(model, place.nodes, choice);
	if (model->residuals)
		look_around(model, place, choice);
	return true;
}
