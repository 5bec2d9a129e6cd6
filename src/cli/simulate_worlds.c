/* simulate_worlds.c - the parts of 'pollux simulate' besides the world of profiles. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/simulate.h"
#include "pollux/simulations.h"
#include "pollux/text.h"
#include "simulate.h"

/* --- pollux simulate --generate: a signal ends it with nothing left --- */

static volatile sig_atomic_t stopped_by;

static void stop(int signal_number)
{
	stopped_by = signal_number;
}

int simulate_generate(const char *directory, struct sim_generation *g, struct err *err)
{
	g->stop = &stopped_by;
	simulate_catch(stop, 0);
	if (sim_generate(directory, g, err)) {
		if (stopped_by) {
			signal(stopped_by, SIG_DFL);
			raise(stopped_by);
		}
		return -1;
	}
	output_sayf(stdout, "%s/profiles: %d applications, on nodes of up to %d GPUs", directory,
		    sim_generate_applications(), sim_generate_gpus(g));
	output_sayf(stdout, "%s/workloads: %d workload%s of %d job%s", directory, g->n_workloads,
		    plural(g->n_workloads), g->n_jobs, plural(g->n_jobs));
	return 0;
}

/* --- pollux simulate --plans: policies over execution plans --- */

static int run_plans(struct simulations *s, const struct sim_plans *plans, const char *path,
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
		rc = run_plans(s, plans, workloads->items[i], err);
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

/* --- pollux simulate --from-store: what the machine's own jobs would have come to --- */

static int add_policy(const struct policy **list, int n, const struct policy *policy)
{
	for (int i = 0; i < n; i++)
		if (list[i] == policy)
			return n;
	if (policy)
		list[n++] = policy;
	return n;
}

static int check_policies(const struct text_list *names, struct err *err)
{
	for (size_t i = 0; i < names->count; i++) {
		char *known;

		if (strcmp(names->items[i], "all") == 0 || policy_find(names->items[i]))
			continue;
		known = policy_names(false);
		usage_error(&cmd_simulate, err, "no policy '%.60s': all, %s", names->items[i],
			    known);
		free(known);
		return -1;
	}
	return 0;
}

/* Each once, in room for n_policies. Returns how many. */
static int choose_policies(const struct text_list *names, const struct policy *now,
			   const struct policy **list)
{
	int n = 0;

	for (size_t i = 0; i < names->count; i++) {
		for (int p = 0; p < n_policies && strcmp(names->items[i], "all") == 0; p++)
			n = add_policy(list, n, policies[p]);
		n = add_policy(list, n, policy_find(names->items[i]));
	}
	if (n)
		return n;
	n = add_policy(list, n, now);
	n = add_policy(list, n, &policy_fifo);
	n = add_policy(list, n, &policy_las);
	return add_policy(list, n, &policy_pollux);
}

static int simulate_and_show(const struct history_request *q, const struct history *h,
			     struct err *err)
{
	const struct policy **list = xcalloc((size_t)n_policies, sizeof(const struct policy *));
	int n = choose_policies(q->policies, h->policy, list);
	struct output out = output_stdout("auto");
	struct history_report report;
	int rc = history_simulate(h, list, n, q->interval_s, &report, err);

	if (rc == 0 && q->json)
		history_print_json(&report, stdout);
	else if (rc == 0)
		history_print(&report, &out);
	if (rc == 0 && q->plot)
		rc = history_draw(&report, q->plot, err);
	history_report_release(&report);
	free(list);
	return rc;
}

int simulate_history(const struct history_request *q, struct err *err)
{
	struct session s;
	struct history h;
	int rc;

	if (check_policies(q->policies, err) || (q->plot && picture_check(q->plot, err)) ||
	    session_open(&s, STORE_READ, err))
		return -1;
	rc = history_read(&s, q->devices, q->slice_s, &h, err);
	session_close(&s);
	if (rc)
		return -1;
	rc = simulate_and_show(q, &h, err);
	history_release(&h);
	return rc;
}

/* --- pollux simulate --racks: policies over machines and racks --- */

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
