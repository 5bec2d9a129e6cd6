/* simulate_csv.c - what simulations write as comma-separated values (RFC 4180). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/file.h"
#include "pollux/mem.h"

/* Columns of all files but that of completion times: the policy, and which draw of the workload. */
#define RUN_COLUMNS ",policy,draw"

static void add_run(struct text *t, const struct simulations *s, int run)
{
	text_add(t, ",");
	csv_add(t, sim_policy_name(&s->policies[run / s->n]));
	text_add(t, ",");
	if (s->draws)
		text_addf(t, "%d", run % s->n % s->draws + 1);
}

/* Writes a file: its heading, and the rows of each run. */
static int write_runs(const struct simulations *s, const char *path, const char *heading,
		      void (*add_rows)(struct text *t, const struct simulations *s, int run),
		      struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_addf(&t, "%s\n", heading);
	for (int run = 0; run < s->n_runs; run++)
		add_rows(&t, s, run);
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}

static void add_jobs(struct text *t, const struct simulations *s, int run)
{
	const struct sim_result *r = &s->results[run];

	for (int i = 0; i < r->workload->n_jobs; i++) {
		const struct sim_job_result *job = &r->jobs[i];

		csv_add(t, job->name);
		text_addf(t, ",%.15g,%.15g,%.15g,%d,", job->submit_s, job->start_s, job->finish_s,
			  job->restarts);
		csv_add(t, r->workload->name);
		text_add(t, ",");
		csv_add(t, job->application);
		text_addf(t, ",%.15g,%.15g", job->gpu_hours, job->fairness);
		add_run(t, s, run);
		text_add(t, "\n");
	}
}

int simulations_write_jobs(const struct simulations *s, const char *path, struct err *err)
{
	return write_runs(s, path, "name,submit,start,finish,restarts,workload,application,"
			  "gpu_hours,rho" RUN_COLUMNS, add_jobs, err);
}

/* --- which GPUs a job has --- */

/* The GPUs of the cluster, numbered from 0 on each node. A simulation gives a job a number of GPUs
 * of a node: the job keeps those that it has, and takes the first free ones for what it lacks. */
struct gpus {
	int *first;			/* owned; of each node: its first GPU, of all nodes' */
	int *job, *before;		/* owned; of each GPU; -1: it is free */
	int n;
};

static int add_nodes(struct gpus *g, int n_nodes, int nodes, int gpus_per_node)
{
	for (int i = 0; i < nodes; i++) {
		g->first = xgrow(g->first, n_nodes, sizeof(*g->first));
		g->first[n_nodes++] = g->n;
		g->n += gpus_per_node;
	}
	return n_nodes;
}

static struct gpus gpus_of(const struct sim_options *o)
{
	struct gpus g = { 0 };
	int n_nodes = 0;

	for (int k = 0; k < o->n_kinds; k++)
		n_nodes = add_nodes(&g, n_nodes, o->kinds[k].nodes, o->kinds[k].gpus_per_node);
	if (!o->n_kinds)
		n_nodes = add_nodes(&g, n_nodes, o->nodes, o->gpus_per_node);
	add_nodes(&g, n_nodes, 1, 0);	/* the end of the last node */
	g.job = xcalloc((size_t)g.n, sizeof(*g.job));
	g.before = xcalloc((size_t)g.n, sizeof(*g.before));
	for (int i = 0; i < g.n; i++)
		g.job[i] = -1;
	return g;
}

static void gpus_release(struct gpus *g)
{
	free(g->first);
	free(g->job);
	free(g->before);
}

/* Gives each job what it has after a decision, held[0..n). */
static void give_gpus(struct gpus *g, const struct sim_held *held, int n)
{
	int *before = g->job, *lacks = xcalloc((size_t)n, sizeof(*lacks));

	g->job = g->before;
	g->before = before;
	for (int i = 0; i < g->n; i++)
		g->job[i] = -1;
	for (int k = 0; k < n; k++) {
		lacks[k] = held[k].gpus;
		for (int i = g->first[held[k].node]; i < g->first[held[k].node + 1]; i++)
			if (lacks[k] && g->job[i] < 0 && before[i] == held[k].job) {
				g->job[i] = held[k].job;
				lacks[k]--;
			}
	}
	for (int k = 0; k < n; k++)
		for (int i = g->first[held[k].node]; lacks[k]; i++)
			if (g->job[i] < 0) {
				g->job[i] = held[k].job;
				lacks[k]--;
			}
	free(lacks);
}

/* Adds the name so that it can be told from what stands around it. */
static void add_job_name(struct text *t, const char *name)
{
	for (; *name; name++)
		text_addf(t, strchr(" ;%", *name) ? "%%%02X" : "%c", *name);
}

/* Adds " 2:0-3": these GPUs of the node. */
static void add_gpus(struct text *t, const struct gpus *g, const struct sim_held *held)
{
	int first = g->first[held->node], end = g->first[held->node + 1];

	for (int i = first, to; i < end; i = to) {
		to = i + 1;
		if (g->job[i] != held->job)
			continue;
		while (to < end && g->job[to] == held->job)
			to++;
		text_addf(t, " %d:%d", held->node, i - first);
		if (to - i > 1)
			text_addf(t, "-%d", to - 1 - first);
	}
}

/* Adds "a 0:0-3 2:1;b 2:0". */
static void add_placements(struct text *t, const struct gpus *g, const struct sim_result *r,
			   const struct sim_held *held, int n)
{
	struct text cell = TEXT_INIT;

	for (int k = 0; k < n; k++) {
		if (k == 0 || held[k].job != held[k - 1].job) {
			text_add(&cell, k ? ";" : "");
			add_job_name(&cell, r->jobs[held[k].job].name);
		}
		add_gpus(&cell, g, &held[k]);
	}
	csv_add(t, cell.data);
	text_release(&cell);
}

static void add_rounds(struct text *t, const struct simulations *s, int run)
{
	const struct sim_result *result = &s->results[run];
	struct gpus gpus = gpus_of(s->policies);
	int held = 0;

	for (int i = 0; i < result->n_rounds; i++) {
		const struct sim_round *r = &result->rounds[i];

		text_addf(t, "%.15g,%d,%d,%d,%d,", r->time_s, r->running, r->waiting, r->gpus,
			  r->restarts);
		csv_add(t, result->workload->name);
		add_run(t, s, run);
		text_add(t, ",");
		give_gpus(&gpus, result->held + held, r->held_end - held);
		add_placements(t, &gpus, result, result->held + held, r->held_end - held);
		held = r->held_end;
		text_add(t, "\n");
	}
	gpus_release(&gpus);
}

int simulations_write_timeline(const struct simulations *s, const char *path, struct err *err)
{
	return write_runs(s, path, "time,running,waiting,gpus,restarts,workload" RUN_COLUMNS
			  ",placements", add_rounds, err);
}

static void add_end(struct text *t, const struct simulations *s, int run, int i, int k)
{
	const struct sim_job_result *job = &s->results[run].jobs[i];
	const struct sim_end *end = &job->ends[k];
	const double numbers[] = { end->part, end->time_s, end->from_s, end->middle_s, end->to_s,
				   job->finish_s, end->start_from_s, end->start_middle_s,
				   end->start_to_s, job->start_s };

	csv_add(t, job->name);
	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		text_add(t, ",");
		csv_add_number(t, numbers[n]);
	}
	text_add(t, ",");
	csv_add(t, s->results[run].workload->name);
	add_run(t, s, run);
	text_add(t, "\n");
}

static void add_ends(struct text *t, const struct simulations *s, int run)
{
	const struct sim_result *r = &s->results[run];

	for (int i = 0; i < r->workload->n_jobs; i++)
		for (int k = 0; r->jobs[i].ends && k < SIM_ENDS; k++)
			if (!isnan(r->jobs[i].ends[k].time_s))
				add_end(t, s, run, i, k);
}

int simulations_write_ends(const struct simulations *s, const char *path, struct err *err)
{
	return write_runs(s, path, "name,part,time,from,middle,to,finish,"
			  "start_from,start,start_to,started,workload" RUN_COLUMNS,
			  add_ends, err);
}

/* --- how many jobs were through by when --- */

double *sim_completion_times(const struct sim_result *r)
{
	int n = r->workload->n_jobs;
	double *times = xcalloc((size_t)n, sizeof(*times));

	for (int i = 0; i < n; i++)
		times[i] = r->jobs[i].finish_s - r->jobs[i].submit_s;
	qsort(times, (size_t)n, sizeof(*times), number_compare);
	return times;
}

static void add_cdf(struct text *t, const struct simulations *s, int run)
{
	const struct sim_workload *w = s->results[run].workload;
	double *times = sim_completion_times(&s->results[run]);

	for (int i = 0; i < w->n_jobs; i++) {
		if (i + 1 < w->n_jobs && times[i + 1] <= times[i])
			continue;
		csv_add(t, w->name);
		text_add(t, ",");
		csv_add(t, sim_policy_name(&s->policies[run / s->n]));
		text_addf(t, ",%.15g,%.15g,", times[i], (i + 1.0) / w->n_jobs);
		if (s->draws)
			text_addf(t, "%d", run % s->n % s->draws + 1);
		text_add(t, "\n");
	}
	free(times);
}

int simulations_write_cdf(const struct simulations *s, const char *path, struct err *err)
{
	return write_runs(s, path, "workload,policy,completion,part,draw", add_cdf, err);
}
