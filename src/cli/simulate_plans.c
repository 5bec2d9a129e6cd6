/* simulate_plans.c - pollux simulate --plans: policies over execution plans. */
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "pollux/simulations.h"
#include "simulate.h"

static int run_one(struct simulations *s, const struct sim_plans *plans, const char *path,
		   struct err *err)
{
	int rc;

	if (sim_plans_workload(plans, path, &s->workloads[s->n], err))
		return -1;
	rc = sim_plans_run(&s->options, plans, &s->workloads[s->n], &s->results[s->n], err);
	s->n++;
	return rc;
}

static int run_all(struct simulations *s, const struct sim_plans *plans,
		   const struct strings *workloads, bool json, struct err *err)
{
	struct output out = output_stdout("auto");
	int rc = 0;

	s->workloads = xcalloc(workloads->count, sizeof(*s->workloads));
	s->results = xcalloc(workloads->count, sizeof(*s->results));
	for (size_t i = 0; i < workloads->count && rc == 0; i++)
		rc = run_one(s, plans, workloads->items[i], err);
	if (rc == 0 && json)
		simulations_print_json(s, stdout);
	else if (rc == 0)
		simulations_print(s, &out);
	simulations_release(s);
	return rc;
}

int simulate_plans(const struct sim_options *options, const char *placements,
		   const struct strings *workloads, bool json, struct err *err)
{
	int n_gpus = options->nodes * options->gpus_per_node, rc;
	struct simulations s = { .options = *options };
	struct sim_plans plans;

	s.options.knowledge = SIM_KNOWLEDGE_FULL;	/* the times of the files */
	if (options->gpus_per_node > 9)
		return usage_error(&cmd_simulate, err,
				   "option '--plans': placements have a digit for the GPUs of a "
				   "node, so 9 at most");
	if (sim_plans_read(&plans, placements, options->gpus_per_node, n_gpus, err))
		return -1;
	rc = run_all(&s, &plans, workloads, json, err);
	sim_plans_release(&plans);
	return rc;
}
