/* explain_nodes.c - explain: nodes, and tiers of links. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/device.h"
#include "pollux/mem.h"
#include "pollux/tier_wait.h"

/* --- the devices of several nodes: which numbers a job may have, and on how many nodes --- */

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

/* Devices of a node stand together in the list. */
void explanation_read_nodes(struct explanation *e, const struct device_list *list)
{
	const char *last = NULL;

	e->node_devices = xcalloc((size_t)list->count + 1, sizeof(int));
	for (int i = 0; i < list->count; i++) {
		const struct device *d = &list->items[i];

		if (!d->usable || strcmp(d->kind, e->device_kind) != 0)
			continue;
		e->nodes.n += !last || strcmp(d->node, last) != 0;
		e->node_devices[e->nodes.n - 1]++;
		last = d->node;
	}
	qsort(e->node_devices, (size_t)e->nodes.n, sizeof(int), descending);
	e->nodes.devices = e->node_devices;
}

int explanation_nodes(const struct explanation *e, int r)
{
	const struct run *run = e->item->run;

	if (!node_sizes_matter(&e->nodes))
		return 1;
	if (run && run->configuration.replicas == r)
		return configuration_place(&run->configuration).nodes;
	return node_sizes_place(&e->nodes, r);
}

/* A job keeps the number that it has. */
bool explanation_is_uneven(const struct explanation *e, int r)
{
	const struct declaration *d = &e->job->declared;
	int most = d->max_replicas > 0 ? d->max_replicas : e->n_devices;
	const struct run *run = e->item->run;

	if (!node_sizes_matter(&e->nodes) || (run && run->configuration.replicas == r))
		return false;
	return !node_sizes_allow(&e->nodes, node_sizes_rule(&e->nodes, d->min_replicas, most), r);
}

bool explanation_is_too_wide(const struct explanation *e, int r)
{
	int nodes = explanation_nodes(e, r);

	return nodes > 1 && nodes > e->model.max_nodes && r > e->model.min_replicas;
}

void explanation_weigh(struct explanation *e, int r)
{
	struct throughput_place place = throughput_place_on(explanation_nodes(e, r), r);

	if (!node_sizes_matter(&e->nodes))
		job_model_best(&e->model, r, &e->best[r]);
	else if (place.nodes > 0)
		job_model_best_at(&e->model, place, &e->best[r]);
}

int explanation_next(const struct explanation *e, int r)
{
	int next = r + 1;

	while (next <= e->n_devices && explanation_is_uneven(e, next))
		next++;
	return next;
}

/* --- the best tier that each number of devices can have, as a pass takes it --- */

/* The best tiers of numbers of usable devices of a kind. Tiers are those of one machine: none is
 * told of devices on machines that an engine names. The caller frees the result. */
static enum configuration_tier *best_tiers(const struct device_list *list, const char *kind,
					   int n_devices)
{
	struct tier_links links = { list->count, list->links };
	enum configuration_tier *best = xcalloc((size_t)n_devices + 1, sizeof(*best));
	bool *in;

	if (!list->links || list->linked < list->count || *list->items[0].node)
		return best;
	in = xcalloc((size_t)list->count, sizeof(*in));
	for (int i = 0; i < list->count; i++)
		in[i] = list->items[i].usable && !strcmp(list->items[i].kind, kind);
	tier_best_by_number(&links, in, best, n_devices + 1);
	free(in);
	return best;
}

/* The tier of the job's devices if it runs on so many of the kind, else the best one. */
static enum configuration_tier tier_on_kind(const struct explanation *e,
					    const struct device_list *list, const char *kind)
{
	const struct run *run = e->item->run;
	int least = e->job->declared.min_replicas;
	enum configuration_tier *best, tier;

	if (run && run->devices && run->configuration.replicas == least &&
	    run->configuration.tier != TIER_UNKNOWN && !strcmp(run->devices[0].kind, kind))
		return run->configuration.tier;
	best = best_tiers(list, kind, least);
	tier = best[least];
	free(best);
	return tier;
}

void explanation_read_tiers(struct explanation *e, const struct device_list *list)
{
	e->best_tier = best_tiers(list, e->device_kind, e->n_devices);
	for (int k = 0; k < e->n_kinds; k++)
		e->kinds[k].tier = tier_on_kind(e, list, e->kinds[k].name);
}

void explanation_tell_tiers(struct explanation *e)
{
	e->model.best_tier = e->best_tier;
	e->model.n_best_tier = e->n_devices + 1;
}

enum configuration_tier explanation_tier(const struct explanation *e, int r)
{
	const struct run *run = e->item->run;

	if (run && run->configuration.replicas == r && run->configuration.tier != TIER_UNKNOWN)
		return run->configuration.tier;
	return r <= e->n_devices ? e->best_tier[r] : TIER_UNKNOWN;
}

struct goodput_choice explanation_best_here(const struct explanation *e)
{
	struct configuration c = e->best[e->replicas].configuration;
	struct goodput_model g = job_model_on(&e->model, e->replicas);

	if (c.tier == explanation_tier(e, e->replicas))
		return e->best[e->replicas];
	c.tier = explanation_tier(e, e->replicas);
	return goodput_choice_of(&g, c);
}
