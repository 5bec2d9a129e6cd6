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

	for (size_t i = 0; rc == 0 && i < o->policy_names.count; i++) {
		const char *name = o->policy_names.items[i];
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
	rc = history_read(&s, o->since_s, (int)o->devices, o->slice_s, &h, err);
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
static int set_timers(const char *text, struct sim_options *o, struct err *err)
{
	char *rack, *comma;
	double a = -1, b = -1;
	int rc = 0;

	o->tunes = !text || strcmp(text, "auto") == 0;
	o->rack_timers = (struct rack_timers){ HUGE_VAL, HUGE_VAL };
	if (o->rack_policy->has_timers)
		o->timers = text ? text : "auto";
	else if (text)
		return usage_error(&cmd_simulate, err,
				   "option '--timers' does not go with the policy %s",
				   o->rack_policy->name);
	if (o->tunes || strcmp(text, "inf") == 0)
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
	o->rack_timers = (struct rack_timers){ a * o->slice_s, b * o->slice_s };
	return rc;
}

static int set_cluster(const struct simulate_options *o, struct sim_racks *t, struct err *err)
{
	if (o->nodes % o->racks)
		return usage_error(&cmd_simulate, err, "%lld nodes cannot stand in %lld equal "
				   "racks", (long long)o->nodes, (long long)o->racks);
	if (!o->tiers == !o->links || !o->links != !o->models)
		return usage_error(&cmd_simulate, err,
				   "option '--racks': give either --tiers, or --links and "
				   "--models");
	t->cluster = (struct rack_cluster){
		.racks = (int)o->racks, .machines_per_rack = (int)(o->nodes / o->racks),
		.gpus_per_machine = (int)o->gpus_per_node,
	};
	t->contention = o->contention;
	return 0;
}

/* Sets the policy over racks, and what the options say of it; slice_s is set. */
static int set_rack_policy(const char *policy, const struct simulate_options *request,
			   struct sim_options *o, struct err *err)
{
	o->rack_policy = rack_policy_find(policy);
	if (!o->rack_policy)
		return usage_error(&cmd_simulate, err, "option '--racks': no policy '%.60s': one "
				   "of%s", policy, RACK_POLICY_NAMES);
	if (set_timers(request->timers, o, err))
		return -1;
	if (o->lengths != SIM_LENGTHS_UNKNOWN && !o->rack_policy->prepare)
		return usage_error(&cmd_simulate, err,
				   "option '--lengths' does not go with the policy %s",
				   o->rack_policy->name);
	return 0;
}

/* Checks what options say together. */
static int check_request(const struct simulate_options *o, struct err *err)
{
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
		.placements = o->outputs.timeline_csv,
		.racks = (int)o->racks, .contention = o->contention, .plans = o->plans,
	};
}

/* Sets the policy, and what it is told. */
static int set_policy(const char *name, const struct simulate_options *o, struct sim_options *sim,
		      struct err *err)
{
	enum sim_lengths lengths = SIM_LENGTHS_UNKNOWN;

	while (o->lengths && strcmp(o->lengths, sim_lengths_names[lengths]) != 0)
		lengths++;
	if (lengths == SIM_LENGTHS_LEARNED && (o->racks || o->plans))
		return usage_error(&cmd_simulate, err, "option '--lengths': learned does not go "
				   "with --%s", o->racks ? "racks" : "plans");
	if (o->racks) {
		sim->lengths = lengths;
		return set_rack_policy(name, o, sim, err);
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

static int write_files(const struct simulations *s, const struct simulate_outputs *o,
		       struct err *err)
{
	if ((o->jobs_csv && simulations_write_jobs(s, o->jobs_csv, err)) ||
	    (o->timeline_csv && simulations_write_timeline(s, o->timeline_csv, err)) ||
	    (o->ends_csv && simulations_write_ends(s, o->ends_csv, err)) ||
	    (o->cdf_csv && simulations_write_cdf(s, o->cdf_csv, err)))
		return -1;
	if (o->plot) {
		struct text script = TEXT_INIT;
		int rc;

		simulations_plot_script(s, picture_format(o->plot), &script);
		rc = picture_draw(script.data, o->plot, err);
		text_release(&script);
		return rc;
	}
	return 0;
}

/* Sets the policies, and what the world of the simulations is. */
static int set_simulations(const struct simulate_options *o, char *kinds, struct simulations *s,
			   struct err *err)
{
	struct sim_options common = common_options(o);
	size_t n = o->policy_names.count;

	*s = (struct simulations){
		.restart_table = o->restart_table, .slowdown_table = o->slowdown_table,
		.tiers = o->tiers, .links = o->links, .models = o->models,
		.n_policies = n ? (int)n : 1, .draws = (int)o->draws,
	};
	s->policies = xcalloc((size_t)s->n_policies, sizeof(*s->policies));
	if (check_request(o, err) || (kinds && simulate_kinds(kinds, &common, err)) ||
	    (o->racks && set_cluster(o, &s->racks, err)))
		return -1;
	for (int i = 0; i < s->n_policies; i++) {
		const char *name = n ? o->policy_names.items[i] : o->racks ? "dally" : "goodput";

		s->policies[i] = common;
		if (set_policy(name, o, &s->policies[i], err))
			return -1;
	}
	return 0;
}

static int simulate_and_show(const struct simulate_options *o, struct err *err)
{
	char *kinds = o->kinds ? xstrdup(o->kinds) : NULL;
	struct output out = output_stdout("auto");
	struct strings workloads = { 0 };
	struct simulations s;
	/* all that can be wrong, before the first simulation takes minutes */
	int rc = set_simulations(o, kinds, &s, err) ||
		 simulate_list_workloads(&o->workloads_read, &workloads, err) ||
		 simulate_check_outputs(o, &workloads, err) ||
		 simulations_run(&s, o->profiles, &workloads, err) ? -1 : 0;

	if (rc == 0 && o->json)
		simulations_print_json(&s, stdout);
	else if (rc == 0)
		simulations_print(&s, &out);
	if (rc == 0)
		rc = write_files(&s, &o->outputs, err);
	simulations_release(&s);
	strings_release(&workloads);
	free(kinds);
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
	strings_release(&o.policy_names);
	options_release(&cmd_simulate, &o);
	return rc;
}

static const char *const headings[] = {
	"profiles", "what is simulated",
	"plans", "plans, and nodes in racks",
	"nodes", "the machines",
	"restart-table", "decisions, and what they cost",
	"knowledge", "what the policy knows",
	"draws", "draws",
	"json", "what is shown and written",
	"generate", "workloads that are made up",
	NULL,
};

const struct command cmd_simulate = {
	.name = "simulate",
	.synopsis = "--profiles DIR --workload FILE [OPTION]... | "
		    "--racks N --workload FILE [OPTION]... | "
		    "--from-store [OPTION]... | --generate DIR [OPTION]...",
	.summary = "run a workload, or one's own jobs, in simulation under any policy",
	.example = "pollux simulate --profiles profiles --workload workload-1.csv\n"
		   "pollux simulate --profiles profiles -w workloads -p goodput,tiresias --json\n"
		   "pollux simulate --from-store --devices 4 -p all\n"
		   "pollux simulate --generate made-up --jobs 1000",
	.common = "profiles workload policy from-store devices nodes gpus-per-node kinds lengths "
		  "draws seed json plot generate",
	.headings = headings,
	.options = simulate_option_specs, .run = main_simulate,
};
