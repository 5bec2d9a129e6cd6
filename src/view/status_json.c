/* status_json.c - pollux status --json, for programs. pollux-status(1) has the schema. Every key is
 * in every document, except "details", which comes with ids. The environment of a job is never
 * shown: it may hold secrets. */
#include <math.h>
#include <string.h>

#include "pollux/engine.h"
#include "pollux/json.h"
#include "pollux/signal_name.h"
#include "pollux/status.h"

#define SCHEMA_VERSION 1

/* --- a run --- */

static void print_configuration(struct json *j, const struct run *run)
{
	const struct configuration *c = &run->configuration;

	json_integer(j, "replicas", c->replicas);
	json_array(j, "devices");
	for (int i = 0; i < c->replicas; i++)
		json_string(j, NULL, run->devices[i].id);
	json_end(j);
	json_positive(j, "batch_size", configuration_batch_size(c));
	json_positive(j, "local_batch_size", c->local_batch_size);
	json_integer_if(j, "accumulation_steps", c->accumulation_steps, c->local_batch_size > 0);
	json_number(j, "learning_rate_scale", run->learning_rate_scale);
	json_bool(j, "takes_configs", run->takes_configs);
	json_integer(j, "config_version", run->config_version);
}

static void print_end(struct json *j, const struct run *run)
{
	json_string(j, "stop_reason",
		    run->stop_reason == STOP_NONE ? NULL : stop_reason_name(run->stop_reason));
	json_string(j, "outcome",
		    run->outcome == OUTCOME_NONE ? NULL : run_outcome_name(run->outcome));
	json_integer_if(j, "exit_code", run->exit_code, run->exit_code >= 0);
	json_positive(j, "term_signal", run->term_signal);
	json_text(j, "diagnosis", run->diagnosis);
}

static void print_run(struct json *j, const char *key, const struct run *run)
{
	bool is_log = text_starts_with(run->step_source, "log:");

	json_object(j, key);
	json_integer(j, "id", run->id);
	json_integer(j, "number", run->number);
	json_string(j, "state", run_state_name(run->state));
	print_configuration(j, run);
	json_number(j, "assigned_time_s", run->assigned_time_s);
	json_number(j, "launch_time_s", run->launch_time_s);
	json_number(j, "end_time_s", run->end_time_s);
	json_number(j, "duration_s", isfinite(run->launch_time_s) ? run->duration_s : (double)NAN);
	json_positive(j, "leader_pid", engine_of(run)->command_pid(run));
	print_end(j, run);
	json_number(j, "first_samples", run->first_samples);
	json_number(j, "last_samples", run->last_samples);
	json_number(j, "checkpoint_samples", run->checkpoint_samples);
	json_number(j, "step_time_s", run->step_time_s);
	json_number(j, "first_step_s", run->first_step_s);
	json_text(j, "step_source", is_log ? "log" : run->step_source);
	json_string(j, "step_pattern", is_log ? run->step_source + strlen("log:") : NULL);
	json_number(j, "stop_duration_s", run->stop_duration_s);
	json_number(j, "lost_samples", run->lost_samples);
	json_number(j, "lost_s", run->lost_s);
	json_positive(j, "peak_memory_bytes", run->peak_memory_bytes);
	json_positive(j, "peak_device_memory_bytes", run->peak_device_memory_bytes);
	json_number(j, "cpu_time_s", run->cpu_time_s);
	json_end(j);
}

/* --- details --- */

static void print_command(struct json *j, const struct status_details *d)
{
	const struct job_command *c = &d->command;

	json_string(j, "program", c->program);
	json_array(j, "argv");
	for (size_t i = 0; i < c->argv.count; i++)
		json_string(j, NULL, c->argv.items[i]);
	json_end(j);
	json_string(j, "directory", c->directory);
	json_string(j, "checkpoint_dir", d->checkpoint_dir);
	json_string(j, "resume_args", c->resume_args);
	json_string(j, "step_regex", c->step_regex);
	json_string(j, "log_path", d->log_path);
	json_string(j, "git_commit", c->git_commit);
	if (c->git_commit)
		json_bool(j, "git_dirty", c->git_dirty);
	else
		json_string(j, "git_dirty", NULL);
}

static void print_after(struct json *j, const struct dependency_list *after)
{
	json_array(j, "after");
	for (int i = 0; i < after->count; i++) {
		json_object(j, NULL);
		json_integer(j, "after_id", after->items[i].after_id);
		json_bool(j, "must_succeed", after->items[i].must_succeed);
		json_string(j, "after_state", job_state_name(after->items[i].after_state));
		json_end(j);
	}
	json_end(j);
}

static void print_observation(struct json *j, const struct observation_row *row)
{
	const struct configuration *c = &row->configuration;
	const struct observation *o = &row->observation;

	json_object(j, NULL);
	json_string(j, "device_kind", row->device_kind);
	json_integer(j, "nodes", configuration_place(c).nodes);
	json_integer(j, "replicas", c->replicas);
	json_positive(j, "local_batch_size", c->local_batch_size);
	json_integer(j, "accumulation_steps", c->accumulation_steps);
	json_integer(j, "n_steps", o->n_steps);
	json_integer(j, "n_windows", o->n_windows);
	json_integer(j, "n_dropped", o->n_dropped);
	json_integer(j, "n_outliers", o->n_outliers);
	json_number(j, "step_time_s", o->step_time_s);
	json_number(j, "step_time_sd_s", o->step_time_sd_s);
	json_number(j, "step_time_min_s", o->step_time_min_s);
	json_number(j, "sync_time_s", o->sync_time_s);
	json_end(j);
}

static void print_event(struct json *j, const struct event *e)
{
	json_object(j, NULL);
	json_number(j, "time_s", e->time_s);
	json_positive(j, "run_id", e->run_id);
	json_string(j, "kind", e->kind);
	json_string(j, "text", e->text);
	json_end(j);
}

static void print_details(struct json *j, const struct status_details *d)
{
	json_object(j, "details");
	print_command(j, d);
	print_after(j, &d->after);
	json_array(j, "runs");
	for (int i = 0; i < d->runs.count; i++)
		print_run(j, NULL, &d->runs.items[i]);
	json_end(j);
	json_array(j, "observations");
	for (int i = 0; i < d->observations.count; i++)
		print_observation(j, &d->observations.items[i]);
	json_end(j);
	json_array(j, "events");
	for (int i = 0; i < d->events.count; i++)
		print_event(j, &d->events.items[i]);
	json_end(j);
	json_end(j);
}

/* --- a job --- */

static void print_identity(struct json *j, const struct status_job *item)
{
	const struct job *job = item->job;

	json_integer(j, "id", job->id);
	json_string(j, "name", job->declared.name);
	json_string(j, "workload", job->declared.workload);
	json_bool(j, "profile", job->profile);
	json_string(j, "state", shown_state_name(item->state));
	json_text(j, "reason", job->reason);
	json_number(j, "next_start_time_s", job->profile ? (double)NAN : job->next_start_s);
	json_number(j, "submit_time_s", job->submit_time_s);
	json_number(j, "start_time_s", job->start_time_s);
	json_number(j, "end_time_s", job->end_time_s);
}

static void print_declared(struct json *j, const struct declaration *d)
{
	char name[SIGNAL_NAME_SIZE];

	json_integer(j, "min_replicas", d->min_replicas);
	json_positive(j, "max_replicas", d->max_replicas);
	json_positive(j, "batch_size", d->batch_size);
	json_positive(j, "min_batch_size", d->min_batch_size);
	json_positive(j, "max_batch_size", d->max_batch_size);
	json_positive(j, "max_local_batch_size", d->max_local_batch_size);
	json_bool(j, "accumulates", d->accumulates);
	json_number(j, "learning_rate", d->learning_rate);
	json_text(j, "learning_rate_rule", d->learning_rate_rule);
	json_number(j, "noise_scale", d->noise_scale);
	json_number(j, "total_samples", d->total_samples);
	json_number(j, "total_steps", d->total_steps);
	json_number(j, "weight", d->weight);
	json_string(j, "preemption", preemption_name(d->preemption));
	json_number(j, "time_limit_s", d->time_limit_s);
	json_integer(j, "retries", d->retries);
	json_string(j, "stop_signal", signal_name(name, d->stop_signal));
	json_number(j, "grace_s", d->grace_s);
}

static void print_observed(struct json *j, const struct status_job *item)
{
	const struct progress *p = &item->job->progress;

	json_number(j, "samples", p->samples);
	json_number(j, "steps", p->steps);
	json_number(j, "printed_total_steps", p->printed_total_steps);
	json_number(j, "done_ratio", item->done_ratio);
	json_number(j, "throughput_eps", item->throughput_eps);
	json_number(j, "eta_s", item->eta_s);
	json_number(j, "epoch", p->epoch);
	json_number(j, "loss", p->loss);
	json_text(j, "status_text", p->status_text);
	json_number(j, "checkpoint_samples", p->checkpoint_samples);
	json_number(j, "lost_samples", p->lost_samples);
	json_number(j, "lost_s", p->lost_s);
	json_number(j, "run_time_s", item->run_time_s);
	json_number(j, "attained_service_device_s", item->attained_service_device_s);
	json_integer(j, "runs", p->runs);
	json_integer(j, "preemptions", p->preemptions);
	json_integer(j, "failures", p->failures);
	json_integer_if(j, "exit_code", p->exit_code, p->exit_code >= 0);
	json_positive(j, "term_signal", p->term_signal);
	if (item->run)
		print_run(j, "run", item->run);
	else
		json_string(j, "run", NULL);
}

void status_print_json(const struct status *status, const struct status_details *details,
		       FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", SCHEMA_VERSION);
	json_number(&j, "time_s", status->now_wall_s);
	json_integer(&j, "devices_in_use", status->n_devices_in_use);
	json_integer(&j, "running", status->n_running);
	json_integer(&j, "waiting", status->n_waiting);
	json_integer(&j, "held", status->n_held);
	json_integer(&j, "ended", status->n_ended);
	json_array(&j, "jobs");
	for (int i = 0; i < status->jobs.count; i++) {
		json_object(&j, NULL);
		print_identity(&j, &status->items[i]);
		print_declared(&j, &status->items[i].job->declared);
		print_observed(&j, &status->items[i]);
		if (details)
			print_details(&j, &details[i]);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
