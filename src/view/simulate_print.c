/* simulate_print.c - figures of simulations, for people and for programs. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"

const char *const sim_lengths_names[] = { "unknown", "learned", "known", NULL };
const char *const sim_knowledge_names[] = { "none", "shared", "full", NULL };

/* --- figures of several workloads, and of their draws --- */

#define ALL_FILES (-1)

/* What is shown of one file, or of all files, under a policy: without draws, its figures. */
struct estimate {
	double n_jobs;
	struct sim_figures mean, half;	/* half: of the widths of intervals */
	double ratio, ratio_half;	/* of avg_jct_s to that under the first policy */
};

static int n_draws(const struct simulations *s)
{
	return s->draws ? s->draws : 1;
}

/* Sets the figures of each draw: of a file, or the means of all files. */
static void figures_of_draws(const struct simulations *s, int policy, int file,
			     struct sim_figures *of)
{
	const struct sim_result *results = s->results + (ptrdiff_t)policy * s->n;
	int first = file == ALL_FILES ? 0 : file, n = file == ALL_FILES ? s->n_files : 1;
	struct sim_figures *of_files = xcalloc((size_t)n, sizeof(*of_files));

	for (int d = 0; d < n_draws(s); d++) {
		for (int i = 0; i < n; i++)
			of_files[i] = results[(first + i) * n_draws(s) + d].figures;
		of[d] = sim_figures_mean(of_files, n);
	}
	free(of_files);
}

static struct estimate estimate_of(const struct simulations *s, int policy, int file)
{
	int n = n_draws(s);
	struct sim_figures *of = xcalloc((size_t)n, sizeof(*of)),
		*of_first = xcalloc((size_t)n, sizeof(*of_first));
	double *ratios = xcalloc((size_t)n, sizeof(*ratios)), ratio = 0;
	struct estimate e = { 0 };

	figures_of_draws(s, policy, file, of);
	figures_of_draws(s, 0, file, of_first);
	for (int d = 0; d < n; d++) {
		ratios[d] = of[d].avg_jct_s / of_first[d].avg_jct_s;
		ratio += ratios[d];
	}
	e.mean = sim_figures_mean(of, n);
	e.half = sim_figures_half_width(of, n);
	e.ratio = ratio / n;
	e.ratio_half = half_width(ratios, n);
	for (int i = 0; i < s->n_files; i++)
		if (file == ALL_FILES)
			e.n_jobs += (double)s->files[i].n_jobs / s->n_files;
		else if (i == file)
			e.n_jobs = s->files[i].n_jobs;
	free(of);
	free(of_first);
	free(ratios);
	return e;
}

/* --- people --- */

/* The columns; those of draws and of several policies only where there are such. */
enum {
	NAME, JOBS, MEAN, MEAN_HALF, RATIO, RATIO_HALF, MEDIAN, P99, MAKESPAN, RESTARTS, GPU_HOURS,
	UNFAIR, DECIDE, N_COLUMNS
};
#define NAME_WIDTH 8		/* characters that fit into 80 columns */

static const struct table_column columns[N_COLUMNS] = {
	[NAME] = { .heading = "WORKLOAD", .flexible = true, .min_width = NAME_WIDTH },
	[JOBS] = { .heading = "JOBS", .right = true },
	[MEAN] = { .heading = "MEAN", .right = true },
	[MEAN_HALF] = { .heading = "+-95%", .right = true },
	[RATIO] = { .heading = "RATIO", .right = true },
	[RATIO_HALF] = { .heading = "+-95%", .right = true },
	[MEDIAN] = { .heading = "MEDIAN", .right = true },
	[P99] = { .heading = "P99", .right = true },
	[MAKESPAN] = { .heading = "MAKESPAN", .right = true },
	[RESTARTS] = { .heading = "RESTARTS", .right = true },
	[GPU_HOURS] = { .heading = "GPU-H", .right = true },
	[UNFAIR] = { .heading = "UNFAIR", .right = true },
	[DECIDE] = { .heading = "DECIDE", .right = true },
};

/* A table, and what it has columns for. */
struct figures_table {
	struct table table;
	struct table_column heads[N_COLUMNS];
	bool racks, draws, ratio;
};

static bool has_column(const struct figures_table *f, int k)
{
	return (f->draws || (k != MEAN_HALF && k != RATIO_HALF)) &&
	       (f->ratio || (k != RATIO && k != RATIO_HALF));
}

static void begin_table(struct figures_table *f, const struct simulations *s, bool of_policies)
{
	int n = 0;

	f->racks = s->policies->racks > 0;
	f->draws = s->draws > 0;
	f->ratio = of_policies;
	for (int k = 0; k < N_COLUMNS; k++) {
		if (!has_column(f, k))
			continue;
		f->heads[n] = columns[k];
		if (k == NAME && of_policies)
			f->heads[n].heading = "POLICY";
		/* How long jobs communicated, instead of how fair their shares were. */
		if (f->racks && (k == RESTARTS || k == UNFAIR))
			f->heads[n].heading = k == RESTARTS ? "LEASES" : "COMM";
		/* With the further columns the table may be too wide for a terminal. */
		if ((f->draws || f->ratio) && k >= RESTARTS)
			f->heads[n].leave_out = DECIDE - k + 1;
		n++;
	}
	table_init(&f->table, f->heads, n);
}

static void add_row(struct figures_table *shown, const char *name, const struct estimate *e)
{
	struct table *t = &shown->table;
	const struct sim_figures *f = &e->mean;

	table_text(t, name);
	table_cell(t, "%.0f", e->n_jobs);
	table_cell(t, "%.0f", f->avg_jct_s);
	if (shown->draws)
		table_cell(t, "%.0f", e->half.avg_jct_s);
	if (shown->ratio)
		table_cell(t, "%.3f", e->ratio);
	if (shown->ratio && shown->draws)
		table_cell(t, "%.3f", e->ratio_half);
	table_cell(t, "%.0f", f->median_jct_s);
	table_cell(t, "%.0f", f->p99_jct_s);
	table_duration(t, f->makespan_s);
	table_cell(t, "%.0f", shown->racks ? e->n_jobs + f->restarts : f->restarts);
	table_cell(t, "%.0f", f->gpu_hours);
	if (shown->racks)
		table_cell(t, "%.0f", f->communication_s);
	else
		table_cell(t, "%.0f%%", 100 * f->unfair_fraction);
	table_span(t, f->decide_median_s);
}

const char *sim_policy_name(const struct sim_options *o)
{
	return o->policy ? o->policy->name : o->rack_policy->name;
}

void simulations_add_title(const struct sim_options *o, struct text *t)
{
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
	const char *first = s->files[0].name;
	size_t n = strlen(first);

	for (int i = 1; i < s->n_files; i++) {
		size_t same = 0;

		while (same < n && s->files[i].name[same] == first[same])
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

	for (int i = 0; i < s->n_files; i++)
		if (strlen(s->files[i].name) > longest)
			longest = strlen(s->files[i].name);
	return width > 0 && s->n_files > 1 && longest > NAME_WIDTH ? common_start(s) : 0;
}

static void print_title(const struct simulations *s, const char *title, const struct output *out)
{
	fputs(title, out->file);
	if (s->draws)
		fprintf(out->file, "; %d draws", s->draws);
	fputs("\n\n", out->file);
}

/* A line for each workload. */
static void print_policy(const struct simulations *s, int policy, const struct output *out)
{
	size_t left_out = bytes_left_out(s, out->width);
	struct text title = TEXT_INIT;
	struct figures_table shown;
	struct estimate e;

	simulations_add_title(&s->policies[policy], &title);
	print_title(s, title.data, out);
	text_release(&title);
	begin_table(&shown, s, false);
	for (int i = 0; i < s->n_files; i++) {
		char *name = xasprintf("%s%s", left_out ? ".." : "", s->files[i].name + left_out);

		e = estimate_of(s, policy, i);
		add_row(&shown, name, &e);
		free(name);
	}
	if (s->n_files > 1) {
		e = estimate_of(s, policy, ALL_FILES);
		add_row(&shown, "mean", &e);
		table_style(&shown.table, STYLE_BOLD);
	}
	table_end(&shown.table, out);
}

/* A line for each policy. */
static void print_policies(const struct simulations *s, const struct output *out)
{
	struct figures_table shown;
	char *title = xasprintf("%d policies, compared with %s", s->n_policies,
				sim_policy_name(s->policies));

	print_title(s, title, out);
	free(title);
	begin_table(&shown, s, true);
	for (int p = 0; p < s->n_policies; p++) {
		struct estimate e = estimate_of(s, p, ALL_FILES);

		add_row(&shown, sim_policy_name(&s->policies[p]), &e);
	}
	table_end(&shown.table, out);
}

void simulations_print(const struct simulations *s, const struct output *out)
{
	for (int p = 0; p < s->n_policies; p++) {
		if (p)
			putc('\n', out->file);
		print_policy(s, p, out);
	}
	if (s->n_policies > 1) {
		putc('\n', out->file);
		print_policies(s, out);
	}
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

static void add_interval(struct json *j, const char *key, double mean, double half)
{
	json_array(j, key);
	json_number(j, NULL, mean - half);
	json_number(j, NULL, mean + half);
	json_end(j);
}

static void add_estimate(struct json *j, const struct simulations *s, const struct estimate *e)
{
	const struct sim_figures *f = &e->mean, *half = &e->half;

	add_figures(j, f, s->policies);
	if (s->n_policies > 1)
		json_number(j, "avg_jct_ratio", e->ratio);
	if (!s->draws)
		return;
	json_object(j, "ci95");
	add_interval(j, "avg_jct_s", f->avg_jct_s, half->avg_jct_s);
	add_interval(j, "median_jct_s", f->median_jct_s, half->median_jct_s);
	add_interval(j, "p99_jct_s", f->p99_jct_s, half->p99_jct_s);
	add_interval(j, "makespan_s", f->makespan_s, half->makespan_s);
	add_interval(j, "restarts", f->restarts, half->restarts);
	add_interval(j, "gpu_hours", f->gpu_hours, half->gpu_hours);
	if (s->n_policies > 1)
		add_interval(j, "avg_jct_ratio", e->ratio, e->ratio_half);
	json_end(j);
}

static void add_options(struct json *j, const struct sim_options *o)
{
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

static void add_policy(struct json *j, const struct simulations *s, int policy)
{
	struct estimate e = estimate_of(s, policy, ALL_FILES);

	add_options(j, &s->policies[policy]);
	if (s->draws)
		json_integer(j, "draws", s->draws);
	if (s->draws && (s->policies->racks || s->policies->plans))
		json_integer(j, "seed", (int64_t)s->policies->seed);
	add_estimate(j, s, &e);
	json_array(j, "workloads");
	for (int i = 0; i < s->n_files; i++) {
		e = estimate_of(s, policy, i);
		json_object(j, NULL);
		json_string(j, "name", s->files[i].name);
		json_integer(j, "jobs", s->files[i].n_jobs);
		add_estimate(j, s, &e);
		json_end(j);
	}
	json_end(j);
}

void simulations_print_json(const struct simulations *s, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", 1);
	if (s->n_policies > 1)
		json_array(&j, "policies");
	for (int p = 0; p < s->n_policies; p++) {
		if (s->n_policies > 1)
			json_object(&j, NULL);
		add_policy(&j, s, p);
		if (s->n_policies > 1)
			json_end(&j);
	}
	if (s->n_policies > 1)
		json_end(&j);
	json_end(&j);
}
