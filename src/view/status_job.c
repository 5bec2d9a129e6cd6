/* status_job.c - everything about one job, for a person. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "pollux/format.h"
#include "pollux/output.h"
#include "pollux/signal_name.h"
#include "pollux/status.h"

/* --- lines --- */

static void line(const struct status_output *out, const char *name, const char *value)
{
	output_line(out->file, out->width, name, value);
}

/* The line of a text built for it, which is then empty again. */
static void line_of(const struct status_output *out, const char *name, struct text *t)
{
	line(out, name, t->data);
	text_clear(t);
}

static const char *separator(const struct text *t)
{
	return t->length ? ", " : "";
}

/* Counts in digits, as they are compared with those of logs and checkpoints. */
static void add_number(struct text *t, const char *name, double value)
{
	bool is_large = fabs(value) >= 1e5 && fabs(value) < 1e15;

	if (isfinite(value))
		text_addf(t, is_large ? "%s%s %.0f" : "%s%s %.6g", separator(t), name, value);
}

static void add_duration(struct text *t, const char *name, double seconds)
{
	if (isfinite(seconds)) {
		char buf[FORMAT_SIZE];

		text_addf(t, "%s%s %s", separator(t), name, format_duration(buf, sizeof(buf), seconds));
	}
}

/* --- sections --- */

static void print_next_start(const struct status *status, const struct job *job,
			     const struct status_output *out)
{
	if (job->profile)
		return;
	if (job->next_start_s > status->now_wall_s) {
		char buf[FORMAT_SIZE], by[FORMAT_SIZE + 16];

		snprintf(by, sizeof(by), "by %s, or sooner",
			 format_time(buf, sizeof(buf), job->next_start_s, status->now_wall_s));
		line(out, "next start", by);
	} else if (isfinite(job->next_start_s)) {
		line(out, "next start", "at the next pass");
	}
}

static void print_state(const struct status *status, const struct status_job *item,
			const struct status_output *out)
{
	const struct job *job = item->job;
	struct text t = TEXT_INIT;

	fprintf(out->file, "job %lld: ", (long long)job->id);
	output_clean(out->file, job->declared.name);
	fputc('\n', out->file);
	text_add(&t, shown_state_name(item->state));
	if (job->profile)
		text_add(&t, ", a profile");
	if (item->run) {
		text_add(&t, item->state == SHOWN_STARTING ? ", waits for " : " on ");
		status_add_devices(&t, item->run);
	}
	line_of(out, "state", &t);
	status_add_reason(&t, item);
	line_of(out, "reason", &t);
	print_next_start(status, job, out);
	text_release(&t);
}

static void print_times(const struct status *status, const struct job *job,
			const struct status_output *out)
{
	const struct { const char *name; double time_s; } times[] = {
		{ "submitted", job->submit_time_s }, { "started", job->start_time_s },
		{ "ended", job->end_time_s },
	};
	char buf[FORMAT_SIZE];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		line(out, times[i].name,
		     format_time(buf, sizeof(buf), times[i].time_s, status->now_wall_s));
	if (job_has_ended(job->state)) {
		struct text t = TEXT_INIT;

		if (job->progress.term_signal > 0) {
			char name[SIGNAL_NAME_SIZE];

			text_addf(&t, "killed by %s", signal_name(name, job->progress.term_signal));
		} else if (job->progress.exit_code >= 0) {
			text_addf(&t, "%d", job->progress.exit_code);
		}
		line_of(out, "exit status", &t);
		text_release(&t);
	}
}

static void print_command(const struct status_details *d, const struct status_output *out)
{
	const struct job_command *c = &d->command;
	struct text t = TEXT_INIT;

	for (size_t i = 0; i < c->argv.count && t.length < (size_t)2 * OUTPUT_CLEAN_BYTES; i++) {
		text_add(&t, i ? " " : "");
		text_add_shell_quoted(&t, c->argv.items[i]);
	}
	line_of(out, "command", &t);
	line(out, "program", c->program);
	line(out, "directory", c->directory);
	if (c->git_commit)
		text_addf(&t, "%s%s", c->git_commit, c->git_dirty ? ", with changes" : "");
	line_of(out, "commit", &t);
	line(out, "log", d->log_path);
	line(out, "checkpoints", d->checkpoint_dir);
	line(out, "resume args", c->resume_args);
	text_release(&t);
}

static void add_replicas(struct text *t, const struct job *job)
{
	if (job->declared.max_replicas == 0)
		text_addf(t, "%d to all devices", job->declared.min_replicas);
	else if (job->declared.min_replicas < job->declared.max_replicas)
		text_addf(t, "%d to %d devices", job->declared.min_replicas, job->declared.max_replicas);
	else
		text_addf(t, "%d device%s", job->declared.min_replicas, job->declared.min_replicas == 1 ? "" : "s");
}

static void add_batch(struct text *t, const struct job *job)
{
	if (job->declared.batch_size == 0)
		return;
	text_addf(t, "%lld samples", (long long)job->declared.batch_size);
	if (job->declared.max_batch_size)
		text_addf(t, ", may be %lld to %lld", (long long)job->declared.min_batch_size,
			  (long long)job->declared.max_batch_size);
	if (job->declared.max_local_batch_size)
		text_addf(t, ", at most %lld on a device", (long long)job->declared.max_local_batch_size);
}

static void add_learning_rate(struct text *t, const struct job *job)
{
	if (!isfinite(job->declared.learning_rate))
		return;
	text_addf(t, "%.6g", job->declared.learning_rate);
	if (job->declared.learning_rate_rule && *job->declared.learning_rate_rule)
		text_addf(t, ", scaled by %s", job->declared.learning_rate_rule);
}

static void add_after(struct text *t, const struct dependency_list *after)
{
	for (int i = 0; i < after->count; i++)
		text_addf(t, "%sjob %lld%s, which is %s", i ? "; " : "",
			  (long long)after->items[i].after_id,
			  after->items[i].must_succeed ? " (to succeed)" : "",
			  job_state_name(after->items[i].after_state));
}

static const char *const preemption_words[N_PREEMPTIONS] = {
	[PREEMPT_ALWAYS] = "preemptible", [PREEMPT_SAVED] = "preemptible once it has saved",
	[PREEMPT_NEVER] = "not preemptible",
};

static void print_declared(const struct job *job, const struct status_details *d,
			   const struct status_output *out)
{
	struct text t = TEXT_INIT;
	char name[SIGNAL_NAME_SIZE];

	fputs("\ndeclared\n", out->file);
	add_replicas(&t, job);
	line_of(out, "replicas", &t);
	add_batch(&t, job);
	line_of(out, "batch", &t);
	add_learning_rate(&t, job);
	line_of(out, "lr", &t);
	add_number(&t, "samples", job->declared.total_samples);
	add_number(&t, "steps", job->declared.total_steps);
	line_of(out, "total", &t);
	line(out, "step regex", d->command.step_regex);
	add_after(&t, &d->after);
	line_of(out, "after", &t);
	text_addf(&t, "weight %.6g, %s, %d retries", job->declared.weight,
		  preemption_words[job->declared.preemption], job->declared.retries);
	add_duration(&t, "time limit", job->declared.time_limit_s);
	line_of(out, "scheduling", &t);
	text_add(&t, signal_name(name, job->declared.stop_signal));
	add_duration(&t, "grace", job->declared.grace_s);
	line_of(out, "stop", &t);
	text_release(&t);
}

static void add_progress(struct text *t, const struct status_job *item)
{
	const struct job *job = item->job;

	add_number(t, "samples", job->progress.samples);
	add_number(t, "steps", job->progress.steps);
	if (!(job->declared.total_steps > 0))
		add_number(t, "of", job->progress.printed_total_steps);
	add_number(t, "epoch", job->progress.epoch);
	add_number(t, "loss", job->progress.loss);
	if (isfinite(item->done_ratio))
		text_addf(t, "%s%.1f%% done", separator(t), floor(item->done_ratio * 1000) / 10);
}

/* Of its present run, else of the last that had steps. */
static void add_step_source(struct text *t, const struct status_details *d)
{
	const char *source = "";

	for (int i = d->runs.count - 1; i >= 0 && !*source; i--)
		source = d->runs.items[i].step_source;
	if (text_starts_with(source, "log:"))
		text_addf(t, "from its log, pattern %s", source + strlen("log:"));
	else if (*source)
		text_addf(t, "from its %s", source);
}

static void print_progress(const struct status_job *item, const struct status_details *d,
			   const struct status_output *out)
{
	const struct job *job = item->job;
	struct text t = TEXT_INIT;

	fputs("\nprogress\n", out->file);
	add_progress(&t, item);
	line_of(out, "position", &t);
	add_number(&t, "samples/s", item->throughput_eps);
	add_duration(&t, "to its end", item->eta_s);
	line_of(out, "rate", &t);
	add_step_source(&t, d);
	line_of(out, "step times", &t);
	line(out, "status", job->progress.status_text);
	add_number(&t, "at samples", job->progress.checkpoint_samples);
	line_of(out, "checkpoint", &t);
	if (isfinite(job->progress.checkpoint_samples)) {	/* of others it is not known */
		add_number(&t, "samples", job->progress.lost_samples);
		add_duration(&t, "running", job->progress.lost_s);
	}
	line_of(out, "lost", &t);
	add_duration(&t, "running", item->run_time_s);
	if (job->progress.runs > 0)
		add_duration(&t, "times devices", item->attained_service_device_s);
	line_of(out, "time", &t);
	text_addf(&t, "%d, preempted %d, failed %d", job->progress.runs, job->progress.preemptions, job->progress.failures);
	line_of(out, "runs", &t);
	text_release(&t);
}

/* --- events --- */

/* Their texts whole: they have the numbers. */
static void print_events(const struct status *status, const struct status_details *d,
			 const struct status_output *out)
{
	int times = 4, kinds = 5;	/* TIME, EVENT */
	char buf[FORMAT_SIZE];

	if (d->events.count == 0)
		return;
	for (int i = 0; i < d->events.count; i++) {
		const struct event *e = &d->events.items[i];
		int time = (int)strlen(format_time(buf, sizeof(buf), e->time_s, status->now_wall_s));
		int kind = (int)strlen(e->kind);

		times = time > times ? time : times;
		kinds = kind > kinds ? kind : kinds;
	}
	fprintf(out->file, "\nevents\n%s%-*s  %-*s  TEXT%s\n", out->color ? "\033[1m" : "", times, "TIME", kinds,
		"EVENT", out->color ? "\033[0m" : "");
	for (int i = 0; i < d->events.count; i++) {
		const struct event *e = &d->events.items[i];

		fprintf(out->file, "%-*s  %-*s  ", times,
			format_time(buf, sizeof(buf), e->time_s, status->now_wall_s), kinds, e->kind);
		output_wrapped(out->file, out->width, times + kinds + 4, e->text);
	}
}

void status_print_job(const struct status *status, const struct status_job *item,
		      const struct status_details *d, const struct status_output *out)
{
	print_state(status, item, out);
	print_times(status, item->job, out);
	print_command(d, out);
	print_declared(item->job, d, out);
	print_progress(item, d, out);
	status_print_runs(status, item, d, out);
	status_print_observations(d, out);
	print_events(status, d, out);
}
