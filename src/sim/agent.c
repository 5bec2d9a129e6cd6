/* agent.c - observe, fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
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

static void hash_word(uint64_t key[2], uint64_t word)
{
	for (int k = 0; k < 2; k++) {
		key[k] = (key[k] ^ word) * 0x100000001b3;
		key[k] ^= key[k] >> (29 + k);
	}
}

static void hash_time(uint64_t key[2], double time_s)
{
	uint64_t word;

	memcpy(&word, &time_s, sizeof(word));
	hash_word(key, word);
}

/* FNV-1a of 64 bits over words, from two offsets. Two lists of observations hardly ever have the
 * same 128 bits, so the lists themselves are not compared. Each observation is of one pass and has
 * weight 1. */
static void hash(const struct agent *a, uint64_t key[2])
{
	key[0] = 0xcbf29ce484222325;
	key[1] = 0x9e3779b97f4a7c15;
	for (int i = 0; i < a->n; i++) {
		const struct fit_observation *o = &a->seen[i];

		hash_word(key, configuration_hash(&o->configuration));
		hash_word(key, (uint64_t)o->configuration.nodes);
		hash_time(key, o->step_time_s);
		hash_time(key, o->sync_time_s);
	}
	key[0] |= 1;
}

static struct fit_memo_entry *find_memo_entry(const struct fit_memo *memo, const uint64_t key[2])
{
	size_t i = (size_t)key[1] & (memo->capacity - 1);

	while (memo->entries[i].key[0] &&
	       (memo->entries[i].key[0] != key[0] || memo->entries[i].key[1] != key[1]))
		i = (i + 1) & (memo->capacity - 1);
	return &memo->entries[i];
}

static void grow_memo(struct fit_memo *memo)
{
	struct fit_memo old = *memo;

	memo->capacity = old.capacity ? 2 * old.capacity : 1024;
	memo->entries = xcalloc(memo->capacity, sizeof(*memo->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].key[0])
			*find_memo_entry(memo, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

void fit_memo_release(struct fit_memo *memo)
{
	free(memo->entries);
	*memo = (struct fit_memo){ 0 };
}

bool agent_fit(struct agent *a, struct fit_memo *memo)
{
	struct fit_memo_entry *e;
	uint64_t key[2];

	if (!a->stale)
		return a->version > 0;
	if (2 * (memo->count + 1) > memo->capacity)
		grow_memo(memo);
	hash(a, key);
	e = find_memo_entry(memo, key);
	if (!e->key[0]) {
		*e = (struct fit_memo_entry){ .key = { key[0], key[1] } };
		e->params = fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params;
		memo->count++;
	}
	set_params(a, e->params);
	return true;
}
