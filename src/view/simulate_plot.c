/* simulate_plot.c - a script for gnuplot, of simulations. */
#include <stdlib.h>

#include "parts.h"
#include "pollux/mem.h"

/* A script for gnuplot: draws the share of jobs done within a time on the left, and the GPUs in
 * use and the waiting jobs on the right, of one policy or of several. */

#define TITLE_MAX 40		/* characters of a name */
#define CURVES_MAX 12		/* workloads, each under each policy, that are drawn */

/* Curve i is of run i. */
static int n_curves(const struct simulations *s)
{
	return s->n_runs < CURVES_MAX ? s->n_runs : CURVES_MAX;
}

/* Adds what distinguishes the curve: its policy, its workload, or both. */
static void add_name(const struct simulations *s, int i, struct text *t)
{
	text_add(t, "'");
	if (s->n_policies > 1)
		text_addf(t, "%s%s", sim_policy_name(&s->policies[i / s->n]),
			  s->n > 1 ? ", " : "");
	if (s->n_policies == 1 || s->n > 1)
		picture_add_quoted(t, s->workloads[i % s->n].name, TITLE_MAX);
	if (s->draws)
		text_addf(t, " %d", i % s->n % s->draws + 1);
	text_add(t, "'");
}

/* --- data --- */

/* Completion time in hours, and the share of the jobs that took no longer. */
static void add_completion(const struct sim_result *r, int index, struct text *t)
{
	int n = r->workload->n_jobs;
	double *jct_s = sim_completion_times(r);

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

static void add_right(const struct simulations *s, struct text *t)
{
	const struct sim_options *o = s->policies;
	int n_gpus = o->n_kinds ? 0 : o->nodes * o->gpus_per_node;

	for (int k = 0; k < o->n_kinds; k++)
		n_gpus += o->kinds[k].nodes * o->kinds[k].gpus_per_node;

	text_addf(t, "unset logscale x\n"
		  "set title 'GPUs in use of %d (solid), jobs waiting (dashed)'\n"
		  "set xlabel 'hours'\n"
		  "set ylabel 'GPUs, jobs'\n"
		  "set yrange [0:*]\n"
		  "plot ", n_gpus);
	for (int i = 0; i < n_curves(s); i++) {
		text_addf(t, "%s$use%d using 1:2 with steps lw 1.6 lt %d title ", i ? ", " : "", i,
			  i + 1);
		add_name(s, i, t);
		text_addf(t, ", $use%d using 1:3 with steps lw 1.2 dt (4,3) lt %d notitle", i,
			  i + 1);
	}
	text_add(t, "\n");
}

void simulations_plot_script(const struct simulations *s, const char *format, struct text *t)
{
	const struct sim_options *o = s->policies;

	for (int i = 0; i < n_curves(s); i++) {
		add_completion(&s->results[i], i, t);
		add_rounds(&s->results[i], i, t);
	}
	picture_add_style(t, format);
	text_add(t, "set multiplot layout 1,2 title '");
	if (s->n_policies == 1) {
		simulations_add_title(o, t);
	} else {
		/* "goodput, las, fifo on 4 nodes of 4 GPUs": what the policies know is in the
		 * tables. */
		for (int p = 0; p < s->n_policies; p++)
			text_addf(t, "%s%s", p ? ", " : "", sim_policy_name(&s->policies[p]));
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
	for (int i = 0; i < n_curves(s); i++) {
		text_addf(t, "%s$jct%d using 1:2 with steps lw 1.8 lt %d title ", i ? ", " : "", i,
			  i + 1);
		add_name(s, i, t);
	}
	text_add(t, "\n");
	add_right(s, t);
	text_add(t, "unset multiplot\n");
}
