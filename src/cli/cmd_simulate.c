/* cmd_simulate.c - pollux simulate: how published or other workloads would have gone under a
 * policy. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/simulate.h"
#include "pollux/simulations.h"
#include "simulate.h"

/* Several policies have a table each, and one picture. */
static int check_several(const struct simulate_options *o, struct err *err)
{
	const char *one = o->json ? "json" : o->plans ? "plans"
		: o->outputs.jobs_csv ? "jobs-csv" : o->outputs.timeline_csv ? "timeline-csv"
		: o->outputs.ends_csv ? "ends-csv" : NULL;

	if (o->policies.count > 1 && one)
		return usage_error(&cmd_simulate, err, "option '--%s' is for one policy", one);
	return 0;
}

static int set_policy(const char *name, const struct simulate_options *o, struct sim_options *sim,
		      struct err *err)
{
	char *names;
	int rc;

	sim->policy = o->plans && !strcmp(name, "rubick") ? &policy_rubick : policy_find(name);
	if (o->plans && sim->policy != &policy_rubick && sim->policy != &policy_goodput)
		return usage_error(&cmd_simulate, err,
				   "option '--plans' goes with the policies goodput and rubick");
	if (sim->policy)
		return 0;
	names = policy_names(false);
	rc = usage_error(&cmd_simulate, err, "no policy '%.60s': %s", name, names);
	free(names);
	return rc;
}

static void set_knowledge(const struct simulate_options *o, struct sim_options *sim)
{
	sim_options_set_knowledge(sim, sim->policy);
	for (int k = 0; o->knowledge && sim_knowledge_names[k]; k++)
		if (!strcmp(o->knowledge, sim_knowledge_names[k]))
			sim->knowledge = (enum sim_knowledge)k;
	if (o->lengths)
		sim->lengths_known = !strcmp(o->lengths, "known");
}

static int check_racks(const char *policy, const struct simulate_options *o,
		       struct sim_options *sim, struct err *err)
{
	struct sim_racks unused;

	sim->racks = (int)o->racks;
	sim->lengths_known = o->lengths && !strcmp(o->lengths, "known");
	sim->slice_s = o->slice_s > 0 ? o->slice_s : RACK_LEASE_S;
	if (!o->workloads_read.count)
		return usage_error(&cmd_simulate, err, "option '--racks': give --workload");
	if (check_several(o, err))
		return -1;
	return simulate_racks_check(sim, &o->tiers, policy, &unused, err);
}

static int check_simulation(const char *policy, const struct simulate_options *o,
			    struct sim_options *sim, struct err *err)
{
	*sim = SIM_OPTIONS_DEFAULT;
	sim->nodes = (int)o->nodes;
	sim->gpus_per_node = (int)o->gpus_per_node;
	sim->interval_s = o->interval_s;
	sim->restart_s = o->restart_s;
	sim->slice_s = o->slice_s > 0 ? o->slice_s : SIM_OPTIONS_DEFAULT.slice_s;
	sim->interference = o->interference;
	sim->events = o->events;
	sim->kinds_blind = o->kinds_blind;
	sim->ends = o->outputs.ends_csv;
	if (o->racks)
		return check_racks(policy, o, sim, err);
	if (!o->profiles || !o->workloads_read.count)
		return usage_error(&cmd_simulate, err,
				   "give --profiles and --workload, or --from-store, or "
				   "--generate");
	if (o->nodes * o->gpus_per_node > SIMULATE_GPUS_MAX)
		return usage_error(&cmd_simulate, err, "%lld GPUs; at most %d can be simulated",
				   (long long)o->nodes * o->gpus_per_node,
				   SIMULATE_GPUS_MAX);
	if (o->kinds_blind && !o->kinds)
		return usage_error(&cmd_simulate, err,
				   "option '--kinds-blind' goes with --kinds");
	if (check_several(o, err) || set_policy(policy, o, sim, err))
		return -1;
	set_knowledge(o, sim);
	return 0;
}

static int draw_simulations(const struct simulations *s, int n, const char *path, struct err *err)
{
	struct text script = TEXT_INIT;
	int rc;

	simulations_plot_script(s, n, picture_format(path), &script);
	rc = picture_draw(script.data, path, err);
	text_release(&script);
	return rc;
}

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

static int read_and_run(struct simulations *s, const struct simulate_options *o, struct err *err)
{
	struct strings workloads;
	int rc;

	strings_init(&workloads);
	rc = simulate_list_workloads(&o->workloads_read, &workloads, err);
	if (rc == 0)
		rc = simulate_check_outputs(&o->outputs, o->profiles, &workloads, err);
	if (rc == 0)
		rc = o->plans ? simulate_plans(&s->options, o->profiles, &workloads, o->json, err)
			      : simulations_run(s, o->profiles, &workloads, err);
	strings_release(&workloads);
	return rc;
}

/* Checks that neither tables nor workloads are written over. */
static int check_rack_outputs(const struct simulate_options *o, const struct strings *workloads,
			      struct err *err)
{
	const char *tables[] = { o->tiers.tiers, o->tiers.links, o->tiers.models };
	struct strings read;
	int rc;

	strings_init(&read);
	for (int i = 0; i < 3; i++)
		if (tables[i])
			strings_add(&read, tables[i]);
	for (size_t i = 0; i < workloads->count; i++)
		strings_add(&read, workloads->items[i]);
	rc = simulate_check_outputs(&o->outputs, NULL, &read, err);
	strings_release(&read);
	return rc;
}

static int simulate_racks(struct simulations *s, const char *policy,
			  const struct simulate_options *o, struct err *err)
{
	struct strings workloads;
	struct sim_racks tiers;
	int rc = check_simulation(policy, o, &s->options, err);

	if (rc || simulate_racks_check(&s->options, &o->tiers, policy, &tiers, err))
		return -1;
	strings_init(&workloads);
	rc = simulate_list_workloads(&o->workloads_read, &workloads, err);
	if (rc == 0)
		rc = check_rack_outputs(o, &workloads, err);
	if (rc == 0)
		rc = simulate_racks_run(s, &o->tiers, &tiers, &workloads, err);
	if (rc == 0)
		rc = show_simulations(s, o, err);
	strings_release(&workloads);
	sim_racks_release(&tiers);
	return rc;
}

/* kinds: owned by the caller, and used by s as long as s is. */
static int simulate_one(struct simulations *s, const char *policy, const struct simulate_options *o,
			char *kinds, struct err *err)
{
	if (o->racks)
		return simulate_racks(s, policy, o, err);
	s->restart_table = o->restart_table;
	s->slowdown_table = o->slowdown_table;
	if (check_simulation(policy, o, &s->options, err) ||
	    (kinds && simulate_kinds(kinds, &s->options, err)) || read_and_run(s, o, err))
		return -1;
	return o->plans ? 0 : show_simulations(s, o, err);
}

static const char *policy_at(const struct simulate_options *o, int i)
{
	return o->policies.count ? o->policies.items[i] : o->racks ? "dally" : "goodput";
}

static int simulate_and_show(const struct simulate_options *o, struct err *err)
{
	int n = o->policies.count ? (int)o->policies.count : 1, rc = 0;
	struct simulations *s = xcalloc((size_t)n, sizeof(*s));
	char **kinds = xcalloc((size_t)n, sizeof(*kinds));

	/* before the first one takes minutes */
	for (int i = 0; rc == 0 && i < n; i++)
		rc = check_simulation(policy_at(o, i), o, &s[i].options, err);
	for (int i = 0; rc == 0 && i < n; i++) {
		kinds[i] = o->kinds ? xstrdup(o->kinds) : NULL;
		if (i)
			putchar('\n');
		rc = simulate_one(&s[i], policy_at(o, i), o, kinds[i], err);
	}
	if (rc == 0 && o->outputs.plot)
		rc = draw_simulations(s, n, o->outputs.plot, err);
	for (int i = 0; i < n; i++) {
		simulations_release(&s[i]);
		free(kinds[i]);
	}
	free(kinds);
	free(s);
	return rc;
}

static int from_store(const struct simulate_options *o, struct err *err)
{
	struct history_request q = {
		.policies = &o->policies, .devices = (int)o->devices, .interval_s = o->interval_s,
		.slice_s = o->slice_s, .json = o->json, .plot = o->outputs.plot,
	};

	return simulate_history(&q, err);
}

static int generate(const struct simulate_options *o, struct err *err)
{
	struct sim_generation g = {
		.n_jobs = (int)o->jobs, .n_workloads = (int)o->workloads, .seconds = o->span_s,
		.gpus_per_node = (int)o->gpus_per_node, .seed = (uint64_t)o->seed,
	};

	if (o->gpus_per_node > SIM_GENERATE_GPUS_MAX)
		return usage_error(&cmd_simulate, err,
				   "option '--gpus-per-node': made-up profiles have a digit for "
				   "the GPUs of a node, so %d at most", SIM_GENERATE_GPUS_MAX);
	return simulate_generate(o->generate, &g, err);
}

static int main_simulate(int argc, char **argv, struct err *err)
{
	struct simulate_options o;
	int rc = simulate_options_parse(argc, argv, &o, err);

	if (rc == 0)
		rc = o.from_store ? from_store(&o, err)
			: o.generate ? generate(&o, err) : simulate_and_show(&o, err);
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
