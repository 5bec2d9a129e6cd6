/* goodput_round.c - the best configuration, of round numbers. */
#include "pollux/goodput.h"

/* A round number of samples may cost so much of the goodput: one in a hundred. */
#define ROUNDED 0.99

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

bool goodput_best_round(const struct goodput_model *model, struct throughput_place place,
			struct goodput_choice *choice)
{
	if (!goodput_best(model, place, choice))
		return false;
	round_down(model, place.nodes, choice);
	return true;
}
