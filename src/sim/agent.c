/* agent.c - observe, fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measured.h"
#include "pollux/mem.h"

void agent_init(struct agent *a, const struct application *application)
{
	*a = (struct agent){ .application = application };
	a->gradients = xcalloc((size_t)application->n_epochs, sizeof(*a->gradients));
	for (int e = 0; e < application->n_epochs; e++)
		a->gradients[e].var = (double)NAN;
}

void agent_release(struct agent *a)
{
	free(a->seen);
	free(a->gradients);
	residuals_release(&a->residuals);
	*a = (struct agent){ 0 };
}

static void add_seen(struct agent *a, struct throughput_place place, int64_t local_batch_size,
		     struct times times)
{
	a->seen = xgrow(a->seen, a->n, sizeof(*a->seen));
	a->seen[a->n++] = (struct fit_observation){
		.configuration = configuration_at(place, local_batch_size, 1), .weight = 1,
		.step_time_s = times.step_s, .sync_time_s = times.sync_s,
	};
	if (place.replicas > a->max_replicas)
		a->max_replicas = place.replicas;
	a->stale = true;
}

void agent_observe(struct agent *a, struct throughput_place place, int64_t local_batch_size,
		   struct times times)
{
	for (int i = a->n - 1; i >= 0; i--)
		if (a->seen[i].configuration.nodes == place.nodes &&
		    a->seen[i].configuration.replicas == place.replicas &&
		    a->seen[i].configuration.local_batch_size == local_batch_size)
			return;
	add_seen(a, place, local_batch_size, times);
}

static void set_params(struct agent *a, struct throughput_params params)
{
	a->params = params;
	a->stale = false;
	a->version++;
	if (!a->n_places)
		return;
	residuals_release(&a->residuals);
	a->residuals = residuals_of(a->seen, a->n, &a->params, a->places, a->n_places);
}

void agent_learn_all(struct agent *a)
{
	const struct grid *g = &a->application->grid;

	for (int i = 0; i < g->n_points; i++) {
		const double *at = g->points[i].at;

		add_seen(a, throughput_place_on((int)at[0], (int)at[1]), (int64_t)at[2],
			 g->points[i].times);
	}
	set_params(a, fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params);
}

/* --- fits --- */

static void hash_time(uint64_t key[2], double time_s)
{
	uint64_t word;

	memcpy(&word, &time_s, sizeof(word));
	memo_hash(key, word);
}

bool agent_fit(struct agent *a, struct memo *memo)
{
	struct throughput_params params;
	uint64_t key[2] = { MEMO_KEY };
	struct memo_entry *e;

	if (!a->stale)
		return a->version > 0;
	/* Each observation is of one pass and has weight 1. */
	for (int i = 0; i < a->n; i++) {
		const struct fit_observation *o = &a->seen[i];

		memo_hash(key, configuration_hash(&o->configuration));
		memo_hash(key, (uint64_t)o->configuration.nodes);
		hash_time(key, o->step_time_s);
		hash_time(key, o->sync_time_s);
	}
	e = memo_find(memo, key);
	if (!e->key[0]) {
		params = fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params;
		memo_set(memo, e, key);
		memcpy(e->value, &params, sizeof(params));
	}
	memcpy(&params, e->value, sizeof(params));
	set_params(a, params);
	return true;
}
