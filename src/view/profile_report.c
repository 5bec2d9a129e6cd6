/* profile_report.c - reads a profile from the store, and writes it as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"

static int read_rows(struct session *s, struct profile_report *r, struct err *err)
{
	const struct event_list *events = &r->details.events;

	r->rows = xcalloc((size_t)r->details.runs.count, sizeof(*r->rows));
	for (int i = 0; i < r->details.runs.count; i++) {
		struct profile_row *row = &r->rows[r->n_rows++];

		row->run = &r->details.runs.items[i];
		if (store_observation_get(&s->store, row->run, &row->observation, err))
			return -1;
		row->half_width = steady_half_width(&row->observation);
		row->model_step_time_s = (double)NAN;
		if (r->e.knowledge->modelled && row->run->configuration.local_batch_size > 0 &&
		    r->e.outlook.n_plans == 0)
			row->model_step_time_s =
				(double)configuration_batch_size(&row->run->configuration) /
				goodput_choice_of(&r->e.model.goodput, row->run->configuration)
					.throughput;
		row->why = "";
		for (int k = 0; k < events->count && !*row->why; k++)
			if (events->items[k].run_id == row->run->id &&
			    !strcmp(events->items[k].kind, "point"))
				row->why = events->items[k].text;
		row->stopped = row->run->stop_reason == STOP_CANCEL ||
			       (i + 1 == r->details.runs.count && r->e.job->state == JOB_CANCELLED);
	}
	return 0;
}

bool profile_row_is_lost(const struct profile_row *row)
{
	return row->run->outcome == OUTCOME_LOST || row->run->stop_reason == STOP_ORPHAN;
}

static int read_all(struct session *s, int64_t job_id, struct profile_report *r, struct err *err)
{
	const struct explanation *e = &r->e;
	double most = 0;

	if (explanation_read(s, job_id, &r->e, err))
		return -1;
	if (!r->e.job->profile)
		return err_set(err, EX_NOINPUT, "job %lld is no profile: see 'pollux explain %lld'",
			       (long long)job_id, (long long)job_id);
	if (status_details_read(s, r->e.job, &r->details, err) || read_rows(s, r, err))
		return -1;
	for (int n = 1; e->model.known && n <= e->n_devices; n++)
		if (!explanation_obstacle(e, n))
			most = fmax(most, e->best[n].goodput);
	for (int n = e->n_devices; e->model.known && n >= 1; n--)
		if (!explanation_obstacle(e, n) && e->best[n].goodput >= PROFILE_ENOUGH * most)
			r->recommended = e->best[n];
	return 0;
}

int profile_report_read(struct session *s, int64_t job_id, struct profile_report *r,
			struct err *err)
{
	*r = (struct profile_report){ .n_rows = 0 };
	if (read_all(s, job_id, r, err) == 0)
		return 0;
	profile_report_release(r);
	return -1;
}

void profile_report_release(struct profile_report *r)
{
	explanation_release(&r->e);
	status_details_release(&r->details);
	free(r->rows);
	*r = (struct profile_report){ .n_rows = 0 };
}

/* --- pollux profile --json, for programs. pollux-profile(1) has the schema --- */

#define SCHEMA_VERSION 1

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

static void print_point(struct json *j, const struct profile_row *row)
{
	const struct observation *o = &row->observation;
	const struct run *run = row->run;
	const struct configuration *c = &run->configuration;

	json_object(j, NULL);
	json_integer(j, "run", run->number);
	json_integer(j, "replicas", c->replicas);
	json_positive(j, "batch_size", configuration_batch_size(c));
	json_positive(j, "local_batch_size", c->local_batch_size);
	json_integer(j, "accumulation_steps", c->accumulation_steps);
	json_text(j, "why", row->why);
	json_string(j, "outcome", outcome_of(row));
	json_text(j, "diagnosis", run->diagnosis);
	json_number(j, "step_time_s", o->step_time_s);
	json_number(j, "step_time_sd_s", o->step_time_sd_s);
	json_number(j, "half_width", row->half_width);
	json_number(j, "sync_time_s", o->sync_time_s);
	json_integer(j, "n_steps", o->n_steps);
	json_integer(j, "n_windows", o->n_windows);
	json_integer(j, "n_dropped", o->n_dropped);
	json_integer(j, "n_outliers", o->n_outliers);
	json_number(j, "model_step_time_s", row->model_step_time_s);
	json_positive(j, "peak_memory_bytes", run->peak_memory_bytes);
	json_positive(j, "peak_device_memory_bytes", run->peak_device_memory_bytes);
	json_number(j, "first_step_s", run->first_step_s);
	json_number(j, "stop_duration_s", run->stop_duration_s);
	json_number(j, "duration_s", run->duration_s);
	json_end(j);
}

void profile_report_print_json(const struct profile_report *r, FILE *out)
{
	struct json j;
	const struct job *job = r->e.job;
	const struct memory_bounds *m = &r->e.knowledge->memory;
	int replicas = memory_least_bounded(m);

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", SCHEMA_VERSION);
	json_number(&j, "time_s", r->e.status.now_wall_s);
	json_integer(&j, "id", job->id);
	json_string(&j, "name", job->declared.name);
	json_string(&j, "workload", job->declared.workload);
	json_string(&j, "state", shown_state_name(r->e.item->state));
	json_text(&j, "reason", job->reason);
	json_text(&j, "device_kind", r->e.device_kind);
	json_positive(&j, "initial_batch_size", job->declared.batch.size);
	json_array(&j, "points");
	for (int i = 0; i < r->n_rows; i++)
		print_point(&j, &r->rows[i]);
	json_end(&j);
	if (r->recommended.goodput > 0) {
		json_object(&j, "recommended");
		explanation_print_json_choice(&j, &r->e, &r->recommended);
		json_end(&j);
	} else {
		json_string(&j, "recommended", NULL);
	}
	json_object(&j, "memory");
	json_positive(&j, "too_large", replicas ? memory_too_large(m, replicas) : 0);
	json_positive(&j, "fits", replicas ? memory_fits(m, replicas) : 0);
	json_positive(&j, "replicas", m->shared ? replicas : 0);
	json_end(&j);
	json_array(&j, "warnings");
	for (int i = 0; i < r->details.events.count; i++)
		if (!strcmp(r->details.events.items[i].kind, "warning"))
			json_string(&j, NULL, r->details.events.items[i].text);
	json_end(&j);
	json_number(&j, "restart_s", r->e.knowledge->restart_s);
	explanation_print_json_plans(&r->e, &j);
	explanation_print_json_missing(&j, &r->e);
	explanation_print_json_curves(&j, &r->e);
	explanation_print_json_model(&j, &r->e);
	explanation_print_json_noise(&j, &r->e);
	json_end(&j);
}
