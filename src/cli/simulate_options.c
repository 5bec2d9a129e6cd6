/* simulate_options.c - the options of 'pollux simulate', and the files that they name. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "simulate.h"

static int is_csv(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && *entry->d_name != '.' && strcmp(entry->d_name + n - 4, ".csv") == 0;
}

int simulate_list_workloads(const struct text_list *given, struct strings *paths, struct err *err)
{
	for (size_t i = 0; i < given->count; i++) {
		const char *path = given->items[i];
		struct dirent **entries;
		struct stat st;
		int n;

		if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
			strings_add(paths, path);
			continue;
		}
		n = scandir(path, &entries, is_csv, versionsort);	/* 2 before 10 */
		if (n < 0)
			return err_set(err, EX_NOINPUT, "cannot read '%s': %s", path,
				       strerror(errno));
		for (int k = 0; k < n; k++) {
			strings_addf(paths, "%s/%s", path, entries[k]->d_name);
			free(entries[k]);
		}
		free(entries);
		if (n == 0)
			return err_set(err, EX_NOINPUT, "no workload in '%s': a file whose name "
				       "ends in '.csv'", path);
	}
	return 0;
}

/* Adds all files in the directories of the applications, whether they are read or not. */
static void list_profiles(const char *directory, int depth, struct strings *files)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path = xasprintf("%s/%s", directory, entry->d_name);

		if (depth == 0)
			strings_add(files, path);
		else if (*entry->d_name != '.')
			list_profiles(path, depth - 1, files);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static int check_outputs(const struct simulate_outputs *o, const struct strings *read,
			 struct err *err)
{
	static const char *const options[] = {
		"jobs-csv", "timeline-csv", "ends-csv", "cdf-csv", "plot"
	};
	const char *const paths[] = {
		o->jobs_csv, o->timeline_csv, o->ends_csv, o->cdf_csv, o->plot
	};

	for (int i = 0; i < 5; i++) {
		if (!paths[i])
			continue;
		for (size_t k = 0; k < read->count; k++)
			if (file_same(paths[i], read->items[k]))
				return usage_error(&cmd_simulate, err,
						   "option '--%s' would overwrite '%s', which is "
						   "read", options[i], read->items[k]);
		for (int k = 0; k < i; k++)
			if (paths[k] && file_same(paths[k], paths[i]))
				return usage_error(&cmd_simulate, err, "options '--%s' and '--%s' "
						   "would write to one file, '%s'", options[k],
						   options[i], paths[i]);
		if (file_check(paths[i], err))
			return -1;
	}
	return o->plot ? picture_check(o->plot, err) : 0;
}

int simulate_check_outputs(const struct simulate_options *o, const struct strings *workloads,
			   struct err *err)
{
	const char *const tables[] = { o->restart_table, o->slowdown_table, o->tiers, o->links,
				       o->models };
	struct strings read = { 0 };
	int rc;

	for (int i = 0; i < 5; i++)
		if (tables[i])
			strings_add(&read, tables[i]);
	for (size_t i = 0; i < workloads->count; i++)
		strings_add(&read, workloads->items[i]);
	if (o->profiles)
		list_profiles(o->profiles, 1, &read);
	rc = check_outputs(&o->outputs, &read, err);
	strings_release(&read);
	return rc;
}

/* --- the kinds of GPU of pollux simulate --kinds --- */

/* Cuts the item, "a100:2x8", into its parts; leaves another one whole. */
static bool read_kind(char *item, struct sim_kind *kind)
{
	char *colon = strchr(item, ':'), *x = colon ? strchr(colon, 'x') : NULL;
	int64_t nodes, gpus;

	if (!x || colon == item || strchr(item, '/'))
		return false;
	*colon = *x = '\0';
	if (number_parse_int(colon + 1, &nodes) == 0 && number_parse_int(x + 1, &gpus) == 0 &&
	    nodes >= 1 && nodes <= SIMULATE_GPUS_MAX && gpus >= 1 && gpus <= SIMULATE_GPUS_MAX) {
		*kind = (struct sim_kind){ item, (int)nodes, (int)gpus };
		return true;
	}
	*colon = ':';
	*x = 'x';
	return false;
}

int simulate_kinds(char *list, struct sim_options *o, struct err *err)
{
	int64_t gpus = 0;

	for (char *item = list, *next; item; item = next) {
		struct sim_kind *kind = &o->kinds[o->n_kinds];

		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		if (o->n_kinds == SCHED_KINDS)
			return usage_error(&cmd_simulate, err, "option '--kinds': at most %d kinds",
					   SCHED_KINDS);
		if (!read_kind(item, kind))
			return usage_error(&cmd_simulate, err, "option '--kinds': '%.60s' is not "
					   "KIND:NODESxGPUS, such as a100:2x8", item);
		for (int k = 0; k < o->n_kinds; k++)
			if (strcmp(o->kinds[k].name, kind->name) == 0)
				return usage_error(&cmd_simulate, err,
						   "option '--kinds': '%.60s' comes twice",
						   kind->name);
		o->n_kinds++;
		gpus += (int64_t)kind->nodes * kind->gpus_per_node;
	}
	if (gpus > SIMULATE_GPUS_MAX)
		return usage_error(&cmd_simulate, err, "%lld GPUs; at most %d can be simulated",
				   (long long)gpus, SIMULATE_GPUS_MAX);
	return 0;
}

const struct option_spec simulate_option_specs[] = {
#define O(field) .offset = offsetof(struct simulate_options, field)
	{ "profiles", 0, OPTION_TEXT, "DIR", O(profiles), 0, 0,
	  "what was measured: a directory for each application" },
	{ "workload", 'w', OPTION_LIST, "FILE", O(workloads_read), 0, 0,
	  "the jobs, or a directory of such files; may be given several times" },
	{ "policy", 'p', OPTION_LIST, "NAME", O(policies), 0, 0,
	  "one of" POLICY_NAMES "; default: goodput; several as goodput,fifo; with --racks"
	  RACK_POLICY_NAMES ", default: dally" },
	{ "from-store", 0, OPTION_FLAG, NULL, O(from_store), 0, 0,
	  "this machine's own jobs instead; --policy may also be 'all'" },
	{ "since", 0, OPTION_DURATION, "TIME", O(since_s), 1, 1e10,
	  "with --from-store: only jobs submitted in the last TIME" },
	{ "devices", 0, OPTION_INT, "N", O(devices), 1, 1024,
	  "with --from-store: on so many; default: as many as there are" },
	{ "plans", 0, OPTION_FLAG, NULL, O(plans), 0, 0,
	  "the files are those of Rubick: policies goodput, rubick choose plan and GPUs" },
	{ "racks", 0, OPTION_INT, "N", O(racks), 1, 10000,
	  "the nodes stand in so many racks; how GPUs are joined matters" },
	{ "tiers", 0, OPTION_TEXT, "FILE", O(tiers), 0, 0,
	  "with --racks: what applications make of a machine, a rack, the network" },
	{ "links", 0, OPTION_TEXT, "FILE", O(links), 0, 0,
	  "with --racks and --models: the links of each tier, instead of --tiers" },
	{ "models", 0, OPTION_TEXT, "FILE", O(models), 0, 0,
	  "with --racks and --links: what applications exchange" },
	{ "timers", 0, OPTION_TEXT, "WHEN", O(timers), 0, 0,
	  "with --racks: auto, inf, or the leases until a rack and until any will do, as 6,12; "
	  "default: auto" },
	{ "contention", 0, OPTION_FLAG, NULL, O(contention), 0, 0,
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
	  "whether the policy knows what work remains: unknown, learned from the jobs of the "
	  "application that ended, or known; default: known for optimus and srtf, else unknown",
	  .choices = sim_lengths_names },
	{ "length-spread", 0, OPTION_NUMBER, "S", O(length_spread), 0, 3,
	  "each job's length is its application's, times a lognormal factor with this deviation "
	  "of its logarithm; default: 0" },
	{ "draws", 0, OPTION_INT, "N", O(draws), 2, 1000,
	  "so many of each workload, with other times between submissions: means, and how far "
	  "they are certain" },
	{ "json", 'j', OPTION_FLAG, NULL, O(json), 0, 0, "print JSON" },
	{ "jobs-csv", 0, OPTION_TEXT, "FILE", O(outputs.jobs_csv), 0, 0,
	  "also write when each job ran" },
	{ "timeline-csv", 0, OPTION_TEXT, "FILE", O(outputs.timeline_csv), 0, 0,
	  "also write each decision" },
	{ "ends-csv", 0, OPTION_TEXT, "FILE", O(outputs.ends_csv), 0, 0,
	  "also write when each job was told to end" },
	{ "cdf-csv", 0, OPTION_TEXT, "FILE", O(outputs.cdf_csv), 0, 0,
	  "also write which part of the jobs took how long at most" },
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
	  "with --generate, --length-spread or --draws: of all that is drawn; default: 0" },
	{ .name = NULL },
};

/* --- which options go together --- */

static const char *const generate_options[] = {
	"generate", "jobs", "workloads", "span", "seed", "gpus-per-node", NULL
};
static const char *const store_options[] = {
	"from-store", "since", "devices", "policy", "interval", "slice", "json", "plot", NULL
};
/* Those of simulations begin with "seed", which has an effect only where something is drawn. */
static const char *const plan_options[] = {
	"seed", "plans", "profiles", "workload", "policy", "nodes", "gpus-per-node", "interval",
	"restart-delay", "slice", "lengths", "draws", "json", "jobs-csv", "timeline-csv", "cdf-csv",
	NULL
};
static const char *const rack_options[] = {
	"seed", "racks", "workload", "policy", "nodes", "gpus-per-node", "tiers", "links", "models",
	"timers", "contention", "slice", "lengths", "draws", "json", "jobs-csv", "timeline-csv",
	"cdf-csv", "plot", NULL
};
static const char *const run_options[] = {
	"seed", "profiles", "workload", "policy", "nodes", "gpus-per-node", "kinds", "kinds-blind",
	"restart-table", "slowdown-table", "interval", "restart-delay",
	"events", "slice", "interference", "knowledge", "lengths", "length-spread", "draws", "json",
	"jobs-csv", "timeline-csv", "ends-csv", "cdf-csv", "plot", NULL
};

/* The options without which another has no effect. */
static const char *needed_for(const char *option)
{
	if (strcmp(option, "devices") == 0 || strcmp(option, "since") == 0)
		return "from-store";
	return text_is_among(option, rack_options) ? "racks" : "generate";
}

/* Refuse options that would have no effect. */
static int check_given(const struct simulate_options *o, int argc, char **argv, struct err *err)
{
	bool drawn = o->draws > 0 || o->length_spread > 0;
	const char *const *world = o->plans ? plan_options : o->racks ? rack_options : run_options;
	const char *const *own = o->from_store ? store_options : o->generate ? generate_options
		: drawn ? world : world + 1;
	const char *other = options_given_but(&cmd_simulate, argc, argv, own);

	if (!other)
		return 0;
	if (!o->from_store && !o->generate && strcmp(other, "seed") == 0)
		return usage_error(&cmd_simulate, err, "option '--seed' goes with --draws%s",
				   world == run_options ? ", --length-spread or --generate" : "");
	if (o->from_store || o->generate || o->plans || o->racks)
		return usage_error(&cmd_simulate, err, "option '--%s' does not go with --%s", other,
				   o->from_store || o->generate ? own[0] : world[1]);
	return usage_error(&cmd_simulate, err, "option '--%s' goes with --%s", other,
			   needed_for(other));
}

/* "goodput,fifo" */
static int cut_names(const char *list, struct strings *names, struct err *err)
{
	char *copy = xstrdup(list), *rest = copy, *name;
	int rc = 0;

	while ((name = strsep(&rest, ",")) && rc == 0) {
		strings_add(names, name);
		if (!*name || strpbrk(name, " \t\n;"))
			rc = usage_error(&cmd_simulate, err, "option '--policy' takes names with "
					 "commas alone between them, such as goodput,fifo, "
					 "not '%.60s'", list);
	}
	free(copy);
	return rc;
}

int simulate_options_parse(int argc, char **argv, struct simulate_options *o, struct err *err)
{
	bool is_published;
	int first;

	*o = (struct simulate_options){
		.interval_s = SIM_OPTIONS_DEFAULT.interval_s, .restart_s = -1,
		.jobs = 160, .workloads = 1, .span_s = 8 * 3600,
	};
	if (options_parse(&cmd_simulate, argc, argv, o, &first, err))
		return -1;
	for (size_t i = 0; i < o->policies.count; i++)
		if (cut_names(o->policies.items[i], &o->policy_names, err))
			return -1;
	/* the clusters, and times of a restart */
	is_published = o->plans || o->racks;
	if (!o->nodes)
		o->nodes = is_published ? 8 : SIM_OPTIONS_DEFAULT.nodes;
	if (!o->gpus_per_node)
		o->gpus_per_node = is_published ? 8 : SIM_OPTIONS_DEFAULT.gpus_per_node;
	if (o->restart_s < 0)
		o->restart_s = o->plans ? 260 : SIM_OPTIONS_DEFAULT.restart_s;
	if (first < argc)
		return usage_error(&cmd_simulate, err, "simulate takes no argument, not '%.60s'",
				   argv[first]);
	return check_given(o, argc, argv, err);
}
