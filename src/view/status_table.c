/* status_table.c - one line for each job: how far it is, and why it is not further. */
#include <math.h>
#include <string.h>

#include "pollux/columns.h"
#include "pollux/format.h"
#include "pollux/status.h"

/* A queued job that no pass has looked at for so long: cron, which runs one each minute, does not. */
#define LATE_S 150.0

static const struct column columns[] = {
	{ .heading = "ID", .right = true },
	{ .heading = "NAME", .room = 8 },
	{ .heading = "STATE" },
	{ .heading = "DEV", .right = true, .leave_out = 4 },
	{ .heading = "TIME", .right = true, .leave_out = 3 },
	{ .heading = "DONE", .right = true, .leave_out = 6 },
	{ .heading = "BATCH", .right = true, .leave_out = 1 },
	{ .heading = "MS/STEP", .right = true, .leave_out = 2 },
	{ .heading = "ETA", .right = true, .leave_out = 5 },
	{ .heading = "REASON", .room = 60, .below = true },
};

/* --- cells --- */

/* Share of the declared work; without one, the samples or the updates done. */
static void add_done(struct columns *t, const struct status_job *item)
{
	char buf[FORMAT_SIZE];

	if (isfinite(item->done_ratio))
		columns_cell(t, "%.0f%%", floor(item->done_ratio * 100));
	else if (isfinite(item->job->progress.samples))
		columns_text(t, format_count(buf, sizeof(buf), item->job->progress.samples));
	else if (isfinite(item->job->progress.steps))
		columns_cell(t, "%s st", format_count(buf, sizeof(buf), item->job->progress.steps));
	else
		columns_text(t, "-");
}

static void add_batch(struct columns *t, const struct status_job *item)
{
	int64_t batch_size = item->run ? configuration_batch_size(&item->run->configuration)
				       : item->job->declared.batch_size;
	char buf[FORMAT_SIZE];

	if (batch_size <= 0)
		columns_text(t, "-");
	else if (batch_size < 100000)
		columns_cell(t, "%lld", (long long)batch_size);
	else
		columns_text(t, format_count(buf, sizeof(buf), (double)batch_size));
}

/* Three digits, or as many as there are before the point. */
static void add_step_time(struct columns *t, const struct status_job *item)
{
	double ms = item->run ? item->run->step_time_s * 1e3 : (double)NAN;

	if (!isfinite(ms))
		columns_text(t, "-");
	else
		columns_cell(t, "%.*f", ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0, ms);
}

static void add_duration(struct columns *t, double seconds)
{
	char buf[FORMAT_SIZE];

	columns_text(t, format_duration(buf, sizeof(buf), seconds));
}

/* --- reasons --- */

static void reason_queued(const struct status *status, const struct status_job *item, struct text *out)
{
	const struct job *job = item->job;

	if (job->next_start_s > status->now_wall_s) {
		char buf[FORMAT_SIZE];

		text_addf(out, "by %s: ", format_time(buf, sizeof(buf), job->next_start_s,
						     status->now_wall_s));
	} else if (isfinite(job->next_start_s)) {
		text_add(out, "next pass: ");
	}
	text_add(out, *job->reason ? job->reason : "no pass has looked at it yet");
}

static void reason_starting(const struct status *status, const struct status_job *item,
			    struct text *out)
{
	(void)status;
	text_add(out, "waits for ");
	status_add_devices(out, item->run);
}

/* Why it has what it has, and what its program says of itself. Loss and epoch are in 'status ID'. */
static void reason_running(const struct status *status, const struct status_job *item, struct text *out)
{
	const struct job *job = item->job;

	(void)status;
	if (*job->reason) {
		status_add_reason(out, item);
	} else if (item->run) {
		text_add(out, "on ");
		status_add_devices(out, item->run);
	}
	if (*job->progress.status_text && !job->profile)
		text_addf(out, "%s%s", out->length ? "; " : "", job->progress.status_text);
}

static void reason_stopping(const struct status *status, const struct status_job *item,
			    struct text *out)
{
	static const char *const words[N_STOP_REASONS] = {
		[STOP_NONE] = "stopping", [STOP_PREEMPT] = "gives way", [STOP_REQUEUE] = "to be requeued",
		[STOP_HOLD] = "to be held", [STOP_CANCEL] = "to be cancelled",
		[STOP_TIME_LIMIT] = "time limit reached", [STOP_ORPHAN] = "lost its supervisor",
		[STOP_SHUTDOWN] = "shutdown",
		[STOP_MEASURED] = "measured",
	};
	const struct run *run = item->run;
	char buf[FORMAT_SIZE];

	text_add(out, words[run->stop_reason]);
	if (status->now_boot_s >= run->stop_boot_s)
		text_addf(out, "; asked to stop %s ago", format_duration(buf, sizeof(buf),
			  status->now_boot_s - run->stop_boot_s));
	text_addf(out, ", grace %s", format_duration(buf, sizeof(buf), item->job->declared.grace_s));
}

static void reason_held(const struct status *status, const struct status_job *item, struct text *out)
{
	(void)status;
	text_add(out, *item->job->reason ? item->job->reason : "held");
}

/* What its program said last or what went wrong, and when it ended; the STATE column has the rest. */
static void reason_ended(const struct status *status, const struct status_job *item, struct text *out)
{
	const struct job *job = item->job;
	const char *reason = job->reason, *state = job_state_name(job->state);
	char buf[FORMAT_SIZE];

	if (job->state == JOB_DONE && !job->profile)
		reason = job->progress.status_text;
	else if (text_starts_with(reason, state))
		reason += strlen(state) + strspn(reason + strlen(state), ": ");
	format_time(buf, sizeof(buf), job->end_time_s, status->now_wall_s);
	if (*reason)
		text_addf(out, "%s (%s)", reason, buf);
	else
		text_addf(out, "at %s", buf);
}

static void add_reason(struct columns *t, const struct status *status, const struct status_job *item)
{
	static void (*const reasons[])(const struct status *, const struct status_job *,
				       struct text *) = {
		[SHOWN_QUEUED] = reason_queued, [SHOWN_STARTING] = reason_starting,
		[SHOWN_RUNNING] = reason_running, [SHOWN_STOPPING] = reason_stopping,
		[SHOWN_HELD] = reason_held, [SHOWN_DONE] = reason_ended,
		[SHOWN_FAILED] = reason_ended, [SHOWN_CANCELLED] = reason_ended,
		[SHOWN_TIMEOUT] = reason_ended,
	};
	struct text reason = TEXT_INIT;

	reasons[item->state](status, item, &reason);
	columns_text(t, reason.data);
	text_release(&reason);
}

/* --- the table --- */

static enum table_style style_of(enum shown_state state)
{
	static const enum table_style styles[] = {
		[SHOWN_QUEUED] = STYLE_PLAIN, [SHOWN_STARTING] = STYLE_YELLOW,
		[SHOWN_RUNNING] = STYLE_GREEN, [SHOWN_STOPPING] = STYLE_YELLOW,
		[SHOWN_HELD] = STYLE_DIM, [SHOWN_DONE] = STYLE_DIM, [SHOWN_FAILED] = STYLE_RED,
		[SHOWN_CANCELLED] = STYLE_DIM, [SHOWN_TIMEOUT] = STYLE_RED,
	};

	return styles[state];
}

static void add_row(struct columns *t, const struct status *status, const struct status_job *item)
{
	columns_cell(t, "%lld", (long long)item->job->id);
	columns_text(t, item->job->declared.name);
	columns_text(t, shown_state_name(item->state));
	if (item->run)
		columns_cell(t, "%d", item->run->configuration.replicas);
	else
		columns_text(t, "-");
	add_duration(t, item->run_time_s);
	add_done(t, item);
	add_batch(t, item);
	add_step_time(t, item);
	add_duration(t, item->eta_s);
	add_reason(t, status, item);
	columns_style(t, style_of(item->state));
}

/* --- around it --- */

static void print_count(FILE *out, int n, const char *what, bool *first)
{
	if (n == 0)
		return;
	fprintf(out, "%s%d %s", *first ? "" : ", ", n, what);
	*first = false;
}

static void print_summary(const struct status *status, FILE *out)
{
	bool first = true;

	if (status->n_devices_in_use)
		fprintf(out, "%d device%s in use; ", status->n_devices_in_use,
			status->n_devices_in_use == 1 ? "" : "s");
	else
		fputs("no device in use; ", out);
	print_count(out, status->n_running, "running", &first);
	print_count(out, status->n_waiting, "waiting", &first);
	print_count(out, status->n_held, "held", &first);
	print_count(out, status->n_ended, "ended", &first);
	fputs("\n\n", out);
}

/* A job that waits and that a pass would have dealt with: never looked at, or due to start. */
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

static void print_hint(const struct status *status, FILE *out)
{
	static const char remedy[] = "type 'pollux schedule', or 'pollux cron --install'";
	const struct job *late = overdue(status);
	char buf[FORMAT_SIZE];

	if (status->n_waiting && !status->ever_scheduled)
		fprintf(out, "\nNo pass has run yet: %s.\n", remedy);
	else if (late && *late->reason)
		fprintf(out, "\nNo pass has run since %s, when job %lld was to start:\n%s.\n",
			format_time(buf, sizeof(buf), late->next_start_s, status->now_wall_s),
			(long long)late->id, remedy);
	else if (late)
		fprintf(out, "\nNo pass has run since job %lld was submitted:\n%s.\n",
			(long long)late->id, remedy);
}

void status_print_table(const struct status *status, const struct status_output *out)
{
	struct columns t;

	if (status->jobs.count == 0) {
		fputs("No jobs; 'pollux submit' queues one, 'pollux status --all' shows ended ones.\n",
		      out->file);
		return;
	}
	columns_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < status->jobs.count; i++)
		add_row(&t, status, &status->items[i]);
	print_summary(status, out->file);
	columns_print(&t, out->file, out->width, out->color);
	print_hint(status, out->file);
	columns_release(&t);
}
