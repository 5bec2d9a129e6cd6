/* submission_guarantee.c - checks --guarantee beside the other options and the settings. */
#include <string.h>

#include "pollux/config.h"
#include "pollux/execution_plan.h"
#include "pollux/guarantee.h"
#include "pollux/paths.h"
#include "submission.h"

static int refuse_number(const struct command *by, const struct declaration *d, int replicas,
			 struct err *err)
{
	const char *are = replicas == 1 ? " is" : "s are";

	if (d->max_replicas == 0)
		return usage_error(by, err, "option '--guarantee': %d device%s fewer than the %d "
				   "of --replicas", replicas, are, d->min_replicas);
	if (d->min_replicas == d->max_replicas)
		return usage_error(by, err, "option '--guarantee': %d device%s not the %d of "
				   "--replicas; --replicas 1:%d would allow 1 to %d", replicas, are,
				   d->min_replicas, replicas > d->max_replicas ? replicas
				   : d->max_replicas, replicas > d->max_replicas ? replicas
				   : d->max_replicas);
	return usage_error(by, err, "option '--guarantee': %d device%s not within --replicas "
			   "%d:%d", replicas, are, d->min_replicas, d->max_replicas);
}

int submission_check_guarantee(const struct command *by, const struct declaration *d,
			       struct err *err)
{
	struct guarantee g;

	if (!d->guarantee)
		return 0;
	if (guarantee_parse(d->guarantee, &g, err))
		return -1;
	if (g.replicas < d->min_replicas || (d->max_replicas && g.replicas > d->max_replicas))
		return refuse_number(by, d, g.replicas, err);
	return 0;
}

static int check_guaranteed_plan(const struct declaration *d, struct err *err)
{
	struct execution_plans plans;
	const struct execution_plan *plan;
	struct guarantee g;
	int rc = 0;

	if (!d->guarantee || guarantee_parse(d->guarantee, &g, err) || (!g.plan[0] && !d->plans))
		return 0;
	if (execution_plans_parse(d->plans, &plans, err))
		return -1;
	plan = g.plan[0] ? execution_plans_find(&plans, g.plan) : &plans.items[0];
	if (!plan)
		rc = err_set(err, EX_USAGE, "option '--guarantee': no --plan has the name '%s'",
			     g.plan);
	else if (g.replicas % plan->width != 0)
		rc = err_set(err, EX_USAGE, "option '--guarantee': %d devices are no multiple of "
			     "%d, the devices of a replica of plan '%s'", g.replicas, plan->width,
			     plan->name);
	execution_plans_release(&plans);
	return rc;
}

/* A guarantee that can never be kept is refused; one for which others leave no room waits. A bad
 * configuration file is for a pass to tell. */
static int check_settings(const struct declaration *d, struct err *err)
{
	struct config config;
	struct guarantee g;
	struct paths paths;
	struct err ignored;
	int rc;

	if (!d->guarantee || guarantee_parse(d->guarantee, &g, err) || paths_init(&paths, &ignored))
		return 0;
	rc = config_load(&config, paths.config, &ignored);
	paths_release(&paths);
	if (rc)
		return 0;
	if (strcmp(config.policy, "goodput") != 0)
		return err_set(err, EX_CONFIG, "option '--guarantee': the policy is '%s'; only "
			       "'goodput' keeps guarantees", config.policy);
	if (config.guaranteed_devices >= 0 && g.replicas > config.guaranteed_devices)
		return err_set(err, EX_CONFIG, "option '--guarantee': %d devices are more than "
			       "guaranteed_devices = %d allows", g.replicas,
			       config.guaranteed_devices);
	return 0;
}

int submission_check_promise(const struct declaration *d, struct err *err)
{
	return check_guaranteed_plan(d, err) || check_settings(d, err) ? -1 : 0;
}
