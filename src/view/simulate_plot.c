/* simulate_plot.c - files of simulations: CSV, and a script for gnuplot. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"
#include "pollux/file.h"
#include "pollux/mem.h"

/* --- jobs and decisions of simulations as comma-separated values (RFC 4180) --- */

int simulations_write_jobs(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "name,submit,start,finish,restarts,workload,application,gpu_hours,rho\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->workloads[w].n_jobs; i++) {
			const struct sim_job_result *job = &s->results[w].jobs[i];

			csv_add(&t, job->name);
			text_addf(&t, ",%.15g,%.15g,%.15g,%d,", job->submit_s, job->start_s,
				  job->finish_s, job->restarts);
			csv_add(&t, s->workloads[w].name);
			text_add(&t, ",");
			csv_add(&t, job->application);
			text_addf(&t, ",%.15g,%.15g\n", job->gpu_hours, job->fairness);
		}
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}

int simulations_write_timeline(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "time,running,waiting,gpus,restarts,workload\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->results[w].n_rounds; i++) {
			const struct sim_round *r = &s->results[w].rounds[i];

			text_addf(&t, "%.15g,%d,%d,%d,%d,", r->time_s, r->running, r->waiting,
				  r->gpus, r->restarts);
			csv_add(&t, s->workloads[w].name);
			text_add(&t, "\n");
		}
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}

static void add_end(struct text *t, const struct simulations *s, int w, int i, int k)
{
	const struct sim_job_result *job = &s->results[w].jobs[i];
	const struct sim_end *end = &job->ends[k];
	const double numbers[] = { end->part, end->time_s, end->from_s, end->middle_s, end->to_s,
				   job->finish_s };

	csv_add(t, job->name);
	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		text_add(t, ",");
		csv_add_number(t, numbers[n]);
	}
	text_add(t, ",");
	csv_add(t, s->workloads[w].name);
	text_add(t, "\n");
}

int simulations_write_ends(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "name,part,time,from,middle,to,finish,workload\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->workloads[w].n_jobs; i++)
			for (int k = 0; s->results[w].jobs[i].ends && k < SIM_ENDS; k++)
				if (!isnan(s->results[w].jobs[i].ends[k].time_s))
					add_end(&t, s, w, i, k);
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}

/* A script for gnuplot: draws the share of jobs done within a time on the left, and the GPUs in
 * use and the waiting jobs on the right, of one policy or of several. */

#define TITLE_MAX 40		/* characters of a name */
#define CURVES_MAX 12		/* workloads, each under each policy, that are drawn */

/* What is drawn: curve i is workload i % per_policy under policy i / per_policy. */
struct curves {
	const struct simulations *s;
	int n_policies, per_policy, n;
};

static struct curves curves_of(const struct simulations *s, int n)
{
	struct curves c = { s, n, s->n, s->n * n };

	if (c.n > CURVES_MAX)
		c.n = CURVES_MAX;
	return c;
}

static const struct sim_result *result_at(const struct curves *c, int i)
{
	return &c->s[i / c->per_policy].results[i % c->per_policy];
}

/* Adds what distinguishes the curve: its policy, its workload, or both. */
static void add_name(const struct curves *c, int i, struct text *t)
{
	const struct simulations *s = &c->s[i / c->per_policy];

	text_add(t, "'");
	if (c->n_policies > 1)
		text_addf(t, "%s%s", sim_policy_name(&s->options),
			  c->per_policy > 1 ? ", " : "");
	if (c->n_policies == 1 || c->per_policy > 1)
		picture_add_quoted(t, s->workloads[i % c->per_policy].name, TITLE_MAX);
	text_add(t, "'");
}

/* --- data --- */

/* Completion time in hours, and the share of the jobs that took no longer. */
static void add_completion(const struct sim_result *r, int index, struct text *t)
{
	int n = r->workload->n_jobs;
	double *jct_s = xcalloc((size_t)n, sizeof(*jct_s));

	for (int i = 0; i < n; i++)
		jct_s[i] = r->jobs[i].finish_s - r->jobs[i].submit_s;
	qsort(jct_s, (size_t)n, sizeof(*jct_s), number_compare);
	text_addf(t, "$jct%d << END\n", index);
	for (int i = 0; i < n; i++)
		text_addf(t, "%.6g %.6g\n", jct_s[i] / 3600, 100.0 * (i + 1) / n);
	text_add(t, "END\n");
	free(jct_s);
}

static void add_rounds(const struct sim_result *r, int index, struct text *t)
{
	text_addf(t, "$use%d << END\n", index);
	for (int i = 0; i < r->n_rounds; i++)
		text_addf(t, "%.6g %d %d\n", r->rounds[i].time_s / 3600, r->rounds[i].gpus,
			  r->rounds[i].waiting);
	text_add(t, "END\n");
}

/* --- the picture --- */

static void add_right(const struct curves *c, struct text *t)
{
	const struct sim_options *o = &c->s->options;
	int n_gpus = o->n_kinds ? 0 : o->nodes * o->gpus_per_node;

	for (int k = 0; k < o->n_kinds; k++)
		n_gpus += o->kinds[k].nodes * o->kinds[k].gpus_per_node;

	text_addf(t, "unset logscale x\n"
		  "set title 'GPUs in use of %d (solid), jobs waiting (dashed)'\n"
		  "set xlabel 'hours'\n"
		  "set ylabel 'GPUs, jobs'\n"
		  "set yrange [0:*]\n"
		  "plot ", n_gpus);
	for (int i = 0; i < c->n; i++) {
		text_addf(t, "%s$use%d using 1:2 with steps lw 1.6 lt %d title ", i ? ", " : "", i,
			  i + 1);
		add_name(c, i, t);
		text_addf(t, ", $use%d using 1:3 with steps lw 1.2 dt (4,3) lt %d notitle", i,
			  i + 1);
	}
	text_add(t, "\n");
}

void simulations_plot_script(const struct simulations *s, int n, const char *format,
			     struct text *t)
{
	struct curves c = curves_of(s, n);

	for (int i = 0; i < c.n; i++) {
		add_completion(result_at(&c, i), i, t);
		add_rounds(result_at(&c, i), i, t);
	}
	picture_add_style(t, format);
	text_add(t, "set multiplot layout 1,2 title '");
	if (n == 1)
		simulations_add_title(s, t);
	else {
		const struct sim_options *o = &c.s->options;

		/* "goodput, las, fifo on 4 nodes of 4 GPUs": what the policies know is in the
		 * tables. */
		for (int p = 0; p < c.n_policies; p++)
			text_addf(t, "%s%s", p ? ", " : "", sim_policy_name(&c.s[p].options));
		if (!o->n_kinds)
			text_addf(t, " on %d node%s of %d GPU%s", o->nodes, plural(o->nodes),
				  o->gpus_per_node, plural(o->gpus_per_node));
	}
	text_add(t, "' font ',13'\n");
	text_add(t, "set title 'completion times'\n"
		 "set xlabel 'hours from submission to end'\n"
		 "set ylabel 'jobs done, %'\n"
		 "set logscale x\n"
		 "set xtics auto\n"
		 "set yrange [0:100]\n"
		 "plot ");
	for (int i = 0; i < c.n; i++) {
		text_addf(t, "%s$jct%d using 1:2 with steps lw 1.8 lt %d title ", i ? ", " : "", i,
			  i + 1);
		add_name(&c, i, t);
	}
	text_add(t, "\n");
	add_right(&c, t);
	text_add(t, "unset multiplot\n");
}
