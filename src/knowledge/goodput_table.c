/* goodput_table.c - asks a job's model for every number of devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/knowledge.h"
#include "pollux/mem.h"

static struct goodput_table *table_new(int n_devices)
{
	struct goodput_table *t = xcalloc(1, sizeof(*t));

	t->goodput = xcalloc((size_t)n_devices + 1, sizeof(*t->goodput));
	t->best = xcalloc((size_t)n_devices + 1, sizeof(*t->best));
	return t;
}

struct goodput_table *goodput_table_of(const struct job_model *m, int n_devices)
{
	struct goodput_table *t = table_new(n_devices);

	for (int r = 1; r <= n_devices; r++) {
		bool can = job_model_best(m, r, &t->best[r]);

		t->goodput[r] = can ? t->best[r].goodput : (double)NAN;
	}
	return t;
}

struct goodput_table *goodput_table_on(const struct job_model *m, int n_devices,
				       const struct node_sizes *nodes)
{
	struct goodput_table *t = table_new(n_devices);

	for (int r = 1; r <= n_devices; r++) {
		struct throughput_place place =
			throughput_place_on(node_sizes_place(nodes, r), r);
		bool can = place.nodes && job_model_best_at(m, place, &t->best[r]);

		t->goodput[r] = can ? t->best[r].goodput : (double)NAN;
	}
	return t;
}

/* Another plan for one more device has to be better by so much. */
#define WORTH_ANOTHER_PLAN 1.01

struct goodput_table *goodput_table_best_of(const struct goodput_table *const *tables, int n,
					    int n_devices)
{
	struct goodput_table *t = table_new(n_devices);
	int last = -1;		/* the best one at fewer devices */

	for (int r = 1; r <= n_devices; r++) {
		int best = last >= 0 && tables[last]->goodput[r] > 0 ? last : -1;

		for (int i = 0; i < n; i++) {
			double least = 0;

			if (best >= 0)
				least = tables[best]->goodput[r] *
					(best == last ? WORTH_ANOTHER_PLAN : 1);
			if (tables[i]->goodput[r] > least)
				best = i;
		}
		t->goodput[r] = best >= 0 ? tables[best]->goodput[r] : (double)NAN;
		if (best < 0)
			continue;
		t->best[r] = tables[best]->best[r];
		last = best;
	}
	return t;
}

static double goodput_assumed(int replicas)
{
	return sqrt(replicas);
}

struct goodput_table *goodput_table_assumed(int n_devices)
{
	struct goodput_table *t = table_new(n_devices);

	t->assumed = true;
	for (int r = 1; r <= n_devices; r++)
		t->goodput[r] = goodput_assumed(r);
	return t;
}

double goodput_table_remaining(const struct goodput_table *t, const struct job_model *m,
			       int n_devices)
{
	if (t->assumed)
		return m->remaining_s * goodput_assumed(m->timed_replicas);
	if (!(m->remaining_samples >= 0) || !m->known)
		return (double)NAN;
	for (int r = m->min_replicas; r <= m->max_replicas && r <= n_devices; r++)
		if (t->best[r].goodput > 0)
			return m->remaining_samples * t->best[r].efficiency;
	return (double)NAN;
}

void goodput_table_free(struct goodput_table *t)
{
	if (!t)
		return;
	free(t->goodput);
	free(t->best);
	free(t);
}

/* True for equal numbers; two unknown numbers, NaN, are equal. */
static bool same_number(double a, double b)
{
	return isnan(a) ? isnan(b) : a <= b && a >= b;
}

static bool same_range(const struct batch_range *a, const struct batch_range *b)
{
	return a->size == b->size && a->min == b->min && a->max == b->max &&
	       a->min_local == b->min_local && a->max_local == b->max_local &&
	       a->accumulates == b->accumulates;
}

bool job_model_equal(const struct job_model *a, const struct job_model *b)
{
	const struct goodput_model *x = &a->goodput, *y = &b->goodput;
	double p[N_THROUGHPUT_PARAMS], q[N_THROUGHPUT_PARAMS];

	memcpy(p, &x->params, sizeof(p));
	memcpy(q, &y->params, sizeof(q));
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		if (!same_number(p[i], q[i]))
			return false;
	for (int t = 0; t < CONFIGURATION_TIERS; t++)
		if (!same_number(x->params.ln_tier[t], y->params.ln_tier[t]))
			return false;
	return a->known == b->known && a->best_tier == b->best_tier &&
	       a->max_replicas == b->max_replicas && a->max_nodes == b->max_nodes &&
	       a->min_replicas == b->min_replicas && a->width == b->width &&
	       same_range(&a->own, &b->own) && a->peaks == b->peaks &&
	       a->memory.ran_out == b->memory.ran_out && a->failed.failed == b->failed.failed &&
	       x->residuals == y->residuals && same_number(x->noise_scale, y->noise_scale) &&
	       same_range(&x->batch, &y->batch) && x->growth_bound == y->growth_bound &&
	       x->noise_is_measured == y->noise_is_measured;
}
