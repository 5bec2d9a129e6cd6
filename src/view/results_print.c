/* results_print.c - results of jobs as a table, as CSV and as JSON. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/text.h"

/* --- table: for each metric the last value and the best --- */

/* The columns: ID; a name, if the parameters alone do not distinguish the jobs; the parameters;
 * three more columns of each job, and its rung if
 * any has one; and two of each metric. */
struct layout {
	struct table_column *columns;	/* owned; n of them */
	struct strings headings;	/* the headings that are no constants */
	int n;
	bool has_names, has_rungs;
};

static struct table_column *add_column(struct layout *l, const char *heading, bool right,
				       int leave_out)
{
	l->columns = xreallocarray(l->columns, (size_t)l->n + 1, sizeof(*l->columns));
	l->columns[l->n] = (struct table_column){
		.heading = heading, .right = right, .leave_out = leave_out,
	};
	return &l->columns[l->n++];
}

static bool has_rungs(const struct results *r)
{
	for (int i = 0; i < r->jobs.count; i++)
		if (r->jobs.items[i].rung > 0)
			return true;
	return false;
}

/* Makes the columns. On a narrow terminal those of the last metrics are left out first; those of
 * the first metric stay. */
static void lay_out(const struct results *r, struct layout *l)
{
	*l = (struct layout){ .has_rungs = has_rungs(r) };
	/* parameters tell the jobs of one group apart */
	for (int i = 0; i < r->jobs.count; i++)
		l->has_names |= r->jobs.items[i].parameters.count == 0 ||
				r->jobs.items[i].group_id != r->jobs.items[0].group_id;
	for (int i = 0; i < r->n_columns; i++)
		strings_addf(&l->headings, "%s %s",
			     r->columns[i].low_is_best ? "lowest" : "highest",
			     r->columns[i].name);
	add_column(l, "ID", true, 0);
	if (l->has_names) {
		struct table_column *name = add_column(l, "NAME", false, 0);

		name->flexible = true;
		name->min_width = 8;
		name->room = 12;
	}
	for (size_t i = 0; i < r->parameters.count; i++)
		add_column(l, r->parameters.items[i], true, 0)->most = 24;
	add_column(l, "STATE", false, 0);
	if (l->has_rungs)
		add_column(l, "RUNG", true, 0);
	add_column(l, "SAMPLES", true, 2);
	add_column(l, "TIME", true, 1);
	for (int i = 0; i < r->n_columns; i++) {
		int leave_out = i ? 2 + r->n_columns - i : 0;

		add_column(l, r->columns[i].name, true, leave_out);
		add_column(l, l->headings.items[i], true, leave_out);
	}
}

void results_print_table(const struct results *r, const struct output *out)
{
	struct layout l;
	struct table t;

	if (r->n_columns == 0) {
		fputs("No job has a metric yet. Programs report metrics, or print them as "
		      "'loss: 0.5'\nbeside a step or an epoch, or 'pollux submit --metric' finds "
		      "them in logs: see\n'man pollux-results'.\n", out->file);
		return;
	}
	lay_out(r, &l);
	table_init(&t, l.columns, l.n);
	for (int i = 0; i < r->jobs.count; i++) {
		const struct job *job = &r->jobs.items[i];

		table_cell(&t, "%lld", (long long)job->id);
		if (l.has_names)
			table_text(&t, job->declared.name);
		for (size_t p = 0; p < r->parameters.count; p++) {
			const char *value = result_parameter(r, i, (int)p);

			table_text(&t, value ? value : "-");
		}
		table_text(&t, results_state(job));
		if (l.has_rungs)
			table_positive(&t, job->rung);
		table_count(&t, job->progress.samples);
		table_duration(&t, job->progress.run_time_s);
		for (int c = 0; c < r->n_columns; c++) {
			const struct job_metric *m = result_of(r, i, c);
			double best;

			if (!m) {
				table_dashes(&t, 2);
				continue;
			}
			table_text(&t, value_format(m->last, 5).s);
			best = result_best(&r->columns[c], m);
			table_text(&t, isfinite(best) ? value_format(best, 5).s : "-");
		}
	}
	table_end(&t, out);
	strings_release(&l.headings);
	free(l.columns);
}

/* --- CSV --- */

void results_print_csv(const struct results *r, FILE *out)
{
	struct text t = TEXT_INIT;

	text_add(&t, has_rungs(r) ? "id,name,state,samples,run_time_s,rung"
				  : "id,name,state,samples,run_time_s");
	for (size_t p = 0; p < r->parameters.count; p++)
		text_addf(&t, ",parameter.%s", r->parameters.items[p]);
	for (int c = 0; c < r->n_columns; c++) {
		const char *name = r->columns[c].name;

		text_addf(&t, ",%s,%s.lowest,%s.highest", name, name, name);
	}
	for (int i = 0; i < r->jobs.count; i++) {
		const struct job *job = &r->jobs.items[i];

		text_addf(&t, "\n%lld,", (long long)job->id);
		csv_add(&t, job->declared.name);
		text_addf(&t, ",%s,", results_state(job));
		csv_add_number(&t, job->progress.samples);
		text_add(&t, ",");
		csv_add_number(&t, job->progress.run_time_s);
		if (has_rungs(r))
			text_addf(&t, ",%d", job->rung);
		for (size_t p = 0; p < r->parameters.count; p++) {
			const char *value = result_parameter(r, i, (int)p);

			text_add(&t, ",");
			csv_add(&t, value ? value : "");
		}
		for (int c = 0; c < r->n_columns; c++) {
			const struct job_metric *m = result_of(r, i, c);

			text_add(&t, m ? "," : ",,,");
			if (!m)
				continue;
			csv_add_value(&t, m->last);
			text_add(&t, ",");
			csv_add_number(&t, m->lowest);
			text_add(&t, ",");
			csv_add_number(&t, m->highest);
		}
	}
	text_add(&t, "\n");
	fwrite(t.data, 1, t.length, out);
	text_release(&t);
}

/* --- JSON --- */

void results_print_json(const struct results *r, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "jobs");
	for (int i = 0; i < r->jobs.count; i++) {
		const struct job *job = &r->jobs.items[i];

		json_object(&j, NULL);
		json_integer(&j, "id", job->id);
		json_string(&j, "name", job->declared.name);
		json_string(&j, "state", results_state(job));
		json_integer(&j, "rung", job->rung);
		json_number(&j, "samples", job->progress.samples);
		json_number(&j, "run_time_s", job->progress.run_time_s);
		status_print_json_parameters(&j, &job->parameters);
		json_array(&j, "metrics");
		status_print_json_metrics(&j, &r->metrics[i]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
