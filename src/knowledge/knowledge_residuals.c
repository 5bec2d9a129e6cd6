/* knowledge_residuals.c - for which places of a workload's replicas residuals are computed. */
#include <stdlib.h>

#include "pollux/knowledge.h"
#include "pollux/mem.h"
#include "pollux/policy.h"
#include "pollux/tier_fit.h"

#define REPLICAS_MAX 1024		/* most measured replicas that count for residuals */

static int bounded(int replicas)
{
	return replicas < 0 ? 0 : replicas < REPLICAS_MAX ? replicas : REPLICAS_MAX;
}

static int by_replicas(const void *left, const void *right)
{
	const struct throughput_place *a = left, *b = right;
	int order = (a->replicas > b->replicas) - (a->replicas < b->replicas);

	return order ? order : (a->nodes > b->nodes) - (a->nodes < b->nodes);
}

/* Puts each number of replicas on one node, and each place of several nodes that was seen. Returns
 * the number of places. */
static int place_all(const struct knowledge *k, int most, struct throughput_place *places)
{
	int n = most, n_kept = 0;

	for (int i = 0; i < most; i++)
		places[i] = throughput_place_on(1, i + 1);
	for (int i = 0; i < k->seen.count; i++) {
		const struct configuration *c = &k->seen.items[i].configuration;
		struct throughput_place place = configuration_place(c);

		if (place.nodes > 1 && place.replicas >= 1 && place.replicas <= most)
			places[n++] = throughput_place_on(place.nodes, place.replicas);
	}
	qsort(places, (size_t)n, sizeof(*places), by_replicas);
	for (int i = 0; i < n; i++)
		if (i == 0 || by_replicas(&places[n_kept - 1], &places[i]) != 0)
			places[n_kept++] = places[i];
	return n_kept;
}

/* Sets residuals for all numbers of replicas that a job may be given, but at most for a bounded
 * number, whatever the store holds. */
void knowledge_set_residuals(struct knowledge *k, const struct throughput_params *params,
			     const struct residuals_source *others, int n_others)
{
	const struct observation *seen = k->seen.items;
	int n_seen = k->seen.count;
	struct residuals_source own = { seen, n_seen, params };
	int most = SCHED_REPLICA_GROWTH * bounded(k->model.max_replicas), n_places;
	enum configuration_tier base = tier_base(seen, n_seen);
	struct throughput_place *places =
		xcalloc(CONFIGURATION_TIERS * (size_t)most + (size_t)n_seen, sizeof(*places));

	n_places = place_all(k, most, places);
	for (int t = (int)base + 1; base != TIER_UNKNOWN && t < CONFIGURATION_TIERS; t++)
		for (int r = 2; tier_was_seen(seen, n_seen, (enum configuration_tier)t) &&
				r <= most; r++) {
			places[n_places] = throughput_place_on(1, r);
			places[n_places++].tier = (enum configuration_tier)t;
		}
	residuals_release(&k->residuals);
	k->residuals = residuals_of_plan(&own, others, n_others, places, n_places);
	free(places);
}
