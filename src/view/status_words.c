/* status_words.c - what status says of a job, in words. */
#include <math.h>
#include <string.h>

#include "pollux/report.h"
#include "pollux/status.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

const char *shown_state_name(enum shown_state state)
{
	static const char *const names[] = {
		[SHOWN_QUEUED] = "queued", [SHOWN_STARTING] = "starting",
		[SHOWN_RUNNING] = "running", [SHOWN_SUSPENDED] = "suspended",
		[SHOWN_STOPPING] = "stopping",
		[SHOWN_HELD] = "held", [SHOWN_PAUSED] = "paused", [SHOWN_DONE] = "done",
		[SHOWN_FAILED] = "failed",
		[SHOWN_CANCELLED] = "cancelled", [SHOWN_TIMEOUT] = "timeout",
	};

	return names[state];
}

/* True if another run of the job's sweep has the same name, as with --name. Runs of a sweep follow
 * each other, so the search begins behind the job. */
static bool has_namesake(const struct status *status, const struct job *job)
{
	int n = status->jobs.count, self = (int)(job - status->jobs.items);

	for (int i = 1; job->group_id && i < n; i++) {
		const struct job *other = &status->jobs.items[(self + i) % n];

		if (other->group_id == job->group_id)
			return !strcmp(other->declared.name, job->declared.name);
	}
	return false;
}

void status_add_name(struct text *t, const struct status *status, const struct job *job)
{
	text_add(t, job->declared.name);
	for (size_t i = 0; has_namesake(status, job) && i < job->parameters.count; i++)
		text_addf(t, " %s", job->parameters.items[i]);
}

bool status_add_begin(struct text *t, const struct status *status, const struct job *job)
{
	double left_s = job->declared.begin_s - status->now_wall_s;
	/* The last pass said that the job waits for its --begin: such a pass stores that very time
	 * as the next start. */
	bool waits_to_begin = fabs(job->next_start_s - job->declared.begin_s) < 1e-6;

	if (job->state != JOB_QUEUED || (*job->reason && !waits_to_begin))
		return false;
	if (!(left_s > 0)) {
		if (waits_to_begin)
			text_add(t, "may begin: waits for the next pass");
		return waits_to_begin;
	}
	text_addf(t, "begins at %s (in %s)",
		  format_time(job->declared.begin_s, status->now_wall_s).s,
		  format_duration(left_s).s);
	return true;
}

void status_add_helper(struct text *t, const struct job *job, const struct run *run)
{
	const char *torch = job->declared.torch;

	if (!torch)
		return;
	if (!strcmp(torch, "off"))
		text_add(t, "off (--no-torch)");
	else if (run && *run->framework)
		text_addf(t, "on: %s%s%s", run->framework, *run->helper ? "; " : "", run->helper);
	else if (run && *run->helper)
		text_add(t, run->helper);
	else if (!strcmp(torch, "auto"))
		text_add(t, "to be on: its Python has torch");
	else
		text_addf(t, "to be %s", torch);
}

void status_add_metrics(struct text *t, const struct job_metric_list *metrics)
{
	for (int i = 0; i < metrics->count; i++)
		if (strcmp(metrics->items[i].name, "loss") != 0) /* shown with the position */
			text_addf(t, "%s%s %s", t->length ? ", " : "", metrics->items[i].name,
				  value_format(metrics->items[i].last, 6).s);
}

void status_add_kept(struct text *t, const struct run *run)
{
	if (run->suspension == SUSPENSION_ASKED)
		text_add(t, "being stopped");
	else
		text_addf(t, "%s kept", format_bytes((double)run->kept_memory_bytes).s);
	if (run->suspension != SUSPENSION_ASKED && run->device_memory_bytes > 0)
		text_addf(t, ", %s on %s", format_bytes((double)run->device_memory_bytes).s,
			  run->devices[0].id);
}

void status_add_devices(struct text *t, const struct run *run)
{
	int n = run->configuration.replicas;

	if (run_is_elsewhere(run)) {
		text_addf(t, "%d of ", n);
		run_add_nodes(run, t);
		return;
	}
	for (int i = 0; i < n; i++)
		text_addf(t, "%s%s", i ? "," : "", run->devices[i].id);
}

void status_add_trouble(struct text *t, const struct status_job *item)
{
	if (isfinite(item->silent_s))
		text_addf(t, "its supervisor, process %lld, has not answered for %s: passes "
			  "continue or replace it; ", (long long)item->silent_pid,
			  format_duration(item->silent_s).s);
	if (item->stuck)
		text_addf(t, "%s; ", item->stuck);
	if (item->remark && *item->remark)
		text_addf(t, "%s; ", item->remark);
}
