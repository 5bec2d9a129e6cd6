/* status_words.c - what status says of a job, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"
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

/* The bound holds for the worst that may come. It is left out where it is so far behind the likely
 * start that nobody can plan by it, or more than a day off where no likely start is known. */
#define BOUND_NEAR 10.0
#define BOUND_NEAR_S 60.0
#define BOUND_WITHIN_S 86400.0

/* A time to the minute; up: rounded up. */
static struct formatted minute_of(double wall_s, bool up, double now_wall_s)
{
	double minutes = wall_s / 60;

	return format_minute(60 * (up ? ceil(minutes) : round(minutes)), now_wall_s);
}

bool status_add_start(struct text *t, const struct status *status, const struct status_job *item)
{
	double now_s = status->now_wall_s, likely_s = item->likely_start_s;
	double latest_s = item->job->next_start_s;
	struct formatted likely = minute_of(likely_s, false, now_s);
	struct formatted latest = minute_of(latest_s, true, now_s);
	double within_s = isfinite(likely_s)
		? BOUND_NEAR * (likely_s - now_s + BOUND_NEAR_S) : BOUND_WITHIN_S;
	/* A job that does not wait for its turn has no likely start: its time is known. */
	bool is_bound = latest_s > now_s && latest_s < now_s + within_s &&
			(isfinite(likely_s) || !strstr(item->job->reason, LENGTH_UNKNOWN));
	size_t before = t->length;

	if (isfinite(likely_s) && !(is_bound && likely_s > latest_s))
		text_addf(t, "likely about %s", likely.s);
	if (is_bound && (t->length == before || strcmp(likely.s, latest.s) != 0))
		text_addf(t, "%sat the latest %s", t->length > before ? "; " : "", latest.s);
	return t->length > before;
}

void status_add_ends(struct text *t, const struct status *status, const struct status_job *item)
{
	double now_s = status->now_wall_s;

	if (isfinite(item->likely_end_s))
		text_addf(t, "likely %s; %s to %s in 4 of 5 cases%s",
			  format_time(item->likely_end_s, now_s).s,
			  format_time(item->end_from_s, now_s).s,
			  format_time(item->end_to_s, now_s).s,
			  item->length_is_known ? "" : "; a guess, by how long jobs like it are");
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
	else if (!strcmp(torch, "isolated"))
		text_add(t, "none where its Python is run with -I, -E or -S");
	else if (!strcmp(torch, "hidden"))
		text_add(t, "none where it sets another PYTHONPATH; PYTHONPATH=DIR:$PYTHONPATH "
			 "keeps it");
	else if (declaration_has_torch_helper(&job->declared))
		text_addf(t, "to be %s", torch);
}

void status_add_words(struct text *t, const struct strings *words, size_t most)
{
	for (size_t i = 0; i < words->count && t->length < most; i++) {
		text_add(t, i ? " " : "");
		text_add_shell_quoted(t, words->items[i]);
	}
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

void status_add_held(struct text *t, const struct status *status, const struct run *run)
{
	double since_s = status->now_wall_s - (status->now_boot_s - run->suspended_boot_s);

	if (run->suspension == SUSPENSION_ASKED || isnan(since_s)) {
		text_add(t, "being suspended");
		return;
	}
	text_addf(t, "suspended since %s, %s stay in memory",
		  format_time(since_s, status->now_wall_s).s,
		  format_bytes((double)run->kept_memory_bytes).s);
	if (run->freeze_state == FREEZE_NONE && run->device_memory_bytes > 0)
		text_addf(t, ", %s on %s", format_bytes((double)run->device_memory_bytes).s,
			  run->devices[0].id);
}

void status_add_devices(struct text *t, const struct run *run)
{
	int n = run_held(run);

	if (n > 0 && run_is_elsewhere(run)) {
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

/* --- says why a run is being stopped, and how much of its grace is over --- */

void status_add_stopping(struct text *t, const struct status *status, const struct status_job *item)
{
	static const char *const words[N_STOP_REASONS] = {
		[STOP_NONE] = "stopping", [STOP_PREEMPT] = "stopping to give way",
		[STOP_REQUEUE] = "stopping to be queued again",
		[STOP_HOLD] = "stopping to be held", [STOP_CANCEL] = "stopping to be cancelled",
		[STOP_TIME_LIMIT] = "stopping at its time limit",
		[STOP_ORPHAN] = "stopping: it lost its supervisor",
		[STOP_SHUTDOWN] = "stopping for a shutdown", [STOP_MEASURED] = "stopping: measured",
		[STOP_RUNG] = "stopping at a rung",
		[STOP_DIVERGED] = "stopping, as it has diverged",
		[STOP_SUSPENSION] = "ending after a suspension",
	};
	const struct run *run = item->run;

	text_add(t, words[run->stop_reason]);
	if (status->now_boot_s - run->stop_boot_s > item->job->declared.grace_s + 1)
		text_addf(t, ", for %s, beyond its grace of %s",
			  format_duration(status->now_boot_s - run->stop_boot_s).s,
			  format_duration(item->job->declared.grace_s).s);
	else if (status->now_boot_s >= run->stop_boot_s)
		text_addf(t, ", %s of %s", format_duration(status->now_boot_s - run->stop_boot_s).s,
			  format_duration(item->job->declared.grace_s).s);
	else
		text_addf(t, ", grace %s", format_duration(item->job->declared.grace_s).s);
	if (run->diagnosis && *run->diagnosis)
		text_addf(t, "; %s", run->diagnosis);
}

/* --- what was changed of a program's training, or why nothing is, for a person --- */

/* "60,000 " */
static void add_total(struct text *t, const struct job *job)
{
	char digits[32];
	double total = job_total_steps(job);
	int n = total > 0 && total < 1e15
		? snprintf(digits, sizeof(digits), "%lld", (long long)total) : 0;

	for (int i = 0; i < n; i++)
		text_addf(t, "%s%c", i > 0 && (n - i) % 3 == 0 ? "," : "", digits[i]);
	if (n > 0)
		text_add(t, " ");
}

void status_add_veto(struct text *t, const struct job *job)
{
	switch (job_growth_veto(job)) {
	case GROWTH_ALLOWED:
		break;
	case GROWTH_COUNTS_STEPS:
		text_add(t, "counts ");
		add_total(t, job);
		text_add(t, "updates: larger batches would make it longer; pass {steps}, with "
			    "--steps");
		break;
	case GROWTH_END_UNKNOWN:
		text_add(t, "nothing tells yet what ends its training: its batch may grow once an "
			    "epoch has ended, or a total of samples is known (--samples, "
			    "--epochs)");
		break;
	case GROWTH_OPTIMIZER:
		text_addf(t, "no rule is known by which the learning rate of %s follows the batch",
			  optimizer_names_of(job->progress.optimizer));
		if (optimizer_family_of(job->progress.optimizer) != OPTIMIZER_SEARCH)
			text_add(t, "; --lr-rule names one");
		break;
	}
}

/* What the last choice of sizes rested on, as the pass that made it said. */
static void add_noise(struct text *t, const struct event_list *events)
{
	static const char phrase[] = "noise scale ";
	const char *found = NULL;

	for (int i = 0; events && i < events->count; i++) {
		const char *at = strstr(events->items[i].text, phrase);

		if (at && (!strcmp(events->items[i].kind, "assigned") ||
			   !strcmp(events->items[i].kind, "change")))
			found = at;
	}
	if (found)
		text_addf(t, "; %s", found);
}

void status_add_adapted(struct text *t, const struct job *job, const struct run *run,
			const struct event_list *events)
{
	int64_t now = run ? configuration_batch_size(&run->configuration) : 0;

	if (job_keeps_replicas(job) && job->declared.max_replicas != job->declared.min_replicas &&
	    !job_has_ended(job->state)) {
		text_add(t, "no: counts ");
		add_total(t, job);
		text_add(t, "updates, which each replica makes: more devices would not end it "
			    "sooner; --batch declares a batch that they share");
	}
	if (job->declared.batch.size == 0)
		return;
	if (now > 0 && now != job->declared.batch.size) {
		double own = (double)job->declared.batch.size, scale = run->learning_rate_scale;
		double batch_size = (double)configuration_batch_size(&run->configuration);
		enum lr_rule rule = job_lr_rule(job);
		double gain = rule == LR_SQRT_GAIN ? scale * scale : scale;
		const char *names = optimizer_names_of(job->progress.optimizer);

		text_addf(t, "batch %.0f -> %.0f, learning rate x %.3g (%s%s%s)", own, batch_size,
			  scale, lr_rule_name(rule), *names ? ", " : "", names);
		add_noise(t, events);
		/* The gain of these rules is batch / own batch * efficiency. */
		if (rule == LR_ADASCALE || rule == LR_SQRT_GAIN)
			text_addf(t, "; efficiency %.0f %% of batch %.0f",
				  100 * gain * own / batch_size, own);
	}
	if (job->declared.batch.max <= job->declared.batch.size || job_has_ended(job->state) ||
	    job_growth_veto(job) == GROWTH_ALLOWED)
		return;
	text_add(t, t->length ? "; " : "no: ");
	status_add_veto(t, job);
}
