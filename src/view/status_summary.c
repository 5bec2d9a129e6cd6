/* status_summary.c - pollux status --summary: what each job took, from submission to end. */
#include <math.h>

#include "pollux/columns.h"
#include "pollux/format.h"
#include "pollux/status.h"

static const struct column columns[] = {
	{ .heading = "ID", .right = true },
	{ .heading = "NAME", .room = 8 },
	{ .heading = "STATE" },
	{ .heading = "RUNS", .right = true, .leave_out = 4 },
	{ .heading = "PREEMPTED", .right = true, .leave_out = 3 },
	{ .heading = "SAMPLES", .right = true },
	{ .heading = "REDONE", .right = true, .leave_out = 2 },
	{ .heading = "WAITED", .right = true, .leave_out = 5 },
	{ .heading = "RAN", .right = true, .leave_out = 1 },
	{ .heading = "TOTAL", .right = true, .leave_out = 6 },
	{ .heading = "RESULT", .room = 40, .below = true },
};

static void add_count(struct columns *t, double n)
{
	char buf[FORMAT_SIZE];

	columns_text(t, format_count(buf, sizeof(buf), n));
}

static void add_duration(struct columns *t, double seconds)
{
	char buf[FORMAT_SIZE];

	columns_text(t, format_duration(buf, sizeof(buf), seconds));
}

/* From submission to the end, or to now. */
static double total_s(const struct status *status, const struct job *job)
{
	double end_s = isfinite(job->end_time_s) ? job->end_time_s : status->now_wall_s;

	return fmax(end_s - job->submit_time_s, 0);
}

static double ran_s(const struct status_job *item)
{
	return isnan(item->run_time_s) ? 0 : item->run_time_s;
}

static void add_row(struct columns *t, const struct status *status, const struct status_job *item)
{
	const struct job *job = item->job;
	double total = total_s(status, job);

	columns_cell(t, "%lld", (long long)job->id);
	columns_text(t, job->declared.name);
	columns_text(t, shown_state_name(item->state));
	columns_cell(t, "%d", job->progress.runs);
	columns_cell(t, "%d", job->progress.preemptions);
	add_count(t, job->progress.samples);
	add_count(t, isnan(job->progress.checkpoint_samples) ? (double)NAN : job->progress.lost_samples);
	add_duration(t, fmax(total - ran_s(item), 0));
	add_duration(t, ran_s(item));
	add_duration(t, total);
	columns_text(t, *job->progress.status_text ? job->progress.status_text : job->reason);
}

static void print_means(const struct status *status, FILE *out)
{
	char total[FORMAT_SIZE], waited[FORMAT_SIZE];
	double sum_s = 0, sum_waited_s = 0;
	int n = status->jobs.count;

	for (int i = 0; i < n; i++) {
		double job_s = total_s(status, status->items[i].job);

		sum_s += job_s;
		sum_waited_s += fmax(job_s - ran_s(&status->items[i]), 0);
	}
	fprintf(out, "\n%d job%s; mean from submission to end %s, of it waiting %s\n", n,
		n == 1 ? "" : "s", format_duration(total, sizeof(total), sum_s / n),
		format_duration(waited, sizeof(waited), sum_waited_s / n));
}

void status_print_summary(const struct status *status, const struct status_output *out)
{
	struct columns t;

	if (status->jobs.count == 0) {
		fputs("No jobs.\n", out->file);
		return;
	}
	columns_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < status->jobs.count; i++)
		add_row(&t, status, &status->items[i]);
	columns_print(&t, out->file, out->width, out->color);
	columns_release(&t);
	print_means(status, out->file);
}
