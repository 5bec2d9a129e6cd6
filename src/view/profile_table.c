/* profile_table.c - prints a profile for people. */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "pollux/text.h"

#define DIAGNOSIS_SIZE 40	/* bytes */

/* --- points --- */

/* Adds why the point was tried, or its outcome if it gave no step time. */
static void add_result(struct table *t, const struct profile_row *row)
{
	const struct run *run = row->run;
	const char *diagnosis = run->diagnosis ? run->diagnosis : "";

	if (run->out_of_memory) {
		table_text(t, "out of memory");
		table_style(t, STYLE_YELLOW);
	} else if (row->observation.n_windows > 0 || run->state != RUN_ENDED) {
		table_text(t, row->why);
	} else if (row->stopped) {
		table_text(t, "stopped");
	} else if (run->outcome == OUTCOME_FAILED) {
		table_cell(t, "failed%s%.*s", *diagnosis ? ": " : "",
			   (int)utf8_clip(diagnosis, DIAGNOSIS_SIZE), diagnosis);
		table_style(t, STYLE_RED);
	} else if (run->outcome == OUTCOME_COMPLETED) {
		table_text(t, "ended by itself");
		table_style(t, STYLE_YELLOW);
	} else if (profile_row_is_lost(row)) {
		table_text(t, "lost its supervisor");
		table_style(t, STYLE_RED);
	} else {
		table_text(t, "no step time");
		table_style(t, STYLE_YELLOW);
	}
}

static void add_row(struct table *t, const struct profile_row *row)
{
	const struct observation *o = &row->observation;
	const struct run *run = row->run;
	const struct configuration *c = &run->configuration;
	bool timed = o->n_windows > 0;
	int64_t bytes = run->peak_device_memory_bytes > 0 ? run->peak_device_memory_bytes
							  : run->peak_memory_bytes;
	double off = timed ? row->model_step_time_s / o->step_time_s - 1 : (double)NAN;

	table_cell(t, "%d%s%s", c->replicas, c->plan[0] ? " " : "", c->plan);
	table_positive(t, configuration_batch_size(c));
	table_positive(t, c->local_batch_size);
	table_cell(t, "%d", c->accumulation_steps);
	table_count(t, timed ? (double)o->n_steps : (double)NAN);
	table_count(t, timed ? (double)(o->n_dropped + o->n_outliers) : (double)NAN);
	table_span(t, o->step_time_s);
	table_cell_if(t, isfinite(row->half_width), "%.1f%%", 100 * row->half_width);
	/* + 0.0 turns -0 into 0. */
	table_cell_if(t, isfinite(off), "%+.1f%%", round(1000 * off) / 10 + 0.0);
	if (bytes >= 999500000)
		table_cell(t, "%.3gG", (double)bytes / 1e9);
	else
		table_cell_if(t, bytes > 0, "%.0fM", (double)bytes / 1e6);
	table_span(t, run->first_step_s);
	table_span(t, run->stop_duration_s);
	add_result(t, row);
}

static void print_points(const struct profile_report *r, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "DEV", .right = true },
		{ .heading = "BATCH", .right = true },
		{ .heading = "LOCAL", .right = true, .leave_out = 6 },
		{ .heading = "PASSES", .right = true, .leave_out = 5 },
		{ .heading = "STEPS", .right = true, .leave_out = 4 },
		{ .heading = "DROPPED", .right = true, .leave_out = 3 },
		{ .heading = "STEP", .right = true },
		{ .heading = "+-", .right = true },
		{ .heading = "MODEL", .right = true },
		{ .heading = "MEM", .right = true, .leave_out = 7 },
		{ .heading = "START", .right = true, .leave_out = 2 },
		{ .heading = "STOP", .right = true, .leave_out = 1 },
		{ .heading = "WHY", .room = 12 },
	};
	struct table t;

	fputs("\npoints (+-: half-width of the 95 % confidence interval; MODEL: its difference)\n",
	      out->file);
	table_begin(&t, columns);
	for (int i = 0; i < r->n_rows; i++)
		add_row(&t, &r->rows[i]);
	table_end(&t, out);
}

/* --- around them --- */

static void print_memory(const struct profile_report *r, const struct output *out)
{
	const struct memory_bounds *m = &r->e.knowledge->memory;
	int replicas = memory_least_bounded(m);
	struct text t = TEXT_INIT;

	if (replicas == 0)
		return;
	if (replicas > 1)
		text_addf(&t, "on %d devices ", replicas);
	text_addf(&t, "a local batch of %lld does not fit",
		  (long long)memory_too_large(m, replicas));
	if (memory_fits(m, replicas) > 0)
		text_addf(&t, ", one of %lld does", (long long)memory_fits(m, replicas));
	output_textline(out, "memory", &t);
	text_release(&t);
}

static void print_recommended(const struct profile_report *r, const struct output *out)
{
	const struct goodput_choice *best = &r->recommended;
	const struct configuration *c = &best->configuration;
	struct text t = TEXT_INIT;

	fputs("\nrecommended (the fewest devices within 5 % of the most goodput)\n", out->file);
	if (best->goodput > 0) {
		text_addf(&t, "%d device%s, batch ", c->replicas, plural(c->replicas));
		configuration_print(c, &t);
		text_add(&t, " (replicas, local batch, passes)");
		output_textline(out, "sizes", &t);
		text_addf(&t, "%s samples/s, goodput %s", format_count(best->throughput).s,
			  format_count(best->goodput).s);
		output_textline(out, "brings", &t);
		if (!explanation_is_measured(&r->e, c->replicas))
			text_addf(&t, "%d device%s: not measured, only predicted", c->replicas,
				  plural(c->replicas));
		output_text_if(out, "note", &t);
	} else {
		explanation_missing(&r->e, &t);
		output_textline(out, "missing", &t);
	}
	print_memory(r, out);
	text_release(&t);
}

static void print_model(const struct profile_report *r, const struct output *out)
{
	if (!r->e.model.known)
		return;
	fputs("\nmodel (of a step's time; basis: see pollux-goodput(7))\n", out->file);
	explanation_print_parameters(&r->e, out);
	explanation_print_fit(&r->e, out);
	fprintf(out->file,
		"\npredicted (best sizes; goodput: samples/s worth as much as in batches of "
		"%lld)\n", (long long)r->e.job->declared.batch.size);
	explanation_print_devices(&r->e, out);
	if (r->e.n_batches > 1) {
		fprintf(out->file, "\nbatch sizes on %d device%s\n", r->e.replicas,
			plural(r->e.replicas));
		explanation_print_batches(&r->e, out);
	}
	explanation_print_noise(&r->e, out);
}

void profile_report_print(const struct profile_report *r, const struct output *out)
{
	const char *heading = "\nwarnings\n";
	const struct job *job = r->e.job;
	struct text t = TEXT_INIT;

	status_print_head("profile, job", job, out);
	text_add(&t, shown_state_name(r->e.item->state));
	if (*job->reason && strcmp(job->reason, t.data) != 0)
		text_addf(&t, ": %s", job->reason);
	output_textline(out, "state", &t);
	output_line(out, "workload", job->declared.workload);
	text_release(&t);
	if (r->n_rows > 0)
		print_points(r, out);
	/* The model is of one plan: the plans are compared instead. */
	if (r->e.outlook.n_plans == 0)
		print_model(r, out);
	explanation_print_restart(&r->e, out);
	if (r->e.outlook.n_plans == 0)
		print_recommended(r, out);
	explanation_print_plans(&r->e, out);
	if (r->e.model.known)
		output_line(out, "jobs",
			    "of the same workload start from this: those submitted with the same "
			    "command, each argument of it, or with the same --workload");
	for (int i = 0; i < r->details.events.count; i++) {
		if (strcmp(r->details.events.items[i].kind, "warning") != 0)
			continue;
		fputs(heading, out->file);
		heading = "";
		output_line(out, "", r->details.events.items[i].text);
	}
}
