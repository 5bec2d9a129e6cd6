/* simulate_print.c - figures of simulations, for people and for programs. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"

const char *const sim_lengths_names[] = { "unknown", "learned", "known", NULL };
const char *const sim_knowledge_names[] = { "none", "shared", "full", NULL };

/* --- people --- */

enum { RESTARTS = 6, UNFAIR = 8 };	/* columns */
#define NAME_WIDTH 8		/* characters that fit into 80 columns */

static const struct table_column columns[] = {
	{ .heading = "WORKLOAD", .flexible = true, .min_width = NAME_WIDTH },
	{ .heading = "JOBS", .right = true }, { .heading = "MEAN", .right = true },
	{ .heading = "MEDIAN", .right = true }, { .heading = "P99", .right = true },
	{ .heading = "MAKESPAN", .right = true }, { .heading = "RESTARTS", .right = true },
	{ .heading = "GPU-H", .right = true }, { .heading = "UNFAIR", .right = true },
	{ .heading = "DECIDE", .right = true },
};

static void add_row(struct table *t, const char *name, double n_jobs, const struct sim_figures *f,
		    bool racks)
{
	table_text(t, name);
	table_cell(t, "%.0f", n_jobs);
	table_cell(t, "%.0f", f->avg_jct_s);
	table_cell(t, "%.0f", f->median_jct_s);
	table_cell(t, "%.0f", f->p99_jct_s);
	table_duration(t, f->makespan_s);
	table_cell(t, "%.0f", racks ? n_jobs + f->restarts : f->restarts);
	table_cell(t, "%.0f", f->gpu_hours);
	if (racks)
		table_cell(t, "%.0f", f->communication_s);
	else
		table_cell(t, "%.0f%%", 100 * f->unfair_fraction);
	table_span(t, f->decide_median_s);
}

const char *sim_policy_name(const struct sim_options *o)
{
	return o->policy ? o->policy->name : o->rack_policy;
}

void simulations_add_title(const struct simulations *s, struct text *t)
{
	const struct sim_options *o = &s->options;

	text_addf(t, "%s on ", sim_policy_name(o));
	if (!o->n_kinds)
		text_addf(t, "%d node%s of %d GPU%s", o->nodes, plural(o->nodes),
			  o->gpus_per_node, plural(o->gpus_per_node));
	for (int k = 0; k < o->n_kinds; k++)
		text_addf(t, "%s%d node%s of %d %s", k ? ", " : "", o->kinds[k].nodes,
			  plural(o->kinds[k].nodes), o->kinds[k].gpus_per_node, o->kinds[k].name);
	if (o->kinds_blind)
		text_add(t, ", which it cannot tell apart");
	if (o->racks) {
		text_addf(t, " in %d rack%s", o->racks, plural(o->racks));
		if (o->timers)
			text_addf(t, "; timers: %s", o->timers);
		if (o->contention)
			text_add(t, "; uplinks are shared");
	} else if (o->policy->models_goodput)
		text_addf(t, "; models: %s, lengths: %s", sim_knowledge_names[o->knowledge],
			  sim_lengths_names[o->lengths]);
	if (o->events)
		text_add(t, "; decides at events");
}

/* The number of bytes that all names begin with, up to the end of a part of the name: "trace-" for
 * "trace-1" and "trace-2". */
static size_t common_start(const struct simulations *s)
{
	const char *first = s->workloads[0].name;
	size_t n = strlen(first);

	for (int i = 1; i < s->n; i++) {
		size_t same = 0;

		while (same < n && s->workloads[i].name[same] == first[same])
			same++;
		n = same;
	}
	while (n > 0 && !strchr("-_. ", first[n - 1]))
		n--;
	return n;
}

/* On a terminal, leaves out the common beginning of long names: only their ends differ. */
static size_t bytes_left_out(const struct simulations *s, int width)
{
	size_t longest = 0;

	for (int i = 0; i < s->n; i++)
		if (strlen(s->workloads[i].name) > longest)
			longest = strlen(s->workloads[i].name);
	return width > 0 && s->n > 1 && longest > NAME_WIDTH ? common_start(s) : 0;
}

void simulations_print(const struct simulations *s, const struct output *out)
{
	struct sim_figures mean = sim_figures_mean(s->results, s->n);
	size_t left_out = bytes_left_out(s, out->width);
	struct text title = TEXT_INIT;
	struct table_column heads[sizeof(columns) / sizeof(columns[0])];
	bool racks = s->options.racks > 0;
	double n_jobs = 0;
	struct table t;

	simulations_add_title(s, &title);
	fprintf(out->file, "%s\n\n", title.data);
	text_release(&title);
	memcpy(heads, columns, sizeof(heads));
	if (racks) {	/* how long jobs communicated, instead of how fair their shares were */
		heads[RESTARTS].heading = "LEASES";
		heads[UNFAIR].heading = "COMM";
	}
	table_begin(&t, heads);
	for (int i = 0; i < s->n; i++) {
		char *name = xasprintf("%s%s", left_out ? ".." : "",
				       s->workloads[i].name + left_out);

		add_row(&t, name, s->workloads[i].n_jobs, &s->results[i].figures,
			racks);
		free(name);
		n_jobs += (double)s->workloads[i].n_jobs / s->n;
	}
	if (s->n > 1) {
		add_row(&t, "mean", n_jobs, &mean, racks);
		table_style(&t, STYLE_BOLD);
	}
	table_end(&t, out);
}

/* --- programs --- */

static void add_figures(struct json *j, const struct sim_figures *f, const struct sim_options *o)
{
	json_number(j, "avg_jct_s", f->avg_jct_s);
	json_number(j, "median_jct_s", f->median_jct_s);
	json_number(j, "p99_jct_s", f->p99_jct_s);
	json_number(j, "makespan_s", f->makespan_s);
	json_number(j, "restarts", f->restarts);
	json_number(j, "gpu_hours", f->gpu_hours);
	json_object(j, "finish_time_fairness");
	json_number(j, "worst", f->worst_fairness);
	json_number(j, "unfair_fraction", f->unfair_fraction);
	json_end(j);
	json_number(j, "rounds", f->rounds);
	json_object(j, "decide_s");
	json_number(j, "median", f->decide_median_s);
	json_number(j, "p95", f->decide_p95_s);
	json_end(j);
	if (o->racks)
		json_number(j, "communication_s", f->communication_s);
	if (o->n_kinds > 1)
		json_number(j, "gap_median", f->gap_median);
	json_number(j, "wall_s", f->wall_s);
}

static void add_options(struct json *j, const struct sim_options *o)
{
	json_integer(j, "schema_version", 1);
	json_string(j, "policy", sim_policy_name(o));
	if (o->n_kinds) {
		json_array(j, "kinds");
		for (int k = 0; k < o->n_kinds; k++) {
			json_object(j, NULL);
			json_string(j, "name", o->kinds[k].name);
			json_integer(j, "nodes", o->kinds[k].nodes);
			json_integer(j, "gpus_per_node", o->kinds[k].gpus_per_node);
			json_end(j);
		}
		json_end(j);
		json_bool(j, "kinds_blind", o->kinds_blind);
	} else {
		json_integer(j, "nodes", o->nodes);
		json_integer(j, "gpus_per_node", o->gpus_per_node);
	}
	if (o->racks) {
		json_integer(j, "racks", o->racks);
		if (o->timers)
			json_string(j, "timers", o->timers);
		json_bool(j, "contention", o->contention);
		json_number(j, "lease_s", o->slice_s);
		json_string(j, "lengths", sim_lengths_names[o->lengths]);
		return;
	}
	json_number(j, "interval_s", o->interval_s);
	json_number(j, "restart_delay_s", o->restart_s);
	json_number(j, "slice_s", o->slice_s);
	json_number(j, "interference", o->interference);
	json_string(j, "knowledge", sim_knowledge_names[o->knowledge]);
	json_string(j, "lengths", sim_lengths_names[o->lengths]);
	json_number(j, "length_spread", o->length_spread);
	json_integer(j, "seed", (int64_t)o->seed);
	json_bool(j, "events", o->events);
}

void simulations_print_json(const struct simulations *s, FILE *out)
{
	struct sim_figures mean = sim_figures_mean(s->results, s->n);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	add_options(&j, &s->options);
	add_figures(&j, &mean, &s->options);
	json_array(&j, "workloads");
	for (int i = 0; i < s->n; i++) {
		json_object(&j, NULL);
		json_string(&j, "name", s->workloads[i].name);
		json_integer(&j, "jobs", s->workloads[i].n_jobs);
		add_figures(&j, &s->results[i].figures, &s->options);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
