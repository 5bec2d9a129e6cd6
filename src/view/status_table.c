/* status_table.c - prints a line for each job: its progress, and what it waits for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"

/* A queued job that no pass has looked at for this long is late: cron runs a pass each minute. */
#define LATE_S 150.0

static const struct table_column columns[] = {
	{ .heading = "ID", .right = true },
	{ .heading = "NAME", .room = 8, .most = 26 },
	{ .heading = "STATE" },
	{ .heading = "DEV", .right = true, .leave_out = 4 },
	{ .heading = "TIME", .right = true, .leave_out = 3 },
	{ .heading = "DONE", .right = true, .leave_out = 6 },
	{ .heading = "BATCH", .right = true, .leave_out = 1 },
	{ .heading = "MS/STEP", .right = true, .leave_out = 2 },
	{ .heading = "ETA", .right = true, .leave_out = 5 },
	{ .heading = "REASON", .room = 60, .below = true },
};
#define N_NUMBERS 6	/* columns from DEV to ETA */

/* --- cells --- */

void status_add_done(struct text *t, const struct status_job *item)
{
	const struct progress *progress = &item->job->progress;

	if (item->done_ratio > 1)
		text_add(t, "over");
	else if (isnan(item->done_ratio) && (progress->samples >= job_total_samples(item->job) ||
					     progress->steps >= job_total_steps(item->job)))
		text_add(t, "-");	/* it had ended and was queued again */
	else if (isfinite(item->done_ratio))
		text_addf(t, "%.0f%%", floor(item->done_ratio * 100));
	else if (isfinite(progress->samples) || isnan(progress->steps))
		text_add(t, format_count(progress->samples).s);
	else
		text_addf(t, "%s st", format_count(progress->steps).s);
}

struct formatted status_eta(const struct status_job *item)
{
	struct formatted eta = format_duration(item->eta_s);

	if (isfinite(item->expected_s))
		snprintf(eta.s, sizeof(eta.s), "~%.14s", format_duration(item->expected_s).s);
	return eta;
}

struct formatted status_devices(const struct status_job *item)
{
	struct formatted shown = { "-" };
	int held = item->run ? run_held(item->run) : 0;

	if (item->run && run_has_no_device(item->run))
		snprintf(shown.s, sizeof(shown.s), "cpu");
	else if (held > 0)
		snprintf(shown.s, sizeof(shown.s), "%d", held);
	return shown;
}

double status_batch(const struct status_job *item)
{
	int64_t batch_size = item->run ? configuration_batch_size(&item->run->configuration)
				       : item->job->declared.batch.size;

	return batch_size > 0 ? (double)batch_size : (double)NAN;
}

/* --- reasons --- */

static void reason_queued(const struct status *status, const struct status_job *item,
			  struct text *out)
{
	const struct job *job = item->job;

	if (status_add_begin(out, status, job))
		return;
	if (job->next_start_s <= status->now_wall_s)
		text_add(out, "next pass: ");
	else if (status_add_start(out, status, item))
		text_add(out, ": ");
	text_add(out, *job->reason ? job->reason : "no pass has looked at it yet");
}

/* Adds why the job has its devices, and the status that its program reported. 'status ID' has its
 * loss and epoch. */
static void reason_running(const struct status_job *item, struct text *out)
{
	const struct job *job = item->job;

	if (*job->reason) {
		text_add(out, job->reason);
	} else if (item->run) {
		text_add(out, "on ");
		status_add_devices(out, item->run);
	}
	if (item->run && *item->run->framework)
		text_addf(out, "%storch helper on%s%s", out->length ? "; " : "",
			  *item->run->helper ? ", " : "", item->run->helper);
	if (*job->progress.status_text && !job->profile)
		text_addf(out, "%s%s", out->length ? "; " : "", job->progress.status_text);
}

void status_add_end(struct text *t, const struct job *job)
{
	const char *reason = job->reason, *state = job_state_name(job->state);

	/* a run that ended as runs do has no reason to tell */
	if (job->state == JOB_DONE && !job->profile && !strchr(reason, ':'))
		reason = job->progress.status_text;
	else if (job->state == JOB_DONE && !job->profile)
		reason = strchr(reason, ':') + 2;
	else if (text_starts_with(reason, state))
		reason += strlen(state) + strspn(reason + strlen(state), ": ");
	text_add(t, reason);
}

void status_add_why(struct text *t, const struct status *status, const struct status_job *item)
{
	struct formatted end = format_time(item->job->end_time_s, status->now_wall_s);
	size_t before;

	status_add_trouble(t, item);
	before = t->length;
	switch (item->state) {
	case SHOWN_QUEUED:
		reason_queued(status, item, t);
		break;
	case SHOWN_STARTING:
		if (run_has_no_device(item->run)) {
			text_add(t, item->job->reason);
			break;
		}
		text_add(t, "waits for ");
		status_add_devices(t, item->run);
		break;
	case SHOWN_RUNNING:
		reason_running(item, t);
		break;
	case SHOWN_SUSPENDED:
		status_add_kept(t, item->run);
		text_add(t, "; ");
		reason_queued(status, item, t);
		break;
	case SHOWN_STOPPING:
		status_add_stopping(t, status, item);
		break;
	case SHOWN_PAUSED:
	case SHOWN_HELD:
		if (item->run) {
			status_add_held(t, status, item->run);
			text_addf(t, "; 'pollux release %lld' lets it go",
				  (long long)item->job->id);
			break;
		}
		text_add(t, *item->job->reason ? item->job->reason
					   : shown_state_name(item->state));
		break;
	case SHOWN_DONE: case SHOWN_FAILED: case SHOWN_CANCELLED: case SHOWN_TIMEOUT:
		status_add_end(t, item->job);
		text_addf(t, t->length > before ? " (%s)" : "at %s", end.s);
		break;
	}
}

/* --- the table --- */

enum table_style status_style(enum shown_state state)
{
	static const enum table_style styles[] = {
		[SHOWN_QUEUED] = STYLE_PLAIN, [SHOWN_STARTING] = STYLE_YELLOW,
		[SHOWN_RUNNING] = STYLE_GREEN, [SHOWN_SUSPENDED] = STYLE_PLAIN,
		[SHOWN_STOPPING] = STYLE_YELLOW,
		[SHOWN_HELD] = STYLE_DIM, [SHOWN_PAUSED] = STYLE_DIM, [SHOWN_DONE] = STYLE_DIM,
		[SHOWN_FAILED] = STYLE_RED,
		[SHOWN_CANCELLED] = STYLE_DIM, [SHOWN_TIMEOUT] = STYLE_RED,
	};

	return styles[state];
}

static void add_row(struct table *t, const struct status *status, const struct status_job *item)
{
	double batch_size = status_batch(item);
	struct text text = TEXT_INIT;

	table_cell(t, "%lld", (long long)item->job->id);
	status_add_name(&text, status, item->job);
	table_text(t, text.data);
	text_clear(&text);
	table_text(t, shown_state_name(item->state));
	table_text(t, status_devices(item).s);
	table_duration(t, item->run_time_s);
	status_add_done(&text, item);
	table_text(t, text.data);
	text_clear(&text);
	if (batch_size < 100000)
		table_cell(t, "%.0f", batch_size);
	else
		table_count(t, batch_size);
	table_number(t, item->run ? item->run->step_time_s * 1e3 : (double)NAN);
	table_text(t, status_eta(item).s);
	status_add_why(&text, status, item);
	table_text(t, text.data);
	text_release(&text);
	table_style(t, status_style(item->state));
	if (job_has_ended(item->job->state))
		table_one_line(t);
}

/* --- around it --- */

void status_add_summary(struct text *t, const struct status *status)
{
	const struct { int n; const char *what; } counts[] = {
		{ status->n_running, "running" }, { status->n_suspended, "suspended" },
		{ status->n_waiting, "waiting" }, { status->n_paused, "paused" },
		{ status->n_held, "held" }, { status->n_ended, "ended" },
	};
	const char *separator = "; ";

	if (status->n_devices_in_use)
		text_addf(t, "%d device%s in use", status->n_devices_in_use,
			  plural(status->n_devices_in_use));
	else
		text_add(t, "no device in use");
	if (status->n_cpu_jobs)
		text_addf(t, ", %d CPU job%s", status->n_cpu_jobs, plural(status->n_cpu_jobs));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (counts[i].n == 0)
			continue;
		text_addf(t, "%s%d %s", separator, counts[i].n, counts[i].what);
		separator = ", ";
	}
}

void status_add_people(struct text *t, const struct status *status)
{
	const struct people *people = &status->people;

	/* me.devices 0: no recent pass of this store wrote them */
	if (people->count)
		people_describe(people, status->n_devices_in_use, people->me.devices
				? people->me.devices : people->items[0].devices, t);
}

static void print_summary(const struct status *status, FILE *out)
{
	struct text t = TEXT_INIT;

	status_add_summary(&t, status);
	fprintf(out, "%s\n", t.data);
	text_clear(&t);
	status_add_people(&t, status);
	fprintf(out, t.length ? "%s\n\n" : "%s\n", t.data);
	text_release(&t);
}

/* Finds a waiting job that a pass should have dealt with: a job that no pass has looked at, or one
 * that was due to start. */
static const struct job *overdue(const struct status *status)
{
	for (int i = 0; i < status->jobs.count; i++) {
		const struct job *job = &status->jobs.items[i];
		double since_s = *job->reason ? job->next_start_s : job->submit_time_s;

		if (job->state == JOB_QUEUED && status->now_wall_s - since_s > LATE_S)
			return job;
	}
	return NULL;
}

void status_add_hints(struct strings *hints, const struct status *status)
{
	static const char remedy[] = "type 'pollux schedule', or 'pollux cron --install'";
	const struct job *late = overdue(status);

	if (status->outage.length)
		strings_addf(hints, "No run starts or stops %s.", status->outage.data);
	if (status->disk_full.length)
		strings_addf(hints, "No run starts: %s.", status->disk_full.data);
	if (status->hung_pass.length)
		strings_addf(hints, "No pass can run: %s.", status->hung_pass.data);
	else if (status->n_waiting && !status->ever_scheduled)
		strings_addf(hints, "No pass has run yet: %s.", remedy);
	else if (late && *late->reason)
		strings_addf(hints, "No pass has run since %s, when job %lld was to start:\n%s.",
			     format_time(late->next_start_s, status->now_wall_s).s,
			     (long long)late->id, remedy);
	else if (late)
		strings_addf(hints, "No pass has run since job %lld was submitted:\n%s.",
			     (long long)late->id, remedy);
	else if (status->n_waiting && !status->passes_come)
		strings_add(hints, "No pass comes by itself, only when a job is submitted, ends or "
			    "is to begin: type\n'pollux cron --install', or 'pollux schedule "
			    "--watch 10' in a terminal.");
}

static void print_hints(const struct status *status, FILE *out)
{
	struct strings hints = { 0 };

	status_add_hints(&hints, status);
	for (size_t i = 0; i < hints.count; i++) {
		const char *line = hints.items[i];

		fputc('\n', out);
		for (size_t n; *line; line += n + (line[n] == '\n')) {
			n = strcspn(line, "\n");
			output_sayf(out, "%.*s", (int)n, line);
		}
	}
	strings_release(&hints);
}

/* The row stands in the place of the first of the group's jobs at rest. 'pollux status group:N'
 * shows the rows of these jobs. */
static void add_group_row(struct table *t, const struct status_group *group)
{
	struct text cell = TEXT_INIT;

	table_text(t, "-");
	text_addf(&cell, "group:%lld ", (long long)group->id);
	status_add_group_name(&cell, group->name);
	table_text(t, cell.data);
	text_clear(&cell);
	table_text(t, status_group_state(group));
	table_dashes(t, N_NUMBERS);
	status_add_group(&cell, group);
	table_text(t, cell.data);
	text_release(&cell);
}

void status_print_table(const struct status *status, const struct output *out)
{
	struct status_row *rows;
	struct table t;
	int n;

	if (status->jobs.count == 0) {
		fputs("No jobs; 'pollux submit' queues one, 'pollux status --all' shows ended "
		      "ones.\n", out->file);
		return;
	}
	rows = status_rows(status, &n);
	table_begin(&t, columns);
	for (int i = 0; i < n; i++)
		if (rows[i].group)
			add_group_row(&t, rows[i].group);
		else
			add_row(&t, status, rows[i].item);
	free(rows);
	print_summary(status, out->file);
	table_end(&t, out);
	if (status->n_left_out)
		fprintf(out->file, "\n%d more ended: 'pollux status --all' has them, 'pollux "
			"clear' clears them.\n", status->n_left_out);
	print_hints(status, out->file);
}

/* --- pollux status --summary: the time and work of each job --- */

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

static double ran_s(const struct status_job *item)
{
	return isnan(item->run_time_s) ? 0 : item->run_time_s;
}

double status_total_s(const struct status *status, const struct status_job *item)
{
	double end_s = item->job->end_time_s;

	return fmax((isfinite(end_s) ? end_s : status->now_wall_s) - item->job->submit_time_s, 0);
}

double status_waited_s(const struct status *status, const struct status_job *item)
{
	return fmax(status_total_s(status, item) - ran_s(item), 0);
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
		const struct status_job *item = &status->items[i];
		const struct job *job = item->job;
		const struct progress *progress = &job->progress;

		table_cell(&t, "%lld", (long long)job->id);
		table_text(&t, job->declared.name);
		table_text(&t, shown_state_name(item->state));
		table_cell(&t, "%d", progress->runs);
		table_cell(&t, "%d", progress->preemptions);
		table_count(&t, progress->samples);
		table_count(&t, isnan(progress->checkpoint_samples) && !(progress->lost_samples > 0)
				? (double)NAN : progress->lost_samples);
		table_duration(&t, status_waited_s(status, item));
		table_duration(&t, ran_s(item));
		table_duration(&t, status_total_s(status, item));
		table_text(&t, *progress->status_text ? progress->status_text : job->reason);
		total_s += status_total_s(status, item);
		waited_s += status_waited_s(status, item);
	}
	table_end(&t, out);
	fprintf(out->file, "\n%d job%s; mean from submission to end %s, of it waiting %s\n", n,
		plural(n), format_duration(total_s / n).s, format_duration(waited_s / n).s);
}
