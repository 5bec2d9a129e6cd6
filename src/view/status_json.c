/* status_json.c - pollux status --json, for programs. pollux-json(7) has the schema. Every key is
 * in every document, except "details", which comes with ids. The environment of a job is never
 * shown: it may hold secrets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/engine.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/store_columns.h"
#include "pollux/store_runs.h"

#define SCHEMA_VERSION 1

/* Prints each column of the row that has COLUMN_SHOWN. */
static void print_columns(struct json *j, const struct store_table *table, const void *row)
{
	struct column_walk w = { .table = table, .flags = COLUMN_SHOWN };

	while (column_next(&w))
		json_field(j, &w.column->field, (const char *)row + w.offset);
}

/* --- a run --- */

static void print_run(struct json *j, const char *key, const struct run *run)
{
	bool is_log = text_starts_with(run->step_source, "log:");
	const struct configuration *c = &run->configuration;
	struct strings nodes = { 0 };

	json_object(j, key);
	print_columns(j, &runs_table, run);
	json_integer(j, "replicas", c->replicas);
	json_array(j, "devices");
	for (int i = 0; i < run_held(run); i++)
		json_string(j, NULL, run->devices[i].id);
	json_end(j);
	if (run_is_elsewhere(run) && run_held(run) > 0) {
		run_node_names(run, &nodes);
		json_strings(j, "nodes", &nodes);
		strings_release(&nodes);
	}
	json_string(j, "device_kind", run_held(run) ? run->devices[0].kind : NULL);
	json_positive(j, "batch_size", configuration_batch_size(c));
	json_text(j, "plan", c->plan);
	json_string(j, "tier", configuration_tier_name(c->tier));
	json_positive(j, "local_batch_size", c->local_batch_size);
	json_integer_if(j, "accumulation_steps", c->accumulation_steps, c->local_batch_size > 0);
	json_number(j, "duration_s", isfinite(run->launch_time_s) ? run->duration_s : (double)NAN);
	json_number(j, "mean_power_w", run_mean_power_w(run));
	json_positive(j, "leader_pid", engine_of(run)->command_pid
		      ? engine_of(run)->command_pid(run) : 0);
	json_text(j, "step_source", is_log ? "log" : run->step_source);
	json_string(j, "step_pattern", is_log ? run->step_source + strlen("log:") : NULL);
	json_end(j);
}

/* --- details --- */

static void print_after(struct json *j, const struct dependency_list *after)
{
	json_array(j, "after");
	for (int i = 0; i < after->count; i++) {
		json_object(j, NULL);
		json_integer(j, "after_id", after->items[i].after_id);
		json_bool(j, "must_succeed", after->items[i].rule == AFTER_OK);
		json_string(j, "rule", after_rule_names[after->items[i].rule]);
		json_string(j, "after_state", job_state_name(after->items[i].after_state));
		json_end(j);
	}
	json_end(j);
}

static void print_observation(struct json *j, const struct observation *o)
{
	const struct configuration *c = &o->configuration;

	json_object(j, NULL);
	json_string(j, "device_kind", c->kind);
	json_integer(j, "nodes", configuration_place(c).nodes);
	json_integer(j, "replicas", c->replicas);
	json_positive(j, "local_batch_size", c->local_batch_size);
	json_integer(j, "accumulation_steps", c->accumulation_steps);
	json_string(j, "tier", configuration_tier_name(c->tier));
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

void status_print_json_metrics(struct json *j, const struct job_metric_list *list)
{
	for (int i = 0; i < list->count; i++) {
		const struct job_metric *m = &list->items[i];

		json_object(j, NULL);
		json_string(j, "name", m->name);
		json_value(j, "last", m->last);
		json_number(j, "samples", m->samples);
		json_number(j, "lowest", m->lowest);
		json_number(j, "lowest_samples", m->lowest_samples);
		json_number(j, "highest", m->highest);
		json_number(j, "highest_samples", m->highest_samples);
		json_number(j, "time_s", m->time_s);
		json_end(j);
	}
}

void status_print_json_event(struct json *j, const struct event *e)
{
	json_object(j, NULL);
	json_integer(j, "id", e->id);
	json_number(j, "time_s", e->time_s);
	json_positive(j, "job_id", e->job_id);
	json_positive(j, "run_id", e->run_id);
	json_string(j, "kind", e->kind);
	json_string(j, "text", e->text);
	json_end(j);
}

static void print_details(struct json *j, const struct status_details *d)
{
	const struct job_command *c = &d->command;

	json_object(j, "details");
	print_columns(j, &commands_table, c);
	json_strings(j, "argv", &c->argv);
	json_string(j, "checkpoint_dir", d->checkpoint_dir);
	json_string(j, "log_path", d->log_path);
	json_bool(j, "environment_names_only", c->env_names_only);
	if (c->git_commit)
		json_bool(j, "git_dirty", c->git_dirty);
	else
		json_string(j, "git_dirty", NULL);
	if (d->manager.length)
		json_string(j, "manager", d->manager.data);
	print_after(j, &d->after);
	json_array(j, "runs");
	for (int i = 0; i < d->runs.count; i++)
		print_run(j, NULL, &d->runs.items[i]);
	json_end(j);
	json_array(j, "observations");
	for (int i = 0; i < d->observations.count; i++)
		print_observation(j, &d->observations.items[i]);
	json_end(j);
	json_array(j, "metrics");
	status_print_json_metrics(j, &d->metrics);
	json_end(j);
	json_array(j, "events");
	for (int i = 0; i < d->events.count; i++)
		status_print_json_event(j, &d->events.items[i]);
	json_end(j);
	json_end(j);
}

/* --- a job --- */

/* Prints parameters in their order, with texts as values, so that "3e-4" stays as it was typed. */
void status_print_json_parameters(struct json *j, const struct strings *list)
{
	json_array(j, "parameters");
	for (size_t i = 0; i < list->count; i++) {
		size_t length = strcspn(list->items[i], "=");
		const char *value = list->items[i] + length;
		char *name = xasprintf("%.*s", (int)length, list->items[i]);

		json_object(j, NULL);
		json_string(j, "name", name);
		json_string(j, "value", *value ? value + 1 : value);
		json_end(j);
		free(name);
	}
	json_end(j);
}

/* "plan", a column of the job, is that of its last run; this is what was declared. */
static void print_plans(struct json *j, const char *declared)
{
	struct execution_plans plans = { 0 };
	struct err ignored;

	json_array(j, "plans");
	if (execution_plans_parse(declared, &plans, &ignored) == 0)
		for (int i = 0; i < plans.count; i++) {
			json_object(j, NULL);
			json_string(j, "name", plans.items[i].name);
			json_integer(j, "width", plans.items[i].width);
			json_positive(j, "cores", plans.items[i].cores);
			json_string(j, "group", plans.items[i].group);
			json_string(j, "args", plans.items[i].args);
			json_end(j);
		}
	json_end(j);
	execution_plans_release(&plans);
}

static void print_job(struct json *j, const struct status_job *item)
{
	const struct job *job = item->job;
	double loss;

	print_columns(j, &jobs_table, job);
	if (progress_loss(&job->progress, &loss))
		json_value(j, "loss", loss);
	else
		json_string(j, "loss", NULL);
	print_plans(j, job->declared.plans);
	status_print_json_parameters(j, &job->parameters);
	json_string(j, "state", shown_state_name(item->state));
	json_number(j, "next_start_time_s", job->profile ? (double)NAN : job->next_start_s);
	json_number(j, "done_ratio", item->done_ratio);
	json_number(j, "throughput_eps", item->throughput_eps);
	json_number(j, "eta_s", item->eta_s);
	json_number(j, "expected_s", item->expected_s);
	json_positive(j, "expected_from_jobs", item->expected_jobs);
	json_array(j, "command");
	for (size_t i = 0; item->line && i < item->line->argv.count; i++)
		json_string(j, NULL, item->line->argv.items[i]);
	json_end(j);
	json_string(j, "directory", item->line ? item->line->directory : NULL);
	json_array(j, "devices");
	for (int i = 0; item->run && i < run_held(item->run); i++)
		json_string(j, NULL, item->run->devices[i].id);
	json_end(j);
	json_number(j, "likely_start_time_s", job->profile ? (double)NAN : item->likely_start_s);
	json_number(j, "likely_end_time_s", item->likely_end_s);
	json_number(j, "end_from_s", item->end_from_s);
	json_number(j, "end_to_s", item->end_to_s);
	json_number(j, "supervisor_silent_s", item->silent_s);
	json_string(j, "stuck", item->stuck);
	json_text(j, "gpu_remark", item->remark);
	json_number(j, "run_time_s", item->run_time_s);
	json_number(j, "attained_service_device_s", item->attained_service_device_s);
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
	json_integer(&j, "cpu_jobs", status->n_cpu_jobs);
	json_integer(&j, "running", status->n_running);
	json_integer(&j, "suspended", status->n_suspended);
	json_integer(&j, "waiting", status->n_waiting);
	json_integer(&j, "paused", status->n_paused);
	json_integer(&j, "held", status->n_held);
	json_integer(&j, "ended", status->n_ended);
	json_text(&j, "hung_pass", status->hung_pass.data);
	if (status->outage.length)
		json_string(&j, "outage", status->outage.data);
	json_text(&j, "disk_full", status->disk_full.data);
	json_array(&j, "people");
	for (int i = 0; i < status->people.count; i++) {
		const struct person *p = &status->people.items[i];

		json_object(&j, NULL);
		json_string(&j, "user", p->user);
		json_integer(&j, "devices_held", p->held);
		json_integer(&j, "devices_wanted", p->wanted);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "jobs");
	for (int i = 0; i < status->jobs.count; i++) {
		json_object(&j, NULL);
		print_job(&j, &status->items[i]);
		if (details)
			print_details(&j, &details[i]);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
