/* status_runs.c - the tables of a job: its runs, and its measured step times. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>

#include "parts.h"
#include "pollux/text.h"

/* "128", or "128=2*32*2": replicas, local batch, passes. Behind that the plan: "128 gc". */
static void cell_batch(struct table *t, const struct configuration *c)
{
	const char *blank = c->plan[0] ? " " : "";
	int64_t batch_size = configuration_batch_size(c);

	if (batch_size <= 0)
		table_text(t, c->plan[0] ? c->plan : "-");
	else if (configuration_workers(c) == 1 && c->accumulation_steps == 1)
		table_cell(t, "%lld%s%s", (long long)batch_size, blank, c->plan);
	else
		table_cell(t, "%lld=%d*%lld*%d%s%s", (long long)batch_size,
			   configuration_workers(c), (long long)c->local_batch_size,
			   c->accumulation_steps, blank, c->plan);
}

/* Says in one or two words why a run was stopped, else how it ended. */
static const char *outcome_word(const struct run *run)
{
	if (run->state != RUN_ENDED)
		return run->stop_reason == STOP_NONE ? run_state_name(run->state) : "stopping";
	if (run->outcome == OUTCOME_STOPPED)
		return stop_reason_words(run->stop_reason);
	if (run->outcome == OUTCOME_NOT_STARTED && run->stop_reason != STOP_NONE)
		return "called off";
	return run_outcome_name(run->outcome);
}

/* Returns the running time of a run. For the present run this is the job's running time up to now
 * without the stored time of earlier runs. */
static double run_duration(const struct status_job *item, const struct run *run)
{
	if (isnan(run->launch_time_s))
		return NAN;
	if (item->run && item->run->id == run->id)
		return item->run_time_s - item->job->progress.run_time_s;
	return run->duration_s;
}

static void add_run(struct table *t, const struct status *status, const struct status_job *item,
		    const struct run *run)
{
	struct text devices = TEXT_INIT;
	bool tells = run->outcome != OUTCOME_STOPPED || run->term_signal == SIGKILL;
	struct text s = TEXT_INIT;

	table_cell(t, "%d", run->number);
	table_text(t, format_time(run->launch_time_s, status->now_wall_s).s);
	table_duration(t, run_duration(item, run));
	status_add_devices(&devices, run);
	table_text(t, devices.data);
	text_release(&devices);
	cell_batch(t, &run->configuration);
	table_cell_if(t, isfinite(run->first_samples) && isfinite(run->last_samples), "%s-%s",
		      format_count(run->first_samples).s, format_count(run->last_samples).s);
	table_number(t, run->step_time_s * 1e3);
	table_number(t, run->first_step_s);
	table_number(t, run->stop_duration_s);
	/* The exit status or signal of a stopped run is left out, unless it had to be killed. */
	text_add(&s, outcome_word(run));
	if (tells && run->term_signal > 0) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&s, ", %s", signal_name(name, run->term_signal));
	} else if (tells && run->exit_code > 0) {
		text_addf(&s, ", status %d", run->exit_code);
	}
	if (run->diagnosis && *run->diagnosis)
		text_addf(&s, ": %s", run->diagnosis);
	table_text(t, s.data);
	text_release(&s);
}

/* An earlier configuration of a run: sizes and step time. */
static void add_earlier(struct table *t, const struct observation *row)
{
	for (int i = 0; i < 4; i++)
		table_text(t, "");
	cell_batch(t, &row->configuration);
	table_text(t, "");
	table_number(t, row->step_time_s * 1e3);
	table_text(t, "");
	table_text(t, "");
	table_text(t, "before that");
}

void status_print_runs(const struct status *status, const struct status_job *item,
		       const struct status_details *d, const struct output *out)
{
	static const struct table_column columns[] = {
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
	struct table t;

	if (d->runs.count == 0)
		return;
	fputs("\nruns (FIRST: seconds to the first step; STOP: from signal to end)\n", out->file);
	table_begin(&t, columns);
	for (int r = 0; r < d->runs.count; r++) {
		add_run(&t, status, item, &d->runs.items[r]);
		for (int i = d->of_runs.count - 1; i >= 0; i--)
			if (d->of_runs.items[i].run_id == d->runs.items[r].id &&
			    !configuration_equal(&d->of_runs.items[i].configuration,
						 &d->runs.items[r].configuration))
				add_earlier(&t, &d->of_runs.items[i]);
	}
	table_end(&t, out);
}

void status_print_observations(const struct status_details *d, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "DEV", .right = true },
		{ .heading = "BATCH" },
		{ .heading = "STEPS", .right = true, .leave_out = 2 },
		{ .heading = "MS/STEP", .right = true },
		{ .heading = "SD", .right = true, .leave_out = 3 },
		{ .heading = "MIN", .right = true, .leave_out = 1 },
		{ .heading = "SYNC", .right = true, .leave_out = 4 },
		{ .heading = "KIND", .room = 10 },
	};
	struct table t;

	if (d->observations.count == 0)
		return;
	fputs("\nmeasured step times, ms (medians of windows: their mean, deviation, least)\n",
	      out->file);
	table_begin(&t, columns);
	for (int i = 0; i < d->observations.count; i++) {
		const struct observation *o = &d->observations.items[i];

		table_cell(&t, "%d", o->configuration.replicas);
		cell_batch(&t, &o->configuration);
		table_count(&t, (double)o->n_steps);
		table_number(&t, o->step_time_s * 1e3);
		table_number(&t, o->step_time_sd_s * 1e3);
		table_number(&t, o->step_time_min_s * 1e3);
		table_number(&t, o->sync_time_s * 1e3);
		table_text(&t, o->configuration.kind);
	}
	table_end(&t, out);
}
