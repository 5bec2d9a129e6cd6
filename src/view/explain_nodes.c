/* explain_nodes.c - the devices of several nodes: which numbers a job may have, and on how many
 * nodes. */
#include <stdlib.h>
#include <string.h>

#include "pollux/explain.h"
#include "pollux/mem.h"

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
