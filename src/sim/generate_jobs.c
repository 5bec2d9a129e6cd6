/* generate_jobs.c - a made-up workload. */
#include <math.h>

#include "generate.h"
#include "pollux/random_numbers.h"

static const struct kind *draw_kind(uint64_t *random)
{
	double left = random_uniform(random);
	int i = 0;

	while (i < n_kinds - 1 && left >= kinds[i].weight)
		left -= kinds[i++].weight;
	return &kinds[i];
}

static int draw_doublings(uint64_t *random)
{
	static const double below[] = { 0.4, 0.7, 0.9 };
	double x = random_uniform(random);
	int i = 0;

	while (i < 3 && x >= below[i])
		i++;
	return i;
}

void generate_jobs(const struct sim_generation *g, uint64_t *random, struct text *t)
{
	double at_s = 0;

	text_add(t, "name,time,application,num_replicas,batch_size\n");
	for (int i = 0; i < g->n_jobs; i++) {
		const struct kind *k = draw_kind(random);
		int doublings = draw_doublings(random);
		int scale = doublings < k->doublings ? doublings : k->doublings;

		at_s += random_exponential(random, g->seconds / g->n_jobs);
		text_addf(t, "%s-%d,%.0f,%s,%d,%lld\n", k->name, i, floor(at_s), k->name,
			  1 << doublings, (long long)k->initial_batch_size << scale);
	}
}
