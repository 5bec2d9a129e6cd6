/* status_job.c - everything about one job, for a person. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"
#include "pollux/secret.h"
#include "pollux/steps.h"
#include "pollux/text.h"

/* --- sections --- */

void status_print_head(const char *what, const struct job *job, const struct output *out)
{
	fprintf(out->file, "%s %lld: ", what, (long long)job->id);
	output_clean(out->file, job->declared.name);
	fputc('\n', out->file);
}

void status_add_state(struct text *t, const struct status *status, const struct status_job *item,
		      const char *remark)
{
	text_addf(t, "%s%s", shown_state_name(item->state), remark);
	if (item->state == SHOWN_SUSPENDED) {
		text_add(t, " (");
		status_add_kept(t, item->run);
		text_add(t, ")");
	}
	if (item->state == SHOWN_HELD && item->run) {
		text_add(t, "; ");
		status_add_held(t, status, item->run);
		return;
	}
	if (!item->run || run_held(item->run) == 0)
		return;
	text_add(t, item->state == SHOWN_STARTING ? ", waits for " : " on ");
	status_add_devices(t, item->run);
}

static void print_times(const struct status *status, const struct job *job,
			const struct output *out)
{
	const struct { const char *name; double time_s; } times[] = {
		{ "submitted", job->submit_time_s }, { "started", job->start_time_s },
		{ "ended", job->end_time_s },
	};
	struct text t = TEXT_INIT;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		output_line(out, times[i].name, format_time(times[i].time_s, status->now_wall_s).s);
	if (!job_has_ended(job->state))
		return;
	if (job->progress.term_signal > 0) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&t, "killed by %s", signal_name(name, job->progress.term_signal));
	} else if (job->progress.exit_code >= 0) {
		text_addf(&t, "%d", job->progress.exit_code);
	}
	output_textline(out, "exit status", &t);
	text_release(&t);
}

static void print_command(const struct status_details *d, const struct output *out)
{
	const struct job_command *c = &d->command;
	struct text t = TEXT_INIT;
	const struct code_state *last = &c->first_code;

	status_add_words(&t, &c->argv, (size_t)2 * OUTPUT_CLEAN_BYTES);
	output_textline(out, "command", &t);
	output_line(out, "program", c->program);
	output_line(out, "directory", c->directory);
	if (c->git_commit)
		text_addf(&t, "%s%s", c->git_commit, c->git_dirty ? ", with changes" : "");
	output_textline(out, "commit", &t);
	for (int i = 0; i < d->runs.count; i++)
		if (d->runs.items[i].code.tree[0])
			last = &d->runs.items[i].code;
	if (code_differs(&c->first_code, last))
		text_addf(&t, "changed since the first run: %s -> %s", c->first_code.commit,
			  last->commit);
	else if (c->git_tree && c->first_code.tree[0] && strcmp(c->git_tree, last->tree) != 0)
		text_addf(&t, "changed between submission and first run: %s%s -> %s",
			  c->git_commit, c->git_dirty ? "+" : "", last->commit);
	output_text_if(out, "code", &t);
	if (c->snapshot_dir)
		output_line(out, "snapshot", c->snapshot_dir);
	output_line(out, "log", d->log_path);
	output_line(out, "checkpoints", d->checkpoint_dir);
	output_line(out, "pattern", c->checkpoint_glob);
	output_line(out, "resume args", c->resume_args);
	if (c->env_names_only)
		output_line(out, "environment", "names only: its values are no longer stored");
	else if (secrets_add_names(&t, &c->env, false))
		text_add(&t, ": no longer stored, as the job has ended");
	output_text_if(out, "environment", &t);
	text_release(&t);
}

/* The source of step times: of the present run, else of the last run that had steps; "": none. */
static const char *step_source(const struct status_details *d)
{
	const char *source = "";

	for (int i = d->runs.count - 1; i >= 0 && !*source; i--)
		source = d->runs.items[i].step_source;
	return source;
}

static void add_step_source(struct text *t, const char *source)
{
	if (text_starts_with(source, "log:"))
		text_addf(t, "from its log, pattern %s", source + strlen("log:"));
	else if (*source)
		text_addf(t, "from its %s", source);
}

/* Prints where the metrics of the last run that tells are to be seen. */
static void print_addresses(const struct status_details *d, const struct output *out)
{
	const char *wandb = "", *tensorboard = "";

	for (int i = 0; i < d->runs.count; i++) {
		const struct run *run = &d->runs.items[i];

		wandb = *run->wandb_url ? run->wandb_url : wandb;
		tensorboard = *run->tensorboard_url ? run->tensorboard_url : tensorboard;
	}
	if (*wandb)
		output_line(out, "wandb", wandb);
	if (*tensorboard)
		output_line(out, "tensorboard", tensorboard);
}

/* Adds how many reports were refused over all runs, and why the last one was. */
static void add_refused(struct text *t, const struct status_details *d)
{
	const char *why = "";
	long long n = 0;

	for (int i = 0; i < d->runs.count; i++) {
		n += d->runs.items[i].refused_reports;
		if (d->runs.items[i].refused_reports > 0)
			why = d->runs.items[i].refusal;
	}
	if (n > 0)
		text_addf(t, "%lld report%s; the last one: %s", n, plural(n), why);
}

static void add_lost(struct text *t, const struct progress *p)
{
	if (isfinite(p->checkpoint_samples) || p->lost_samples > 0)
		status_add_number(t, "samples", p->lost_samples);
	if (t->length || p->lost_s > 0)
		status_add_duration(t, "running", p->lost_s);
	else if (p->saves_when_asked == 1)
		text_add(t, "nothing when it was asked to stop");
	else if (p->preemptions > 0)
		text_add(t, "not known: it reports no checkpoints, and shows none in its "
			    "directory of checkpoints");
}

/* Where a run stands in the last of its trainings that follow each other. */
static void add_stage(struct text *t, const struct status_job *item, const struct run *run)
{
	double total = job_total(item->job).amount.steps, first;

	if (!run || run->stage < 2 || !(item->job->progress.steps >= run->stage_first_steps))
		return;
	first = run->stage_first_steps;
	text_addf(t, "%sstage %lld: %.15g", status_separator(t), (long long)run->stage,
		  item->job->progress.steps - first);
	if (total > first)
		text_addf(t, " of %.15g", total - first);
}

/* source: that of the steps, whose log may call them otherwise. */
static void add_position(struct text *t, const struct status_job *item, const struct run *run,
			 const char *source)
{
	bool is_log = text_starts_with(source, "log:");
	const char *counts = is_log ? steps_pattern_counts(source + strlen("log:")) : "steps";
	const struct progress *p = &item->job->progress;
	bool is_least = p->position_is_least && !(item->done_ratio >= 1);
	struct training_amount total = job_total(item->job).amount;
	char name[40];

	status_add_number(t, is_least ? "samples at least" : "samples", p->samples);
	snprintf(name, sizeof(name), "%s%s", counts, is_least ? " at least" : "");
	status_add_number(t, name, p->steps);
	if (isfinite(p->steps) && isfinite(total.steps))
		text_addf(t, " of %.15g", total.steps);
	add_stage(t, item, run);
	status_add_number(t, "epoch", p->epoch);
	if (isfinite(p->epoch) && isfinite(total.epochs))
		text_addf(t, " of %.15g", total.epochs);
	status_add_loss(t, p);
	if (item->done_ratio > 1)
		text_addf(t, "%sover its declared end", status_separator(t));
	else if (isfinite(item->done_ratio))
		text_addf(t, "%s%s%.1f%% done", status_separator(t), is_least ? "at least " : "",
			  floor(item->done_ratio * 1000) / 10);
}

static void print_progress(const struct status *status, const struct status_job *item,
			   const struct status_details *d, const struct output *out)
{
	const struct progress *p = &item->job->progress;
	struct text t = TEXT_INIT;

	fputs("\nprogress\n", out->file);
	add_position(&t, item, d->runs.count ? &d->runs.items[d->runs.count - 1] : NULL,
		     step_source(d));
	output_textline(out, "position", &t);
	status_add_number(&t, "samples/s", item->throughput_eps);
	status_add_duration(&t, "to its end", item->eta_s);
	if (isfinite(item->expected_s))
		text_addf(&t, "%sto its end about %s, if it is as long as %d done of its workload",
			  status_separator(&t), format_duration(item->expected_s).s,
			  item->expected_jobs);
	output_textline(out, "rate", &t);
	status_add_ends(&t, status, item);
	output_textline(out, "ends", &t);
	status_add_metrics(&t, &d->metrics);
	output_text_if(out, "metrics", &t);
	print_addresses(d, out);
	add_step_source(&t, step_source(d));
	output_textline(out, "step times", &t);
	status_add_helper(&t, item->job, d->runs.count ? &d->runs.items[d->runs.count - 1] : NULL);
	output_textline(out, "helper", &t);
	status_add_adapted(&t, item->job, d->runs.count ? &d->runs.items[d->runs.count - 1] : NULL,
			   &d->events);
	output_text_if(out, "adapted", &t);
	add_refused(&t, d);
	output_text_if(out, "refused", &t);
	output_line(out, "status", p->status_text);
	status_add_number(&t, "at samples", p->checkpoint_samples);
	if (p->saved_nothing)
		text_addf(&t, "%snothing was saved when it was asked to stop: no pass stops it "
			  "again", status_separator(&t));
	output_textline(out, "checkpoint", &t);
	add_lost(&t, p);
	output_textline(out, "lost", &t);
	status_add_duration(&t, "running", item->run_time_s);
	if (p->runs > 0)
		status_add_duration(&t, "times devices", item->attained_service_device_s);
	output_textline(out, "time", &t);
	text_addf(&t, "%d, preempted %d, failed %d", p->runs, p->preemptions, p->failures);
	output_textline(out, "runs", &t);
	text_release(&t);
}

/* --- events --- */

/* A table whose last column is never clipped, since the texts have the numbers. */
static void print_events(const struct status *status, const struct status_details *d,
			 const struct output *out)
{
	const char *bold = out->color ? "\033[1m" : "", *plain = out->color ? "\033[0m" : "";
	int times = (int)strlen("TIME"), kinds = (int)strlen("EVENT");

	if (d->events.count == 0)
		return;
	for (int i = 0; i < d->events.count; i++) {
		const struct event *e = &d->events.items[i];
		int time = (int)strlen(format_time(e->time_s, status->now_wall_s).s);
		int kind = (int)strlen(e->kind);

		times = time > times ? time : times;
		kinds = kind > kinds ? kind : kinds;
	}
	fprintf(out->file, "\nevents\n%s%-*s  %-*s  TEXT%s\n", bold, times, "TIME", kinds, "EVENT",
		plain);
	for (int i = 0; i < d->events.count; i++) {
		const struct event *e = &d->events.items[i];

		fprintf(out->file, "%-*s  %-*s  ", times,
			format_time(e->time_s, status->now_wall_s).s, kinds, e->kind);
		output_wrapped(out->file, out->width, times + kinds + 4, e->text);
	}
}

void status_print_job(const struct status *status, const struct status_job *item,
		      const struct status_details *d, const struct output *out)
{
	const struct job *job = item->job;
	struct text t = TEXT_INIT;
	bool begins;

	status_print_head("job", job, out);
	status_add_state(&t, status, item, job->profile ? ", a profile"
			 : job->interactive ? ", interactive" : "");
	output_textline(out, "state", &t);
	if (d->manager.length)
		output_line(out, "manager", d->manager.data);
	status_add_trouble(&t, item);
	begins = item->state == SHOWN_QUEUED && status_add_begin(&t, status, job);
	if (item->state == SHOWN_STOPPING)
		status_add_stopping(&t, status, item);
	else if (!begins)
		text_add(&t, job->reason);
	if (t.length > 2 && !strcmp(t.data + t.length - 2, "; "))	/* of a trouble alone */
		t.data[t.length -= 2] = '\0';
	output_textline(out, "reason", &t);
	if (begins)
		;
	else if (job->next_start_s <= status->now_wall_s)
		text_add(&t, "at the next pass");
	else
		status_add_start(&t, status, item);
	if (t.length && !job->profile)
		output_textline(out, "next start", &t);
	text_release(&t);
	print_times(status, item->job, out);
	print_command(d, out);
	status_print_declared(item->job, d, status->now_wall_s, out);
	print_progress(status, item, d, out);
	status_print_runs(status, item, d, out);
	status_print_use(job, d, out);
	status_print_observations(d, out);
	print_events(status, d, out);
}
