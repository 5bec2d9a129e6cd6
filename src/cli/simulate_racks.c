/* simulate_racks.c - pollux simulate --racks: policies over machines and racks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "pollux/text.h"
#include "simulate.h"

#define TIMER_MAX_LEASES 1e6

/* "A,B" in leases. */
static int read_timers(const char *text, double lease_s, struct rack_timers *timers,
		       struct err *err)
{
	char *rack = xstrdup(text), *comma = strchr(rack, ',');
	double a = -1, b = -1;
	int rc = 0;

	if (comma)
		*comma = '\0';
	if (!comma || number_parse(rack, &a) || number_parse(comma + 1, &b) || !(a >= 0) ||
	    !(b >= a) || b > TIMER_MAX_LEASES)
		rc = usage_error(&cmd_simulate, err,
				 "option '--timers': auto, inf, or leases for a rack and for any, "
				 "as 6,12, not '%.60s'", text);
	free(rack);
	*timers = (struct rack_timers){ a * lease_s, b * lease_s };
	return rc;
}

static int set_timers(const struct simulate_racks *request, double lease_s, struct sim_racks *t,
		      struct err *err)
{
	const char *timers = request->timers ? request->timers : "auto";

	if (request->timers && !t->policy->has_timers)
		return usage_error(&cmd_simulate, err,
				   "option '--timers' does not go with the policy %s",
				   t->policy->name);
	t->tunes = strcmp(timers, "auto") == 0;
	t->timers = (struct rack_timers){ HUGE_VAL, HUGE_VAL };
	if (t->tunes || strcmp(timers, "inf") == 0)
		return 0;
	return read_timers(timers, lease_s, &t->timers, err);
}

static int set_policy(const char *name, struct sim_racks *t, struct err *err)
{
	t->policy = rack_policy_find(name);
	if (t->policy)
		return 0;
	return usage_error(&cmd_simulate, err, "option '--racks': no policy '%.60s': one of%s",
			   name, RACK_POLICY_NAMES);
}

int simulate_racks_check(struct sim_options *o, const struct simulate_racks *request,
			 const char *policy, struct sim_racks *t, struct err *err)
{
	*t = (struct sim_racks){ .contention = request->contention };
	if (o->nodes % o->racks)
		return usage_error(&cmd_simulate, err, "%d nodes cannot stand in %d equal racks",
				   o->nodes, o->racks);
	if (!request->tiers == !request->links || !request->links != !request->models)
		return usage_error(&cmd_simulate, err,
				   "option '--racks': give either --tiers, or --links and "
				   "--models");
	t->cluster = (struct rack_cluster){
		.racks = o->racks, .machines_per_rack = o->nodes / o->racks,
		.gpus_per_machine = o->gpus_per_node,
	};
	if (set_policy(policy, t, err) || set_timers(request, o->slice_s, t, err))
		return -1;
	if (o->lengths_known && !t->policy->prepare)
		return usage_error(&cmd_simulate, err,
				   "option '--lengths' does not go with the policy %s",
				   t->policy->name);
	o->contention = request->contention;
	o->rack_policy = t->policy->name;
	o->timers = t->policy->has_timers ? request->timers ? request->timers : "auto" : NULL;
	return 0;
}

static int run_one(struct simulations *s, const struct sim_racks *t, const char *path,
		   struct err *err)
{
	int rc;

	if (sim_racks_workload(t, path, &s->workloads[s->n], err))
		return -1;
	rc = sim_racks_run(&s->options, t, &s->workloads[s->n], &s->results[s->n], err);
	s->n++;
	return rc;
}

int simulate_racks_run(struct simulations *s, const struct simulate_racks *request,
		       struct sim_racks *t, const struct strings *workloads, struct err *err)
{
	int rc = request->tiers ? sim_racks_read(t, request->tiers, err)
				: sim_racks_read_links(t, request->links, request->models, err);

	s->workloads = xcalloc(workloads->count, sizeof(*s->workloads));
	s->results = xcalloc(workloads->count, sizeof(*s->results));
	for (size_t i = 0; i < workloads->count && rc == 0; i++)
		rc = run_one(s, t, workloads->items[i], err);
	return rc;
}
