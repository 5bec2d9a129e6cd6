/* submission_guarantee.c - checks --guarantee beside the other options and the settings. */
#include <string.h>

#include "pollux/config.h"
#include "pollux/execution_plan.h"
#include "pollux/guarantee.h"
#include "pollux/paths.h"
#include "pollux/submission.h"

int submission_check_guarantee(const struct command *by, const struct declaration *d,
			       struct err *err)
{
	struct guarantee g;

	if (!d->guarantee)
		return 0;
	if (guarantee_parse(d->guarantee, &g, err))
		return -1;
	if (g.replicas < d->min_replicas)
		return usage_error(by, err, "option '--guarantee': %d device%s less than the job "
				   "needs: --replicas says %d at least", g.replicas,
				   g.replicas == 1 ? " is" : "s are", d->min_replicas);
	if (d->max_replicas && g.replicas > d->max_replicas)
		return usage_error(by, err, "option '--guarantee': %d devices are more than the "
				   "job may have, %d; '--replicas %d:%d' allows them",
				   g.replicas, d->max_replicas, d->min_replicas, g.replicas);
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
