/* read_plans.c - what a pass reads of plans: names of workloads under them, limits of memory. */
#include <stdlib.h>
#include <string.h>

#include "pollux/execution_plan.h"
#include "snapshot.h"

bool names_contain(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

void name_plans(const struct declaration *declared, struct strings *names)
{
	struct execution_plans plans;
	struct err ignored;

	if (execution_plans_parse(declared->plans, &plans, &ignored))
		return;
	for (int i = 0; i < plans.count; i++) {
		char *name = execution_plan_workload(declared->workload, plans.items[i].name,
						     plans.items[i].hash);

		if (!names_contain(names, name))
			strings_add(names, name);
		free(name);
	}
	execution_plans_release(&plans);
}

void limit_plans(struct snapshot *s)
{
	for (int i = 0; i < s->workloads.count; i++) {
		struct workload *w = &s->workloads.items[i];

		for (int d = 0; d < s->devices.count; d++)
			if (!strcmp(s->devices.items[d].kind, w->kind))
				knowledge_limit_memory(&w->k, s->devices.items[d].memory_bytes,
						       s->memory.total_bytes);
	}
}
