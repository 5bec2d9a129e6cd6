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

static void add(struct agent *a, int nodes, int replicas, int64_t local_batch_size, struct times times)
{
	if (a->n == a->capacity) {
		a->capacity = a->capacity ? 2 * a->capacity : 16;
		a->seen = xreallocarray(a->seen, (size_t)a->capacity, sizeof(*a->seen));
	}
	/* As bytes it is a key: no gaps left to chance. */
	memset(&a->seen[a->n], 0, sizeof(*a->seen));
	a->seen[a->n].nodes = nodes;
	a->seen[a->n].configuration.replicas = replicas;
	a->seen[a->n].configuration.local_batch_size = local_batch_size;
	a->seen[a->n].configuration.accumulation_steps = 1;
	a->seen[a->n].step_time_s = times.step_s;
	a->seen[a->n].sync_time_s = times.sync_s;
	a->seen[a->n].weight = 1;
	a->n++;
	if (replicas > a->max_replicas)
		a->max_replicas = replicas;
	a->stale = true;
}

void agent_observe(struct agent *a, int nodes, int replicas, int64_t local_batch_size, struct times times)
{
	for (int i = a->n - 1; i >= 0; i--)
		if (a->seen[i].nodes == nodes && a->seen[i].configuration.replicas == replicas &&
		    a->seen[i].configuration.local_batch_size == local_batch_size)
			return;
	add(a, nodes, replicas, local_batch_size, times);
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

	for (int i = 0; i < g->n_points; i++)
		add(a, (int)g->points[i].at[0], (int)g->points[i].at[1], (int64_t)g->points[i].at[2],
		    g->points[i].times);
	set_params(a, fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params);
}

/* --- fits --- */

/* FNV-1a of 64 bits over words, from two offsets: 128 bits, in which two lists are most unlikely to meet;
 * they are not compared. */
static void hash(const struct agent *a, uint64_t key[2])
{
	size_t n = (size_t)a->n * sizeof(*a->seen) / sizeof(uint64_t);

	key[0] = 0xcbf29ce484222325;
	key[1] = 0x9e3779b97f4a7c15;
	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		memcpy(&word, (const char *)a->seen + i * sizeof(word), sizeof(word));
		for (int k = 0; k < 2; k++) {
			key[k] = (key[k] ^ word) * 0x100000001b3;
			key[k] ^= key[k] >> (29 + k);
		}
	}
	key[0] |= 1;
}

static struct fit_memo_entry *find(const struct fit_memo *memo, const uint64_t key[2])
{
	size_t i = (size_t)key[1] & (memo->capacity - 1);

	while (memo->entries[i].key[0] &&
	       (memo->entries[i].key[0] != key[0] || memo->entries[i].key[1] != key[1]))
		i = (i + 1) & (memo->capacity - 1);
	return &memo->entries[i];
}

static void grow(struct fit_memo *memo)
{
	struct fit_memo old = *memo;

	memo->capacity = old.capacity ? 2 * old.capacity : 1024;
	memo->entries = xcalloc(memo->capacity, sizeof(*memo->entries));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.entries[i].key[0])
			*find(memo, old.entries[i].key) = old.entries[i];
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
		grow(memo);
	hash(a, key);
	e = find(memo, key);
	if (!e->key[0]) {
		*e = (struct fit_memo_entry){ .key = { key[0], key[1] } };
		e->params = fit_throughput(a->seen, a->n, &FIT_OPTIONS_DEFAULT).params;
		memo->count++;
	}
	set_params(a, e->params);
	return true;
}
