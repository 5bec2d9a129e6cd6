/* cmd_simulate.c - pollux simulate: how published or other workloads would have gone under a
 * policy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "simulate.h"

/* --- pollux simulate --generate: a signal ends it with nothing left --- */

static volatile sig_atomic_t stopped_by;

static void stop(int signal_number)
{
	stopped_by = signal_number;
}

static int simulate_generate(const char *directory, struct sim_generation *g, struct err *err)
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

/* Policies are names, or "all"; none: the present policy, fifo, las and pollux. EX_NOINPUT: there
 * is no store, or no job of it is done. */
static int simulate_history(const struct simulate_options *o, struct err *err)
{
	const struct policy **list = xcalloc((size_t)n_policies, sizeof(const struct policy *));
	struct output out = output_stdout("auto");
	struct history_report report;
	struct session s;
	struct history h;
	int rc = 0, n = 0;

	for (size_t i = 0; rc == 0 && i < o->policies.count; i++) {
		const char *name = o->policies.items[i];
		bool all = strcmp(name, "all") == 0;
		const struct policy *named = all ? NULL : policy_find(name);

		for (int p = 0; all && p < n_policies; p++)
			n = add_policy(list, n, policies[p]);
		n = add_policy(list, n, named);
		if (!all && !named) {
			char *known = policy_names(false);

			rc = usage_error(&cmd_simulate, err, "no policy '%.60s': all, %s", name,
					 known);
			free(known);
		}
	}
	if (rc || (o->outputs.plot && picture_check(o->outputs.plot, err)) ||
	    session_open(&s, STORE_READ, err)) {
		free(list);
		return -1;
	}
	rc = history_read(&s, (int)o->devices, o->slice_s, &h, err);
	session_close(&s);
	if (rc) {
		free(list);
		return -1;
	}
	if (n == 0) {
		n = add_policy(list, n, h.policy);
		n = add_policy(list, n, &policy_fifo);
		n = add_policy(list, n, &policy_las);
		n = add_policy(list, n, &policy_pollux);
	}
	rc = history_simulate(&h, list, n, o->interval_s, &report, err);
	if (rc == 0 && o->json)
		history_print_json(&report, stdout);
	else if (rc == 0)
		history_print(&report, &out);
	if (rc == 0 && o->outputs.plot)
		rc = history_draw(&report, o->outputs.plot, err);
	history_report_release(&report);
	free(list);
	history_release(&h);
	return rc;
}

/* --- the options of a simulation --- */

#define TIMER_MAX_LEASES 1e6

/* "auto", "inf", or "A,B" in leases. */
static int set_timers(const char *text, double lease_s, struct sim_racks *t, struct err *err)
{
	char *rack, *comma;
	double a = -1, b = -1;
	int rc = 0;

	t->tunes = !text || strcmp(text, "auto") == 0;
	t->timers = (struct rack_timers){ HUGE_VAL, HUGE_VAL };
	if (text && !t->policy->has_timers)
		return usage_error(&cmd_simulate, err,
				   "option '--timers' does not go with the policy %s",
				   t->policy->name);
	if (t->tunes || strcmp(text, "inf") == 0)
		return 0;
	rack = xstrdup(text);
	comma = strchr(rack, ',');
	if (comma)
		*comma = '\0';
	if (!comma || number_parse(rack, &a) || number_parse(comma + 1, &b) || !(a >= 0) ||
	    !(b >= a) || b > TIMER_MAX_LEASES)
		rc = usage_error(&cmd_simulate, err,
				 "option '--timers': auto, inf, or leases for a rack and for any, "
				 "as 6,12, not '%.60s'", text);
	free(rack);
	t->timers = (struct rack_timers){ a * lease_s, b * lease_s };
	return rc;
}

/* Sets the policy over racks, and what it and the options say of them, in the files and options of
 * s; nodes, gpus_per_node and slice_s are set. */
static int set_racks(const char *policy, const struct simulate_options *request,
		     struct simulations *s, struct err *err)
{
	struct sim_options *o = &s->options;
	struct sim_racks *t = &s->racks;

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
	t->contention = o->contention = request->contention;
	t->policy = rack_policy_find(policy);
	if (!t->policy)
		return usage_error(&cmd_simulate, err, "option '--racks': no policy '%.60s': one "
				   "of%s", policy, RACK_POLICY_NAMES);
	if (set_timers(request->timers, o->slice_s, t, err))
		return -1;
	if (o->lengths != SIM_LENGTHS_UNKNOWN && !t->policy->prepare)
		return usage_error(&cmd_simulate, err,
				   "option '--lengths' does not go with the policy %s",
				   t->policy->name);
	o->rack_policy = t->policy->name;
	o->timers = t->policy->has_timers ? request->timers ? request->timers : "auto" : NULL;
	return 0;
}

/* Returns an option that is for one policy; NULL: none. Several have a table each, and one
 * picture. */
static const char *option_for_one(const struct simulate_options *o)
{
	return o->json ? "json" : o->plans ? "plans"
		: o->outputs.jobs_csv ? "jobs-csv" : o->outputs.timeline_csv ? "timeline-csv"
		: o->outputs.ends_csv ? "ends-csv" : NULL;
}

/* Checks what options say together. */
static int check_request(const struct simulate_options *o, struct err *err)
{
	const char *one = option_for_one(o);

	if (o->racks && !o->workloads_read.count)
		return usage_error(&cmd_simulate, err, "option '--racks': give --workload");
	if (!o->racks && (!o->profiles || !o->workloads_read.count))
		return usage_error(&cmd_simulate, err,
				   "give --profiles and --workload, or --from-store, or "
				   "--generate");
	if (o->plans && o->gpus_per_node > SIM_GPUS_OF_NODE_MAX)
		return usage_error(&cmd_simulate, err,
				   "option '--plans': placements have a digit for the GPUs of a "
				   "node, so %d at most", SIM_GPUS_OF_NODE_MAX);
	if (!o->racks && o->nodes * o->gpus_per_node > SIMULATE_GPUS_MAX)
		return usage_error(&cmd_simulate, err, "%lld GPUs; at most %d can be simulated",
				   (long long)o->nodes * o->gpus_per_node,
				   SIMULATE_GPUS_MAX);
	if (o->kinds_blind && !o->kinds)
		return usage_error(&cmd_simulate, err,
				   "option '--kinds-blind' goes with --kinds");
	if (o->policies.count > 1 && one)
		return usage_error(&cmd_simulate, err, "option '--%s' is for one policy", one);
	return 0;
}

/* What the options say under any policy. */
static struct sim_options common_options(const struct simulate_options *o)
{
	return (struct sim_options){
		.nodes = (int)o->nodes, .gpus_per_node = (int)o->gpus_per_node,
		.interval_s = o->interval_s, .restart_s = o->restart_s,
		.slice_s = o->slice_s > 0 ? o->slice_s
			: o->racks ? RACK_LEASE_S : SIM_OPTIONS_DEFAULT.slice_s,
		.interference = o->interference, .length_spread = o->length_spread,
		.seed = (uint64_t)o->seed, .events = o->events,
		.kinds_blind = o->kinds_blind, .ends = o->outputs.ends_csv,
		.racks = (int)o->racks, .plans = o->plans,
	};
}

/* Sets the policy, and what it is told. */
static int set_policy(const char *name, const struct simulate_options *o, struct simulations *s,
		      struct err *err)
{
	struct sim_options *sim = &s->options;
	enum sim_lengths lengths = SIM_LENGTHS_UNKNOWN;

	while (o->lengths && strcmp(o->lengths, sim_lengths_names[lengths]) != 0)
		lengths++;
	if (lengths == SIM_LENGTHS_LEARNED && (o->racks || o->plans))
		return usage_error(&cmd_simulate, err, "option '--lengths': learned does not go "
				   "with --%s", o->racks ? "racks" : "plans");
	if (o->racks) {
		sim->lengths = lengths;
		return set_racks(name, o, s, err);
	}
	sim->policy = o->plans && !strcmp(name, "rubick") ? &policy_rubick : policy_find(name);
	if (o->plans && sim->policy != &policy_rubick && sim->policy != &policy_goodput)
		return usage_error(&cmd_simulate, err,
				   "option '--plans' goes with the policies goodput and rubick");
	if (!sim->policy) {
		char *names = policy_names(false);
		int rc = usage_error(&cmd_simulate, err, "no policy '%.60s': %s", name, names);

		free(names);
		return rc;
	}
	sim_options_set_knowledge(sim, sim->policy);
	if (o->plans)
		sim->knowledge = SIM_KNOWLEDGE_FULL;	/* the times of the files */
	for (int k = 0; o->knowledge && sim_knowledge_names[k]; k++)
		if (!strcmp(o->knowledge, sim_knowledge_names[k]))
			sim->knowledge = (enum sim_knowledge)k;
	if (o->lengths)
		sim->lengths = lengths;
	return 0;
}

/* --- simulations --- */

static int show_simulations(const struct simulations *s, const struct simulate_options *o,
			    struct err *err)
{
	struct output out = output_stdout("auto");

	if (o->json)
		simulations_print_json(s, stdout);
	else
		simulations_print(s, &out);
	if (o->outputs.jobs_csv && simulations_write_jobs(s, o->outputs.jobs_csv, err))
		return -1;
	if (o->outputs.timeline_csv && simulations_write_timeline(s, o->outputs.timeline_csv, err))
		return -1;
	if (o->outputs.ends_csv && simulations_write_ends(s, o->outputs.ends_csv, err))
		return -1;
	return 0;
}

static const char *policy_at(const struct simulate_options *o, int i)
{
	return o->policies.count ? o->policies.items[i] : o->racks ? "dally" : "goodput";
}

static int simulate_and_show(const struct simulate_options *o, struct err *err)
{
	int n = o->policies.count ? (int)o->policies.count : 1, rc = check_request(o, err);
	struct simulations *all = xcalloc((size_t)n, sizeof(*all));
	struct sim_options common = common_options(o);
	char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	struct strings workloads = { 0 };

	/* before the first one takes minutes */
	if (rc == 0 && kinds)
		rc = simulate_kinds(kinds, &common, err);
	for (int i = 0; rc == 0 && i < n; i++) {
		all[i] = (struct simulations){
			.options = common, .restart_table = o->restart_table,
			.slowdown_table = o->slowdown_table, .tiers = o->tiers,
			.links = o->links, .models = o->models,
		};
		rc = set_policy(policy_at(o, i), o, &all[i], err);
	}
	rc = rc || simulate_list_workloads(&o->workloads_read, &workloads, err) ||
	     simulate_check_outputs(o, &workloads, err) ? -1 : 0;
	for (int i = 0; rc == 0 && i < n; i++) {
		if (i)
			putchar('\n');
		rc = simulations_run(&all[i], o->profiles, &workloads, err) ||
		     show_simulations(&all[i], o, err) ? -1 : 0;
	}
	if (rc == 0 && o->outputs.plot) {
		struct text script = TEXT_INIT;

		simulations_plot_script(all, n, picture_format(o->outputs.plot), &script);
		rc = picture_draw(script.data, o->outputs.plot, err);
		text_release(&script);
	}
	for (int i = 0; i < n; i++)
		simulations_release(&all[i]);
	strings_release(&workloads);
	free(kinds);
	free(all);
	return rc;
}

static int main_simulate(int argc, char **argv, struct err *err)
{
	struct simulate_options o;
	int rc = simulate_options_parse(argc, argv, &o, err);

	if (rc == 0 && o.from_store) {
		rc = simulate_history(&o, err);
	} else if (rc == 0 && o.generate) {
		struct sim_generation g = {
			.n_jobs = (int)o.jobs, .n_workloads = (int)o.workloads,
			.seconds = o.span_s, .gpus_per_node = (int)o.gpus_per_node,
			.seed = (uint64_t)o.seed,
		};

		rc = o.gpus_per_node <= SIM_GPUS_OF_NODE_MAX
			? simulate_generate(o.generate, &g, err)
			: usage_error(&cmd_simulate, err,
				      "option '--gpus-per-node': made-up profiles have a digit for "
				      "the GPUs of a node, so %d at most", SIM_GPUS_OF_NODE_MAX);
	} else if (rc == 0) {
		rc = simulate_and_show(&o, err);
	}
	options_release(&cmd_simulate, &o);
	return rc;
}

const struct command cmd_simulate = {
	.name = "simulate",
	.synopsis = "--profiles DIR --workload FILE [OPTION]... | "
		    "--racks N --workload FILE [OPTION]... | "
		    "--from-store [OPTION]... | --generate DIR [OPTION]...",
	.summary = "run a workload, or one's own jobs, in simulation under any policy",
	.example = "pollux simulate --profiles profiles --workload workload-1.csv\n"
		   "pollux simulate --profiles profiles -w workloads -p tiresias --json\n"
		   "pollux simulate --from-store --devices 4 -p all\n"
		   "pollux simulate --generate made-up --jobs 1000",
	.options = simulate_option_specs, .run = main_simulate,
};
