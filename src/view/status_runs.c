/* status_runs.c - the tables of a job: its runs, and its measured step times. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>

#include "pollux/columns.h"
#include "pollux/format.h"
#include "pollux/signal_name.h"
#include "pollux/status.h"

/* "128", or "128=2*32*2": replicas, local batch, passes. */
static void cell_batch(struct columns *t, const struct configuration *c)
{
	int64_t batch_size = configuration_batch_size(c);

	if (batch_size <= 0)
		columns_text(t, "-");
	else if (c->replicas == 1 && c->accumulation_steps == 1)
		columns_cell(t, "%lld", (long long)batch_size);
	else
		columns_cell(t, "%lld=%d*%lld*%d", (long long)batch_size, c->replicas,
			     (long long)c->local_batch_size, c->accumulation_steps);
}

static void cell_number(struct columns *t, double x)
{
	if (!isfinite(x))
		columns_text(t, "-");
	else
		columns_cell(t, "%.*f", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
}

static void cell_duration(struct columns *t, double seconds)
{
	char buf[FORMAT_SIZE];

	columns_text(t, format_duration(buf, sizeof(buf), seconds));
}

static void cell_samples(struct columns *t, const struct run *run)
{
	if (isfinite(run->first_samples) && isfinite(run->last_samples)) {
		char first[FORMAT_SIZE], last[FORMAT_SIZE];

		columns_cell(t, "%s-%s", format_count(first, sizeof(first), run->first_samples),
			     format_count(last, sizeof(last), run->last_samples));
	} else {
		columns_text(t, "-");
	}
}

/* In one or two words, so that it fits: why a run was stopped, else how it ended. */
static const char *outcome_word(const struct run *run)
{
	static const char *const stopped[N_STOP_REASONS] = {
		[STOP_NONE] = "stopped", [STOP_PREEMPT] = "preempted", [STOP_REQUEUE] = "requeued",
		[STOP_HOLD] = "held", [STOP_CANCEL] = "cancelled", [STOP_TIME_LIMIT] = "time limit",
		[STOP_ORPHAN] = "orphaned", [STOP_SHUTDOWN] = "shutdown",
		[STOP_MEASURED] = "measured",
	};

	if (run->state != RUN_ENDED)
		return run->stop_reason == STOP_NONE ? run_state_name(run->state) : "stopping";
	if (run->outcome == OUTCOME_STOPPED)
		return stopped[run->stop_reason];
	if (run->outcome == OUTCOME_NOT_STARTED && run->stop_reason != STOP_NONE)
		return "called off";
	return run_outcome_name(run->outcome);
}

/* How a run that was stopped left is told by its word, unless it had to be killed. */
static bool is_worth_telling(const struct run *run)
{
	return run->outcome != OUTCOME_STOPPED || run->term_signal == SIGKILL;
}

static void cell_outcome(struct columns *t, const struct run *run)
{
	struct text s = TEXT_INIT;

	text_add(&s, outcome_word(run));
	if (run->term_signal > 0 && is_worth_telling(run)) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&s, ", %s", signal_name(name, run->term_signal));
	} else if (run->exit_code > 0 && is_worth_telling(run)) {
		text_addf(&s, ", status %d", run->exit_code);
	}
	if (run->diagnosis && *run->diagnosis)
		text_addf(&s, ": %s", run->diagnosis);
	columns_text(t, s.data);
	text_release(&s);
}

/* Of the run at work up to this moment: what status.c has added to the runs before. */
static double run_duration(const struct status_job *item, const struct run *run)
{
	if (isnan(run->launch_time_s))
		return NAN;
	if (item->run && item->run->id == run->id)
		return item->run_time_s - item->job->progress.run_time_s;
	return run->duration_s;
}

static void add_run(struct columns *t, const struct status *status, const struct status_job *item,
		    const struct run *run)
{
	struct text devices = TEXT_INIT;
	char buf[FORMAT_SIZE];

	columns_cell(t, "%d", run->number);
	columns_text(t, format_time(buf, sizeof(buf), run->launch_time_s, status->now_wall_s));
	cell_duration(t, run_duration(item, run));
	status_add_devices(&devices, run);
	columns_text(t, devices.data);
	text_release(&devices);
	cell_batch(t, &run->configuration);
	cell_samples(t, run);
	cell_number(t, run->step_time_s * 1e3);
	cell_number(t, run->first_step_s);
	cell_number(t, run->stop_duration_s);
	cell_outcome(t, run);
}

/* A configuration that it ran at before the present one, or its last: sizes and step time. */
static void add_earlier(struct columns *t, const struct observation_row *row)
{
	for (int i = 0; i < 4; i++)
		columns_text(t, "");
	cell_batch(t, &row->configuration);
	columns_text(t, "");
	cell_number(t, row->observation.step_time_s * 1e3);
	columns_text(t, "");
	columns_text(t, "");
	columns_text(t, "before that");
}

static bool is_earlier(const struct observation_row *row, const struct run *run)
{
	return row->run_id == run->id &&
	       !configuration_equal(&row->configuration, &run->configuration);
}

static void add_run_and_earlier(struct columns *t, const struct status *status, const struct status_job *item,
				const struct status_details *d, const struct run *run)
{
	add_run(t, status, item, run);
	for (int i = d->of_runs.count - 1; i >= 0; i--)
		if (is_earlier(&d->of_runs.items[i], run))
			add_earlier(t, &d->of_runs.items[i]);
}

void status_print_runs(const struct status *status, const struct status_job *item,
		       const struct status_details *d, const struct status_output *out)
{
	static const struct column columns[] = {
		{ .heading = "RUN", .right = true },
		{ .heading = "START", .leave_out = 4 },
		{ .heading = "TIME", .right = true },
		{ .heading = "ON", .room = 5 },
		{ .heading = "BATCH", .leave_out = 6 },
		{ .heading = "SAMPLES", .leave_out = 5 },
		{ .heading = "MS/STEP", .right = true, .leave_out = 3 },
		{ .heading = "FIRST", .right = true, .leave_out = 2 },
		{ .heading = "STOP", .right = true, .leave_out = 1 },
		{ .heading = "OUTCOME", .room = 19 },
	};
	struct columns t;

	if (d->runs.count == 0)
		return;
	fputs("\nruns (FIRST: seconds to the first step; STOP: from signal to end)\n", out->file);
	columns_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < d->runs.count; i++)
		add_run_and_earlier(&t, status, item, d, &d->runs.items[i]);
	columns_print(&t, out->file, out->width, out->color);
	columns_release(&t);
}

static void add_observation(struct columns *t, const struct observation_row *row)
{
	const struct observation *o = &row->observation;
	char buf[FORMAT_SIZE];

	columns_cell(t, "%d", row->configuration.replicas);
	cell_batch(t, &row->configuration);
	columns_text(t, format_count(buf, sizeof(buf), (double)o->n_steps));
	cell_number(t, o->step_time_s * 1e3);
	cell_number(t, o->step_time_sd_s * 1e3);
	cell_number(t, o->step_time_min_s * 1e3);
	cell_number(t, o->sync_time_s * 1e3);
	columns_text(t, row->device_kind);
}

void status_print_observations(const struct status_details *d, const struct status_output *out)
{
	static const struct column columns[] = {
		{ .heading = "DEV", .right = true },
		{ .heading = "BATCH" },
		{ .heading = "STEPS", .right = true, .leave_out = 2 },
		{ .heading = "MS/STEP", .right = true },
		{ .heading = "SD", .right = true, .leave_out = 3 },
		{ .heading = "MIN", .right = true, .leave_out = 1 },
		{ .heading = "SYNC", .right = true, .leave_out = 4 },
		{ .heading = "KIND", .room = 10 },
	};
	struct columns t;

	if (d->observations.count == 0)
		return;
	fputs("\nmeasured step times, ms (medians of windows: their mean, deviation, least)\n",
	      out->file);
	columns_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < d->observations.count; i++)
		add_observation(&t, &d->observations.items[i]);
	columns_print(&t, out->file, out->width, out->color);
	columns_release(&t);
}
