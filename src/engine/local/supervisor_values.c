/* supervisor_values.c - what a command's templates stand for: its plan, its nodes. */
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/run_nodes.h"
#include "supervisor_remote.h"
#include "supervisor_values.h"

char *supervisor_plan_args(const struct supervisor *s)
{
	struct execution_plans plans;
	const struct execution_plan *plan;
	struct err ignored;
	char *args;

	if (execution_plans_parse(s->job.declared.plans, &plans, &ignored))
		return NULL;
	plan = execution_plans_find(&plans, s->run.configuration.plan);
	args = plan ? xstrdup(plan->args) : NULL;
	execution_plans_release(&plans);
	return args;
}

void supervisor_name_nodes(const struct supervisor *s, struct strings *names,
			   struct template_values *values)
{
	if (!run_is_elsewhere(&s->run))
		return;
	run_node_names(&s->run, names);
	values->nodes = (struct template_nodes){ (int)names->count, names->items[0] };
	if (supervisor_remote)
		values->nodes.master = supervisor_remote->master();
}
