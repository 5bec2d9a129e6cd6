/* results_print.c - results of jobs as a table, as CSV and as JSON. */
#include <math.h>
#include <stdlib.h>

#include "pollux/csv_field.h"
#include "pollux/format.h"
#include "pollux/json.h"
#include "pollux/mem.h"
#include "pollux/results.h"
#include "pollux/status.h"
#include "pollux/table.h"

/* --- table: for each metric the last value and the best --- */

static const struct table_column of_jobs[] = {
	{ .heading = "ID", .right = true },
	{ .heading = "NAME", .flexible = true, .min_width = 8, .room = 12 },
	{ .heading = "STATE" },
	{ .heading = "SAMPLES", .right = true, .leave_out = 2 },
	{ .heading = "TIME", .right = true, .leave_out = 1 },
};
#define N_OF_JOBS (int)(sizeof(of_jobs) / sizeof(of_jobs[0]))

static struct table_column *make_columns(const struct results *r, char **headings)
{
	struct table_column *columns = xcalloc((size_t)(N_OF_JOBS + 2 * r->n_columns),
					       sizeof(*columns));
	struct text t = TEXT_INIT;

	for (int i = 0; i < N_OF_JOBS; i++)
		columns[i] = of_jobs[i];
	for (int i = 0; i < r->n_columns; i++) {
		struct table_column *c = &columns[N_OF_JOBS + 2 * i];

		text_addf(&t, "%s %s", r->columns[i].low_is_best ? "lowest" : "highest",
			  r->columns[i].name);
		headings[i] = text_detach(&t);
		c[0] = (struct table_column){ .heading = r->columns[i].name, .right = true };
		c[1] = (struct table_column){ .heading = headings[i], .right = true };
		if (i > 0)	/* the first metric always stays */
			c[0].leave_out = c[1].leave_out = 2 + r->n_columns - i;
	}
	return columns;
}

static void add_job(struct table *t, const struct results *r, int i)
{
	const struct job *job = &r->jobs.items[i];

	table_cell(t, "%lld", (long long)job->id);
	table_text(t, job->declared.name);
	table_text(t, job_state_name(job->state));
	table_count(t, job->progress.samples);
	table_duration(t, job->progress.run_time_s);
	for (int c = 0; c < r->n_columns; c++) {
		const struct job_metric *m = result_of(r, i, c);

		if (!m) {
			table_dashes(t, 2);
			continue;
		}
		table_cell(t, "%.5g", m->last);
		table_cell(t, "%.5g", result_best(&r->columns[c], m));
	}
}

void results_print_table(const struct results *r, const struct output *out)
{
	char **headings;
	struct table_column *columns;
	struct table t;

	if (r->n_columns == 0) {
		fputs("No job has a metric yet.\n", out->file);
		return;
	}
	headings = xcalloc((size_t)r->n_columns, sizeof(*headings));
	columns = make_columns(r, headings);
	table_init(&t, columns, N_OF_JOBS + 2 * r->n_columns);
	for (int i = 0; i < r->jobs.count; i++)
		add_job(&t, r, i);
	table_end(&t, out);
	for (int i = 0; i < r->n_columns; i++)
		free(headings[i]);
	free(headings);
	free(columns);
}

/* --- CSV --- */

void results_print_csv(const struct results *r, FILE *out)
{
	struct text t = TEXT_INIT;

	text_add(&t, "id,name,state,samples,run_time_s");
	for (int c = 0; c < r->n_columns; c++) {
		const char *name = r->columns[c].name;

		text_addf(&t, ",%s,%s.lowest,%s.highest", name, name, name);
	}
	for (int i = 0; i < r->jobs.count; i++) {
		const struct job *job = &r->jobs.items[i];

		text_addf(&t, "\n%lld,", (long long)job->id);
		csv_add(&t, job->declared.name);
		text_addf(&t, ",%s,", job_state_name(job->state));
		csv_add_number(&t, job->progress.samples);
		text_add(&t, ",");
		csv_add_number(&t, job->progress.run_time_s);
		for (int c = 0; c < r->n_columns; c++) {
			const struct job_metric *m = result_of(r, i, c);

			text_add(&t, ",");
			csv_add_number(&t, m ? m->last : (double)NAN);
			text_add(&t, ",");
			csv_add_number(&t, m ? m->lowest : (double)NAN);
			text_add(&t, ",");
			csv_add_number(&t, m ? m->highest : (double)NAN);
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
		json_string(&j, "state", job_state_name(job->state));
		json_number(&j, "samples", job->progress.samples);
		json_number(&j, "run_time_s", job->progress.run_time_s);
		json_array(&j, "metrics");
		status_print_json_metrics(&j, &r->metrics[i]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
