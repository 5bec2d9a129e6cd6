/* status_summary.c - pollux status --summary: the time and work of each job. */
#include <math.h>

#include "pollux/report.h"
#include "pollux/status.h"

static const struct table_column summary_columns[] = {
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

/* Seconds of a job from its submission to its end, or to now. */
struct took {
	double ran_s, waited_s, total_s;
};

static struct took took(const struct status *status, const struct status_job *item)
{
	const struct job *job = item->job;
	double end_s = isfinite(job->end_time_s) ? job->end_time_s : status->now_wall_s;
	struct took s = {
		.ran_s = isnan(item->run_time_s) ? 0 : item->run_time_s,
		.total_s = fmax(end_s - job->submit_time_s, 0),
	};

	s.waited_s = fmax(s.total_s - s.ran_s, 0);
	return s;
}

double status_total_s(const struct status *status, const struct status_job *item)
{
	return took(status, item).total_s;
}

double status_waited_s(const struct status *status, const struct status_job *item)
{
	return took(status, item).waited_s;
}

static void add_summary_row(struct table *t, const struct status_job *item, const struct took *took)
{
	const struct job *job = item->job;
	const struct progress *progress = &job->progress;

	table_cell(t, "%lld", (long long)job->id);
	table_text(t, job->declared.name);
	table_text(t, shown_state_name(item->state));
	table_cell(t, "%d", progress->runs);
	table_cell(t, "%d", progress->preemptions);
	table_count(t, progress->samples);
	table_count(t, isnan(progress->checkpoint_samples) && !(progress->lost_samples > 0)
			? (double)NAN : progress->lost_samples);
	table_duration(t, took->waited_s);
	table_duration(t, took->ran_s);
	table_duration(t, took->total_s);
	table_text(t, *progress->status_text ? progress->status_text : job->reason);
}

void status_print_summary(const struct status *status, const struct output *out)
{
	double total_s = 0, waited_s = 0;
	int n = status->jobs.count;
	struct table t;

	if (n == 0) {
		fputs("No jobs.\n", out->file);
		return;
	}
	table_begin(&t, summary_columns);
	for (int i = 0; i < n; i++) {
		struct took s = took(status, &status->items[i]);

		add_summary_row(&t, &status->items[i], &s);
		total_s += s.total_s;
		waited_s += s.waited_s;
	}
	table_end(&t, out);
	fprintf(out->file, "\n%d job%s; mean from submission to end %s, of it waiting %s\n", n,
		plural(n), format_duration(total_s / n).s, format_duration(waited_s / n).s);
}
