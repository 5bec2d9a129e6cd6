/* profile_json.c - pollux profile --json, for programs.
 *
 * Schema, version 1; the rules are those of 'pollux status --json': see status_json.c.
 *
 *	schema_version		integer: 1
 *	time_s			when this was read
 *	id, name, workload	of the profile's job
 *	state, reason		as in status
 *	device_kind		of the devices measured
 *	initial_batch_size	integer: --batch
 *	points			array of objects, in the order in which they were tried:
 *	  run, replicas, batch_size, local_batch_size, accumulation_steps	integers
 *	  why			"own sizes", "growth", "bisection" or "tells most"
 *	  outcome		"measured", "out of memory", "failed", "ended" (by itself, before it could be
 *				timed), "lost" (its supervisor was killed), "no step time" or "stopped" (with the
 *				profile, before its first step time); null: it runs
 *	  diagnosis		what the log says went wrong, or the last line in it
 *	  step_time_s		number: mean of the medians of windows of a quarter of a second
 *	  step_time_sd_s	number: their standard deviation
 *	  half_width		number: of the 95 % confidence interval, over step_time_s
 *	  sync_time_s		number: the part of it spent synchronising
 *	  n_steps, n_windows, n_dropped, n_outliers	integers
 *	  model_step_time_s	number
 *	  peak_memory_bytes, peak_device_memory_bytes	integers
 *	  first_step_s, stop_duration_s	numbers: launch to first step, stop to exit
 *	  duration_s		number
 *	recommended		object with the keys of devices below; null: nothing is known
 *	memory			object { too_large, fits: integers: local batches; null: none; replicas: integer:
 *				on so many, the fewest for which one is too large; null: on any number }
 *	warnings		array of strings
 *	restart_s		number: from the stop signal to the first step after
 *	devices, batch_sizes, model, noise, missing	as 'pollux explain --json' has them */
#include <math.h>
#include <string.h>

#include "pollux/json.h"
#include "pollux/profile_report.h"

#define SCHEMA_VERSION 1

static void integer_or_null(struct json *j, const char *key, int64_t value)
{
	if (value > 0)
		json_integer(j, key, value);
	else
		json_string(j, key, NULL);
}

static void text_or_null(struct json *j, const char *key, const char *value)
{
	json_string(j, key, value && *value ? value : NULL);
}

static const char *outcome_of(const struct profile_row *row)
{
	if (row->run->state != RUN_ENDED)
		return NULL;
	if (row->run->out_of_memory)
		return "out of memory";
	if (row->observation.n_windows > 0)
		return "measured";
	if (row->stopped)
		return "stopped";
	if (profile_row_is_lost(row))
		return "lost";
	if (row->run->outcome == OUTCOME_COMPLETED)
		return "ended";
	return row->run->outcome == OUTCOME_FAILED ? "failed" : "no step time";
}

static void print_times(struct json *j, const struct profile_row *row)
{
	const struct observation *o = &row->observation;

	json_number(j, "step_time_s", o->step_time_s);
	json_number(j, "step_time_sd_s", o->step_time_sd_s);
	json_number(j, "half_width", row->half_width);
	json_number(j, "sync_time_s", o->sync_time_s);
	json_integer(j, "n_steps", o->n_steps);
	json_integer(j, "n_windows", o->n_windows);
	json_integer(j, "n_dropped", o->n_dropped);
	json_integer(j, "n_outliers", o->n_outliers);
	json_number(j, "model_step_time_s", row->model_step_time_s);
}

static void print_point(struct json *j, const struct profile_row *row)
{
	const struct run *run = row->run;

	json_object(j, NULL);
	json_integer(j, "run", run->number);
	json_integer(j, "replicas", run->configuration.replicas);
	integer_or_null(j, "batch_size", configuration_batch_size(&run->configuration));
	integer_or_null(j, "local_batch_size", run->configuration.local_batch_size);
	json_integer(j, "accumulation_steps", run->configuration.accumulation_steps);
	text_or_null(j, "why", row->why);
	json_string(j, "outcome", outcome_of(row));
	text_or_null(j, "diagnosis", run->diagnosis);
	print_times(j, row);
	integer_or_null(j, "peak_memory_bytes", run->peak_memory_bytes);
	integer_or_null(j, "peak_device_memory_bytes", run->peak_device_memory_bytes);
	json_number(j, "first_step_s", run->first_step_s);
	json_number(j, "stop_duration_s", run->stop_duration_s);
	json_number(j, "duration_s", run->duration_s);
	json_end(j);
}

static void print_head(struct json *j, const struct profile_report *r)
{
	const struct job *job = r->e.job;

	json_integer(j, "schema_version", SCHEMA_VERSION);
	json_number(j, "time_s", r->e.status.now_wall_s);
	json_integer(j, "id", job->id);
	json_string(j, "name", job->declared.name);
	json_string(j, "workload", job->declared.workload);
	json_string(j, "state", shown_state_name(r->e.item->state));
	text_or_null(j, "reason", job->reason);
	text_or_null(j, "device_kind", r->e.device_kind);
	integer_or_null(j, "initial_batch_size", job->declared.batch_size);
}

static void print_recommended(struct json *j, const struct profile_report *r)
{
	const struct memory_bounds *m = &r->e.knowledge.memory;
	int replicas = memory_least_bounded(m);

	if (r->recommended.goodput > 0) {
		json_object(j, "recommended");
		explanation_print_json_choice(j, &r->e, &r->recommended);
		json_end(j);
	} else {
		json_string(j, "recommended", NULL);
	}
	json_object(j, "memory");
	integer_or_null(j, "too_large", replicas ? memory_too_large(m, replicas) : 0);
	integer_or_null(j, "fits", replicas ? memory_fits(m, replicas) : 0);
	integer_or_null(j, "replicas", m->shared ? replicas : 0);
	json_end(j);
}

static void print_warnings(struct json *j, const struct profile_report *r)
{
	json_array(j, "warnings");
	for (int i = 0; i < r->details.events.count; i++)
		if (!strcmp(r->details.events.items[i].kind, "warning"))
			json_string(j, NULL, r->details.events.items[i].text);
	json_end(j);
}

static void print_missing(struct json *j, const struct profile_report *r)
{
	struct text t = TEXT_INIT;

	json_string(j, "missing", explanation_missing(&r->e, &t) ? t.data : NULL);
	text_release(&t);
}

void profile_report_print_json(const struct profile_report *r, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	print_head(&j, r);
	json_array(&j, "points");
	for (int i = 0; i < r->n_rows; i++)
		print_point(&j, &r->rows[i]);
	json_end(&j);
	print_recommended(&j, r);
	print_warnings(&j, r);
	json_number(&j, "restart_s", r->e.knowledge.restart_s);
	print_missing(&j, r);
	explanation_print_json_curves(&j, &r->e);
	explanation_print_json_model(&j, &r->e);
	explanation_print_json_noise(&j, &r->e);
	json_end(&j);
}
