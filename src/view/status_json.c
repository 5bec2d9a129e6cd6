/* status_json.c - pollux status --json, for programs.
 *
 * Schema, version 1. A later pollux may add keys; it renames, removes and redefines none without a new
 * schema_version. Every key stands in every document (except "details", which comes with ids). null is
 * unknown, not declared, or does not apply. Times ending in _time_s are seconds since 1970-01-01 UTC, other
 * _s are spans of seconds. Integers and numbers are JSON numbers; other values are strings unless
 * said otherwise. The environment of a job is never shown: it may hold secrets.
 *
 *	schema_version		integer: 1
 *	time_s			when this was read (as _time_s)
 *	devices_in_use		integer: distinct devices of the runs that have not ended
 *	running, waiting,	integers: how many of the jobs listed are so (starting and stopping ones count as
 *	held, ended		running)
 *	jobs			array of objects, by id:
 *
 *	  id			integer
 *	  name, workload
 *	  profile		true or false: of 'pollux profile', which no pass decides on
 *	  state			"queued", "starting" (its run waits for its devices), "running", "stopping",
 *				"held", "done", "failed", "cancelled" or "timeout"
 *	  reason		of the last decision, or how it ended, in words; null: no pass has looked at it
 *	  next_start_time_s	of a waiting job: by then, or sooner; passed already: at the next pass
 *	  submit_time_s, start_time_s, end_time_s
 *	declared:
 *	  min_replicas		integer: devices it wants at least
 *	  max_replicas		integer; null: all devices
 *	  batch_size		integer: samples in an update
 *	  min_batch_size, max_batch_size	integers
 *	  max_local_batch_size	integer: samples on a device in a pass
 *	  accumulates		true or false: can do several passes for an update, as told by pollux
 *	  learning_rate		number, at batch_size
 *	  learning_rate_rule	"adascale", "sqrt", "linear" or "none"
 *	  noise_scale		number: gradient noise scale, samples
 *	  total_samples, total_steps		numbers: work to its end
 *	  weight		number
 *	  preemption		"always", "saved" (only once it has reported a checkpoint) or "never"
 *	  time_limit_s		number, of running time
 *	  retries		integer
 *	  stop_signal		"SIGTERM", ...
 *	  grace_s		number
 *	observed:
 *	  samples, steps	numbers: where it stands
 *	  printed_total_steps	number: steps to its end, as its log says
 *	  done_ratio		number: share of total_samples, else of total_steps, else of printed_total_steps;
 *				may exceed 1
 *	  throughput_eps	number: samples per second, at the step time of its present configuration; until that
 *				is measured, of the present run since its first report
 *	  eta_s			number: running time to the end of the declared work at this rate, waits not counted
 *	  epoch, loss		numbers, as reported last
 *	  status_text		as reported last
 *	  checkpoint_samples	number: where the last reported checkpoint stands
 *	  lost_samples, lost_s	numbers: work done again after relaunches
 *	  run_time_s		number: over all runs, the present one too
 *	  attained_service_device_s	number: devices times running time
 *	  runs, preemptions, failures	integers
 *	  exit_code, term_signal	integers: of the last run that ended
 *	  run			object: the run that has not ended, as in details.runs below; null: none
 *	  details		object; only where ids were given:
 *
 *	    program, directory, checkpoint_dir, resume_args, step_regex, log_path
 *	    argv		array of strings, as submitted
 *	    git_commit
 *	    git_dirty		boolean; null without git_commit
 *	    after		array of objects { after_id: integer, must_succeed: boolean, after_state };
 *				empty once the job runs
 *	    runs		array of objects, by number:
 *	      id, number	integers; number counts the launches of the job from 1
 *	      state		"assigned", "running", "stopping" or "ended"
 *	      replicas		integer
 *	      devices		array of strings
 *	      batch_size, local_batch_size, accumulation_steps	integers: batch_size = replicas x
 *				local_batch_size x accumulation_steps
 *	      learning_rate_scale	number
 *	      takes_configs	true or false: its reports say that it can change these while it runs
 *	      config_version	integer: of these; 0: those it was launched with
 *	      assigned_time_s, launch_time_s, end_time_s
 *	      duration_s	number, since launch
 *	      leader_pid	integer: its command's process
 *	      stop_reason	"preempt", "requeue", "hold", "cancel", "time-limit", "orphan", "shutdown",
 *				"measured" (by a profile)
 *	      outcome		"completed", "failed", "stopped", "lost" or "not-started"
 *	      exit_code, term_signal	integers
 *	      diagnosis		what the log says went wrong
 *	      first_samples, last_samples, checkpoint_samples	numbers
 *	      step_time_s	number: at its present or last configuration
 *	      first_step_s	number: launch to first report
 *	      step_source	where step times come from: "reports" or "log"
 *	      step_pattern	by which its log is understood, see pollux-steps(1)
 *	      stop_duration_s	number: signal to end
 *	      lost_samples, lost_s	numbers
 *	      peak_memory_bytes	integer: resident, summed over its processes, the most at a time; pages that they
 *				share count for each
 *	      peak_device_memory_bytes	integer: likewise, on its devices
 *	      cpu_time_s	number: processor time of the command, and of all it started that ended
 *	    observations	array of objects, one for each configuration, over all runs:
 *	      device_kind
 *	      nodes, replicas, local_batch_size, accumulation_steps	integers
 *	      n_steps, n_windows, n_dropped, n_outliers	integers
 *	      step_time_s	number: mean of the windows' medians
 *	      step_time_sd_s, step_time_min_s	numbers: their standard deviation, and the least
 *	      sync_time_s	number: the part of a step spent synchronising
 *	    events		array of objects { time_s, run_id: integer, kind, text }, oldest first; time_s as
 *				_time_s */
#include <math.h>
#include <string.h>

#include "pollux/engine.h"
#include "pollux/json.h"
#include "pollux/signal_name.h"
#include "pollux/status.h"

#define SCHEMA_VERSION 1

/* --- values that may be unknown --- */

static void text_or_null(struct json *j, const char *key, const char *value)
{
	json_string(j, key, value && *value ? value : NULL);
}

static void integer_or_null(struct json *j, const char *key, int64_t value, bool known)
{
	if (known)
		json_integer(j, key, value);
	else
		json_string(j, key, NULL);
}

static void json_signal(struct json *j, const char *key, int number)
{
	char name[SIGNAL_NAME_SIZE];

	json_string(j, key, signal_name(name, number));
}

/* --- a run --- */

static void print_devices(struct json *j, const struct run *run)
{
	json_array(j, "devices");
	for (int i = 0; i < run->configuration.replicas; i++)
		json_string(j, NULL, run->devices[i].id);
	json_end(j);
}

static void print_configuration(struct json *j, const struct run *run)
{
	const struct configuration *c = &run->configuration;
	bool has_batch = c->local_batch_size > 0;

	json_integer(j, "replicas", c->replicas);
	print_devices(j, run);
	integer_or_null(j, "batch_size", configuration_batch_size(c), has_batch);
	integer_or_null(j, "local_batch_size", c->local_batch_size, has_batch);
	integer_or_null(j, "accumulation_steps", c->accumulation_steps, has_batch);
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
	integer_or_null(j, "exit_code", run->exit_code, run->exit_code >= 0);
	integer_or_null(j, "term_signal", run->term_signal, run->term_signal > 0);
	text_or_null(j, "diagnosis", run->diagnosis);
}

static void print_step_source(struct json *j, const struct run *run)
{
	bool is_log = text_starts_with(run->step_source, "log:");

	json_string(j, "step_source", is_log ? "log" : *run->step_source ? run->step_source : NULL);
	json_string(j, "step_pattern", is_log ? run->step_source + strlen("log:") : NULL);
}

static void print_run(struct json *j, const char *key, const struct run *run)
{
	int64_t leader_pid = engine_of(run)->command_pid(run);

	json_object(j, key);
	json_integer(j, "id", run->id);
	json_integer(j, "number", run->number);
	json_string(j, "state", run_state_name(run->state));
	print_configuration(j, run);
	json_number(j, "assigned_time_s", run->assigned_time_s);
	json_number(j, "launch_time_s", run->launch_time_s);
	json_number(j, "end_time_s", run->end_time_s);
	json_number(j, "duration_s", isfinite(run->launch_time_s) ? run->duration_s : (double)NAN);
	integer_or_null(j, "leader_pid", leader_pid, leader_pid > 0);
	print_end(j, run);
	json_number(j, "first_samples", run->first_samples);
	json_number(j, "last_samples", run->last_samples);
	json_number(j, "checkpoint_samples", run->checkpoint_samples);
	json_number(j, "step_time_s", run->step_time_s);
	json_number(j, "first_step_s", run->first_step_s);
	print_step_source(j, run);
	json_number(j, "stop_duration_s", run->stop_duration_s);
	json_number(j, "lost_samples", run->lost_samples);
	json_number(j, "lost_s", run->lost_s);
	integer_or_null(j, "peak_memory_bytes", run->peak_memory_bytes, run->peak_memory_bytes > 0);
	integer_or_null(j, "peak_device_memory_bytes", run->peak_device_memory_bytes,
			run->peak_device_memory_bytes > 0);
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
	const struct observation *o = &row->observation;
	const struct configuration *c = &row->configuration;

	json_object(j, NULL);
	json_string(j, "device_kind", row->device_kind);
	json_integer(j, "nodes", row->nodes);
	json_integer(j, "replicas", c->replicas);
	integer_or_null(j, "local_batch_size", c->local_batch_size, c->local_batch_size > 0);
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
	integer_or_null(j, "run_id", e->run_id, e->run_id > 0);
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
	text_or_null(j, "reason", job->reason);
	json_number(j, "next_start_time_s", job->profile ? (double)NAN : job->next_start_s);
	json_number(j, "submit_time_s", job->submit_time_s);
	json_number(j, "start_time_s", job->start_time_s);
	json_number(j, "end_time_s", job->end_time_s);
}

static void print_declared(struct json *j, const struct job *job)
{
	json_integer(j, "min_replicas", job->declared.min_replicas);
	integer_or_null(j, "max_replicas", job->declared.max_replicas, job->declared.max_replicas > 0);
	integer_or_null(j, "batch_size", job->declared.batch_size, job->declared.batch_size > 0);
	integer_or_null(j, "min_batch_size", job->declared.min_batch_size, job->declared.min_batch_size > 0);
	integer_or_null(j, "max_batch_size", job->declared.max_batch_size, job->declared.max_batch_size > 0);
	integer_or_null(j, "max_local_batch_size", job->declared.max_local_batch_size,
			job->declared.max_local_batch_size > 0);
	json_bool(j, "accumulates", job->declared.accumulates);
	json_number(j, "learning_rate", job->declared.learning_rate);
	text_or_null(j, "learning_rate_rule", job->declared.learning_rate_rule);
	json_number(j, "noise_scale", job->declared.noise_scale);
	json_number(j, "total_samples", job->declared.total_samples);
	json_number(j, "total_steps", job->declared.total_steps);
	json_number(j, "weight", job->declared.weight);
	json_string(j, "preemption", preemption_name(job->declared.preemption));
	json_number(j, "time_limit_s", job->declared.time_limit_s);
	json_integer(j, "retries", job->declared.retries);
	json_signal(j, "stop_signal", job->declared.stop_signal);
	json_number(j, "grace_s", job->declared.grace_s);
}

static void print_observed(struct json *j, const struct status_job *item)
{
	const struct job *job = item->job;

	json_number(j, "samples", job->progress.samples);
	json_number(j, "steps", job->progress.steps);
	json_number(j, "printed_total_steps", job->progress.printed_total_steps);
	json_number(j, "done_ratio", item->done_ratio);
	json_number(j, "throughput_eps", item->throughput_eps);
	json_number(j, "eta_s", item->eta_s);
	json_number(j, "epoch", job->progress.epoch);
	json_number(j, "loss", job->progress.loss);
	text_or_null(j, "status_text", job->progress.status_text);
	json_number(j, "checkpoint_samples", job->progress.checkpoint_samples);
	json_number(j, "lost_samples", job->progress.lost_samples);
	json_number(j, "lost_s", job->progress.lost_s);
	json_number(j, "run_time_s", item->run_time_s);
	json_number(j, "attained_service_device_s", item->attained_service_device_s);
	json_integer(j, "runs", job->progress.runs);
	json_integer(j, "preemptions", job->progress.preemptions);
	json_integer(j, "failures", job->progress.failures);
	integer_or_null(j, "exit_code", job->progress.exit_code, job->progress.exit_code >= 0);
	integer_or_null(j, "term_signal", job->progress.term_signal, job->progress.term_signal > 0);
	if (item->run)
		print_run(j, "run", item->run);
	else
		json_string(j, "run", NULL);
}

void status_print_json(const struct status *status, const struct status_details *details, FILE *out)
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
		print_declared(&j, status->items[i].job);
		print_observed(&j, &status->items[i]);
		if (details)
			print_details(&j, &details[i]);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
