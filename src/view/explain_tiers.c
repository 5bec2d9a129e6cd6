/* explain_tiers.c - the best tier that each number of devices can have, as a pass takes it. */
#include <stdlib.h>
#include <string.h>

#include "pollux/device.h"
#include "pollux/explain.h"
#include "pollux/mem.h"
#include "pollux/tier_wait.h"

/* Tiers are those of one machine: none is told of devices on machines that an engine names. */
void explanation_read_tiers(struct explanation *e, const struct device_list *list)
{
	struct tier_links links = { list->count, list->links };
	bool *in;

	e->best_tier = xcalloc((size_t)e->n_devices + 1, sizeof(*e->best_tier));
	if (!list->links || list->linked < list->count || *list->items[0].node)
		return;
	in = xcalloc((size_t)list->count, sizeof(*in));
	for (int i = 0; i < list->count; i++)
		in[i] = list->items[i].usable && !strcmp(list->items[i].kind, e->device_kind);
	tier_best_by_number(&links, in, e->best_tier, e->n_devices + 1);
	free(in);
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
