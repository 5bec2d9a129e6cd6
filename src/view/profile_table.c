/* profile_table.c - a profile, for people. */
#include <math.h>
#include <string.h>

#include "pollux/columns.h"
#include "pollux/format.h"
#include "pollux/output.h"
#include "pollux/profile_report.h"
#include "pollux/utf8.h"

#define DIAGNOSIS_SIZE 40	/* bytes of it, at most */

/* --- points --- */

static void cell_size(struct columns *t, int64_t n)
{
	if (n > 0)
		columns_cell(t, "%lld", (long long)n);
	else
		columns_text(t, "-");
}

/* + 0.0: what rounds to nothing is no -0. */
static void cell_difference(struct columns *t, double ratio)
{
	if (isfinite(ratio))
		columns_cell(t, "%+.1f%%", round(1000 * ratio) / 10 + 0.0);
	else
		columns_text(t, "-");
}

static void cell_percent(struct columns *t, double ratio)
{
	if (isfinite(ratio))
		columns_cell(t, "%.1f%%", 100 * ratio);
	else
		columns_text(t, "-");
}

static void cell_memory(struct columns *t, const struct run *run)
{
	int64_t bytes = run->peak_device_memory_bytes > 0 ? run->peak_device_memory_bytes
							  : run->peak_memory_bytes;

	if (bytes >= 999500000)
		columns_cell(t, "%.3gG", (double)bytes / 1e9);
	else if (bytes > 0)
		columns_cell(t, "%.0fM", (double)bytes / 1e6);
	else
		columns_text(t, "-");
}

/* Why it was tried, or what came of it if that was no step time. */
static void add_result(struct columns *t, const struct profile_row *row)
{
	const struct run *run = row->run;
	const char *diagnosis = run->diagnosis ? run->diagnosis : "";

	if (run->out_of_memory) {
		columns_text(t, "out of memory");
		columns_style(t, STYLE_YELLOW);
	} else if (row->observation.n_windows > 0 || run->state != RUN_ENDED) {
		columns_text(t, row->why);
	} else if (row->stopped) {
		columns_text(t, "stopped");
	} else if (run->outcome == OUTCOME_FAILED) {
		columns_cell(t, "failed%s%.*s", *diagnosis ? ": " : "", (int)utf8_clip(diagnosis, DIAGNOSIS_SIZE), diagnosis);
		columns_style(t, STYLE_RED);
	} else if (run->outcome == OUTCOME_COMPLETED) {
		columns_text(t, "ended by itself");
		columns_style(t, STYLE_YELLOW);
	} else if (profile_row_is_lost(row)) {
		columns_text(t, "lost its supervisor");
		columns_style(t, STYLE_RED);
	} else {
		columns_text(t, "no step time");
		columns_style(t, STYLE_YELLOW);
	}
}

static void add_row(struct columns *t, const struct profile_row *row)
{
	const struct observation *o = &row->observation;
	const struct run *run = row->run;
	bool timed = o->n_windows > 0;

	columns_cell(t, "%d", run->configuration.replicas);
	cell_size(t, configuration_batch_size(&run->configuration));
	cell_size(t, run->configuration.local_batch_size);
	columns_cell(t, "%d", run->configuration.accumulation_steps);
	columns_count(t, timed ? (double)o->n_steps : (double)NAN);
	columns_count(t, timed ? (double)(o->n_dropped + o->n_outliers) : (double)NAN);
	columns_span(t, o->step_time_s);
	cell_percent(t, row->half_width);
	cell_difference(t, timed ? row->model_step_time_s / o->step_time_s - 1 : (double)NAN);
	cell_memory(t, run);
	columns_span(t, run->first_step_s);
	columns_span(t, run->stop_duration_s);
	add_result(t, row);
}

static void print_points(const struct profile_report *r, const struct status_output *out)
{
	static const struct column columns[] = {
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
	struct columns t;

	fputs("\npoints (+-: half-width of the 95 % confidence interval; MODEL: its difference)\n",
	      out->file);
	columns_init(&t, columns, (int)(sizeof(columns) / sizeof(columns[0])));
	for (int i = 0; i < r->n_rows; i++)
		add_row(&t, &r->rows[i]);
	columns_print(&t, out->file, out->width, out->color);
	columns_release(&t);
}

/* --- around them --- */

static void line(const struct status_output *out, const char *name, struct text *t)
{
	explanation_print_line(out, name, t->data);
	text_clear(t);
}

static void print_head(const struct profile_report *r, const struct status_output *out)
{
	const struct job *job = r->e.job;
	struct text t = TEXT_INIT;

	fprintf(out->file, "profile, job %lld: ", (long long)job->id);
	output_clean(out->file, job->declared.name);
	fputc('\n', out->file);
	text_addf(&t, "%s%s%s", shown_state_name(r->e.item->state), *job->reason ? ": " : "", job->reason);
	line(out, "state", &t);
	text_add(&t, job->declared.workload);
	line(out, "workload", &t);
	text_release(&t);
}

static void print_memory(const struct profile_report *r, const struct status_output *out)
{
	const struct memory_bounds *m = &r->e.knowledge.memory;
	int replicas = memory_least_bounded(m);
	struct text t = TEXT_INIT;

	if (replicas == 0)
		return;
	if (replicas > 1)
		text_addf(&t, "on %d devices ", replicas);
	text_addf(&t, "a local batch of %lld does not fit", (long long)memory_too_large(m, replicas));
	if (memory_fits(m, replicas) > 0)
		text_addf(&t, ", one of %lld does", (long long)memory_fits(m, replicas));
	line(out, "memory", &t);
	text_release(&t);
}

static void print_recommended(const struct profile_report *r, const struct status_output *out)
{
	const struct configuration *c = &r->recommended.configuration;
	struct text t = TEXT_INIT;

	fputs("\nrecommended (the fewest devices within 5 % of the most goodput)\n", out->file);
	if (r->recommended.goodput > 0) {
		char rate[FORMAT_SIZE], goodput[FORMAT_SIZE];

		text_addf(&t, "%d device%s, batch ", c->replicas, c->replicas == 1 ? "" : "s");
		configuration_print(c, &t);
		text_add(&t, " (replicas, local batch, passes)");
		line(out, "sizes", &t);
		text_addf(&t, "%s samples/s, goodput %s",
			  format_count(rate, sizeof(rate), r->recommended.throughput),
			  format_count(goodput, sizeof(goodput), r->recommended.goodput));
		line(out, "brings", &t);
		if (!explanation_is_measured(&r->e, c->replicas))
			text_addf(&t, "%d device%s: not measured, only predicted", c->replicas,
				  c->replicas == 1 ? "" : "s");
		if (t.length)
			line(out, "note", &t);
	} else {
		explanation_missing(&r->e, &t);
		line(out, "missing", &t);
	}
	print_memory(r, out);
	text_release(&t);
}

static void print_use(const struct status_output *out)
{
	explanation_print_line(out, "jobs", "of the same workload start from this: those submitted with the same command, "
			       "each argument of it, or with the same --workload");
}

static void print_warnings(const struct profile_report *r, const struct status_output *out)
{
	bool any = false;

	for (int i = 0; i < r->details.events.count; i++) {
		if (strcmp(r->details.events.items[i].kind, "warning") != 0)
			continue;
		fputs(any ? "" : "\nwarnings\n", out->file);
		any = true;
		explanation_print_line(out, "", r->details.events.items[i].text);
	}
}

static void print_model(const struct profile_report *r, const struct status_output *out)
{
	if (!r->e.model.known)
		return;
	fputs("\nmodel (of a step's time; basis: see pollux-goodput(7))\n", out->file);
	explanation_print_parameters(&r->e, out);
	explanation_print_fit(&r->e, out);
	fprintf(out->file, "\npredicted (best sizes; goodput: samples/s worth as much as in batches of "
		"%lld)\n", (long long)r->e.job->declared.batch_size);
	explanation_print_devices(&r->e, out);
	if (r->e.n_batches > 1) {
		fprintf(out->file, "\nbatch sizes on %d device%s\n", r->e.replicas, r->e.replicas == 1 ? "" : "s");
		explanation_print_batches(&r->e, out);
	}
	explanation_print_noise(&r->e, out);
}

void profile_report_print(const struct profile_report *r, const struct status_output *out)
{
	print_head(r, out);
	if (r->n_rows > 0)
		print_points(r, out);
	print_model(r, out);
	explanation_print_restart(&r->e, out);
	print_recommended(r, out);
	if (r->e.model.known)
		print_use(out);
	print_warnings(r, out);
}
