/* cmd_simulate.c - pollux simulate: how published or other workloads would have gone under a
 * policy. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "pollux/mem.h"
#include "pollux/picture.h"
#include "pollux/sim_generate.h"
#include "pollux/simulations.h"
#include "simulate.h"

struct simulate_options {
	const char *profiles, *knowledge, *lengths;
	const char *generate, *kinds, *restart_table, *slowdown_table;
	struct simulate_outputs outputs;
	struct text_list policies, workloads_read;
	struct simulate_tiers tiers;
	int64_t racks, nodes, gpus_per_node, jobs, workloads, seed, devices;
	double interval_s, interference, restart_s, slice_s, span_s;
	bool json, from_store, events, kinds_blind, plans;
};

static const char *const lengths[] = { "unknown", "known", NULL };

static const struct option_spec options[] = {
#define O(field) .offset = offsetof(struct simulate_options, field)
	{ "profiles", 0, OPTION_TEXT, "DIR", O(profiles), 0, 0,
	  "what was measured: a directory for each application" },
	{ "workload", 'w', OPTION_LIST, "FILE", O(workloads_read), 0, 0,
	  "the jobs, or a directory of such files; may be given several times" },
	{ "policy", 'p', OPTION_LIST, "NAME", O(policies), 0, 0,
	  "one of" POLICY_NAMES "; default: goodput; may be given several times; with --racks"
	  TIER_POLICY_NAMES ", default: dally" },
	{ "from-store", 0, OPTION_FLAG, NULL, O(from_store), 0, 0,
	  "this machine's own jobs instead; --policy may also be 'all'" },
	{ "devices", 0, OPTION_INT, "N", O(devices), 1, 1024,
	  "with --from-store: on so many; default: as many as there are" },
	{ "plans", 0, OPTION_FLAG, NULL, O(plans), 0, 0,
	  "the files are those of Rubick: policies goodput, rubick choose plan and GPUs" },
	{ "racks", 0, OPTION_INT, "N", O(racks), 1, 10000,
	  "the nodes stand in so many racks; how GPUs are joined matters" },
	{ "tiers", 0, OPTION_TEXT, "FILE", O(tiers.tiers), 0, 0,
	  "with --racks: what applications make of a machine, a rack, the network" },
	{ "links", 0, OPTION_TEXT, "FILE", O(tiers.links), 0, 0,
	  "with --racks and --models: the links of each tier, instead of --tiers" },
	{ "models", 0, OPTION_TEXT, "FILE", O(tiers.models), 0, 0,
	  "with --racks and --links: what applications exchange" },
	{ "timers", 0, OPTION_TEXT, "WHEN", O(tiers.timers), 0, 0,
	  "with --racks: auto, inf, or the leases until a rack and until any will do, as 6,12; "
	  "default: auto" },
	{ "contention", 0, OPTION_FLAG, NULL, O(tiers.contention), 0, 0,
	  "with --racks: the jobs that cross an uplink share it" },
	{ "nodes", 'n', OPTION_INT, "N", O(nodes), 1, 10000,
	  "default: 16; with --plans or --racks 8" },
	{ "gpus-per-node", 'g', OPTION_INT, "N", O(gpus_per_node), 1, 1000,
	  "default: 4; with --plans or --racks 8" },
	{ "kinds", 0, OPTION_TEXT, "LIST", O(kinds), 0, 0,
	  "nodes of several kinds of GPU, as t4:6x4,a100:2x8: 6 nodes of 4, 2 of 8" },
	{ "kinds-blind", 0, OPTION_FLAG, NULL, O(kinds_blind), 0, 0,
	  "with --kinds: the policy cannot tell the kinds apart" },
	{ "restart-table", 0, OPTION_TEXT, "FILE", O(restart_table), 0, 0,
	  "the time lost at each start, by application" },
	{ "slowdown-table", 0, OPTION_TEXT, "FILE", O(slowdown_table), 0, 0,
	  "by how much the applications are slower than their profiles" },
	{ "interval", 'i', OPTION_DURATION, "TIME", O(interval_s), 1, 86400,
	  "from one decision to the next; default: 60 s" },
	{ "events", 0, OPTION_FLAG, NULL, O(events), 0, 0,
	  "decide also when a job ends, comes or has been measured" },
	{ "restart-delay", 0, OPTION_DURATION, "TIME", O(restart_s), 0, 86400,
	  "lost at each start of a job; default: 30 s; with --plans 260 s" },
	{ "slice", 0, OPTION_DURATION, "TIME", O(slice_s), 1, 1e7,
	  "of the policies that have slices; default: 10 minutes; with --racks the lease, 1 hour" },
	{ "interference", 0, OPTION_NUMBER, "F", O(interference), 0, 0.99,
	  "part of its goodput that a job loses; default: 0" },
	{ "knowledge", 'k', OPTION_CHOICE, "WHAT", O(knowledge), 0, 0,
	  "models of each job (none), its application (shared), all (full); default: full for "
	  "optimus and srtf, else none", .choices = sim_knowledge_names },
	{ "lengths", 'l', OPTION_CHOICE, "WHAT", O(lengths), 0, 0,
	  "whether the policy knows what work remains: unknown or known; default: known for "
	  "optimus and srtf, else unknown", .choices = lengths },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "jobs-csv", 0, OPTION_TEXT, "FILE", O(outputs.jobs_csv), 0, 0,
	  "also write when each job ran" },
	{ "timeline-csv", 0, OPTION_TEXT, "FILE", O(outputs.timeline_csv), 0, 0,
	  "also write each decision" },
	{ "ends-csv", 0, OPTION_TEXT, "FILE", O(outputs.ends_csv), 0, 0,
	  "also write when each job was told to end" },
	{ "plot", 0, OPTION_PICTURE, "FILE", O(outputs.plot), 0, 0,
	  "also draw completion times and use, all policies in one: FILE.svg or .png" },
	{ "generate", 0, OPTION_TEXT, "DIR", O(generate), 0, 0,
	  "make up profiles and workloads there instead; DIR must not exist" },
	{ "jobs", 0, OPTION_INT, "N", O(jobs), 1, 1000000,
	  "with --generate: of each workload; default: 160" },
	{ "workloads", 0, OPTION_INT, "N", O(workloads), 1, 10000,
	  "with --generate: how many; default: 1" },
	{ "span", 0, OPTION_DURATION, "TIME", O(span_s), 1, 1e9,
	  "with --generate: that the submissions take, about; default: 8 hours" },
	{ "seed", 0, OPTION_INT, "N", O(seed), 0, 9e15,
	  "with --generate: of all that is drawn; default: 0" },
	{ .name = NULL },
#undef O
};

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
	struct sim_tiers unused;

	sim->racks = (int)o->racks;
	sim->lengths_known = o->lengths && !strcmp(o->lengths, "known");
	sim->slice_s = o->slice_s > 0 ? o->slice_s : TIER_LEASE_S;
	if (!o->workloads_read.count)
		return usage_error(&cmd_simulate, err, "option '--racks': give --workload");
	if (check_several(o, err))
		return -1;
	return simulate_tiers_check(sim, &o->tiers, policy, &unused, err);
}

static int check(const char *policy, const struct simulate_options *o, struct sim_options *sim,
		 struct err *err)
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

static int draw(const struct simulations *s, int n, const char *path, struct err *err)
{
	struct text script = TEXT_INIT;
	int rc;

	simulations_plot_script(s, n, picture_format(path), &script);
	rc = picture_draw(script.data, path, err);
	text_release(&script);
	return rc;
}

static int show(const struct simulations *s, const struct simulate_options *o, struct err *err)
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
	struct sim_tiers tiers;
	int rc = check(policy, o, &s->options, err);

	if (rc || simulate_tiers_check(&s->options, &o->tiers, policy, &tiers, err))
		return -1;
	strings_init(&workloads);
	rc = simulate_list_workloads(&o->workloads_read, &workloads, err);
	if (rc == 0)
		rc = check_rack_outputs(o, &workloads, err);
	if (rc == 0)
		rc = simulate_tiers_run(s, &o->tiers, &tiers, &workloads, err);
	if (rc == 0)
		rc = show(s, o, err);
	strings_release(&workloads);
	sim_tiers_release(&tiers);
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
	if (check(policy, o, &s->options, err) ||
	    (kinds && simulate_kinds(kinds, &s->options, err)) || read_and_run(s, o, err))
		return -1;
	return o->plans ? 0 : show(s, o, err);
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
		rc = check(policy_at(o, i), o, &s[i].options, err);
	for (int i = 0; rc == 0 && i < n; i++) {
		kinds[i] = o->kinds ? xstrdup(o->kinds) : NULL;
		if (i)
			putchar('\n');
		rc = simulate_one(&s[i], policy_at(o, i), o, kinds[i], err);
	}
	if (rc == 0 && o->outputs.plot)
		rc = draw(s, n, o->outputs.plot, err);
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

/* --- which of the three --- */

static const char *const generate_options[] = {
	"generate", "jobs", "workloads", "span", "seed", "gpus-per-node", NULL
};
static const char *const store_options[] = {
	"from-store", "devices", "policy", "interval", "slice", "json", "plot", NULL
};
static const char *const plan_options[] = {
	"plans", "profiles", "workload", "policy", "nodes", "gpus-per-node", "interval",
	"restart-delay", "slice", "lengths", "json", NULL
};
static const char *const rack_options[] = {
	"racks", "workload", "policy", "nodes", "gpus-per-node", "tiers", "links", "models",
	"timers", "contention", "slice", "lengths", "json", "jobs-csv", "timeline-csv", "plot", NULL
};
static const char *const run_options[] = {
	"profiles", "workload", "policy", "nodes", "gpus-per-node", "kinds", "kinds-blind",
	"restart-table", "slowdown-table", "interval", "restart-delay",
	"events", "slice", "interference", "knowledge", "lengths", "json", "jobs-csv",
	"timeline-csv", "ends-csv", "plot", NULL
};

static bool is_among(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Refuse options that would have no effect. */
static int check_given(const struct simulate_options *o, int argc, char **argv, struct err *err)
{
	const char *const *own = o->from_store ? store_options
				 : o->generate ? generate_options
				 : o->plans ? plan_options
				 : o->racks ? rack_options
					    : run_options;
	const char *other = options_given_but(&cmd_simulate, argc, argv, own);

	if (!other)
		return 0;
	if (own == run_options)
		return usage_error(&cmd_simulate, err, "option '--%s' goes with --%s", other,
				   strcmp(other, "devices") == 0 ? "from-store"
				   : is_among(other, rack_options) ? "racks" : "generate");
	return usage_error(&cmd_simulate, err, "option '--%s' does not go with --%s", other,
			   own[0]);
}

/* The published clusters, and times of a restart. */
static void set_defaults(struct simulate_options *o)
{
	if (!o->nodes)
		o->nodes = o->plans || o->racks ? 8 : SIM_OPTIONS_DEFAULT.nodes;
	if (!o->gpus_per_node)
		o->gpus_per_node = o->plans || o->racks ? 8 : SIM_OPTIONS_DEFAULT.gpus_per_node;
	if (o->restart_s < 0)
		o->restart_s = o->plans ? 260 : SIM_OPTIONS_DEFAULT.restart_s;
}

static int main_simulate(int argc, char **argv, struct err *err)
{
	struct simulate_options o = {
		.interval_s = SIM_OPTIONS_DEFAULT.interval_s, .restart_s = -1,
		.jobs = 160, .workloads = 1, .span_s = 8 * 3600,
	};
	int first, rc = options_parse(&cmd_simulate, argc, argv, &o, &first, err);

	set_defaults(&o);
	if (rc == 0 && first < argc)
		rc = usage_error(&cmd_simulate, err, "simulate takes no argument, not '%.60s'",
				 argv[first]);
	if (rc == 0)
		rc = check_given(&o, argc, argv, err);
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
	.options = options, .run = main_simulate,
};
