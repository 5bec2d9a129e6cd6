/* status_declared.c - what was asked of one job, for a person. */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "pollux/text.h"

const char *status_separator(const struct text *t)
{
	return t->length ? ", " : "";
}

void status_add_number(struct text *t, const char *name, double value)
{
	bool is_large = fabs(value) >= 1e5 && fabs(value) < 1e15;

	if (isfinite(value))
		text_addf(t, is_large ? "%s%s %.0f" : "%s%s %.6g", status_separator(t), name,
			  value);
}

void status_add_loss(struct text *t, const struct progress *p)
{
	double loss;

	if (progress_loss(p, &loss))
		text_addf(t, "%sloss %s", status_separator(t), value_format(loss, 6).s);
}

void status_add_duration(struct text *t, const char *name, double seconds)
{
	if (isfinite(seconds))
		text_addf(t, "%s%s %s", status_separator(t), name, format_duration(seconds).s);
}

static void add_batch(struct text *t, const struct declaration *declared)
{
	if (declared->batch.size == 0)
		return;
	text_addf(t, "%lld samples", (long long)declared->batch.size);
	if (declared->batch.max)
		text_addf(t, ", may be %lld to %lld", (long long)declared->batch.min,
			  (long long)declared->batch.max);
	if (declared->batch.max_local)
		text_addf(t, ", at most %lld on a device",
			  (long long)declared->batch.max_local);
}

static void add_learning_rate(struct text *t, const struct declaration *declared)
{
	if (!isfinite(declared->learning_rate))
		return;
	text_addf(t, "%.6g", declared->learning_rate);
	if (declared->learning_rate_rule && *declared->learning_rate_rule)
		text_addf(t, ", scaled by %s", declared->learning_rate_rule);
}

static void print_scheduling(const struct job *job, double now_wall_s, struct text *t,
			     const struct output *out)
{
	static const char *const preemption_words[N_PREEMPTIONS] = {
		[PREEMPT_ALWAYS] = "preemptible",
		[PREEMPT_SAVED] = "preemptible once it has saved",
		[PREEMPT_NEVER] = "not preemptible",
	};
	const struct declaration *declared = &job->declared;
	char name[SIGNAL_NAME_SIZE];

	text_addf(t, "weight %.6g, %s, %d retries", declared->weight,
		  preemption_words[declared->preemption], declared->retries);
	status_add_duration(t, "time limit", declared->time_limit_s);
	output_textline(out, "scheduling", t);
	if (declared->stop_nan > 0)
		text_addf(t, "after %d values of its loss in a row that are not finite",
			  declared->stop_nan);
	output_text_if(out, "stop nan", t);
	if (isfinite(declared->begin_s) && !job_has_ended(job->state))
		output_line(out, "begin", format_time(declared->begin_s, now_wall_s).s);
	if (declared->first_rank > 0 && !job_has_ended(job->state))
		output_line(out, "turn", "first in line ('pollux first')");
	text_add(t, signal_name(name, declared->stop_signal));
	status_add_duration(t, "grace", declared->grace_s);
	output_textline(out, "stop", t);
}

/* Prints what few jobs ask for: a line for each that this job asked for. */
static void print_seldom(const struct declaration *declared, const struct status_details *d,
			 struct text *t, const struct output *out)
{
	if (declared->kind)
		text_add(t, declared->kind);
	if (declared->not_kind)
		text_addf(t, "%snot %s", t->length ? ", " : "", declared->not_kind);
	output_text_if(out, "kind", t);
	if (declared->worst_tier != TIER_UNKNOWN)
		output_line(out, "tier", worst_tier_names.names[declared->worst_tier]);
	status_add_number(t, "noise scale", declared->noise_scale);
	output_text_if(out, "noise", t);
	if (isfinite(declared->gpu_memory_bytes))
		output_line(out, "gpu memory", format_bytes(declared->gpu_memory_bytes).s);
	if (isfinite(declared->memory_limit_bytes))
		output_line(out, "memory", format_bytes(declared->memory_limit_bytes).s);
	if (declared->share)
		output_line(out, "share", "may run beside others on one device");
	if (declared->suspend != SUSPEND_AUTO)
		output_line(out, "suspend", suspend_names.names[declared->suspend]);
	if (isfinite(declared->log_limit_bytes))
		output_line(out, "log limit", format_bytes(declared->log_limit_bytes).s);
	for (size_t i = 0; i < d->command.metric_regexes.count; i++)
		output_line(out, "metric", d->command.metric_regexes.items[i]);
	if (declared->on_end)
		output_line(out, "on end", declared->on_end);
}

void status_print_declared(const struct job *job, const struct status_details *d,
			   double now_wall_s, const struct output *out)
{
	const struct declaration *declared = &job->declared;
	struct text t = TEXT_INIT;
	int min = declared->min_replicas, max = declared->max_replicas;
	static const char *const rule_words[N_AFTER_RULES] = {
		[AFTER_END] = " (to end)", [AFTER_OK] = "", [AFTER_NOT_OK] = " (to fail)",
		[AFTER_ANY] = " (or another)",
	};

	fputs("\ndeclared\n", out->file);
	if (job->group_id)
		text_addf(&t, "group:%lld", (long long)job->group_id);
	for (size_t i = 0; i < job->parameters.count; i++)
		text_addf(&t, "%s %s", i ? "" : ":", job->parameters.items[i]);
	output_text_if(out, "sweep", &t);
	if (job->key)
		output_line(out, "key", job->key);
	if (d->halving)
		output_line(out, "halving", d->halving);
	if (declared->cpu_cores)
		text_addf(&t, "no device, %d core%s", declared->cpu_cores,
			  plural(declared->cpu_cores));
	else if (max == 0)
		text_addf(&t, "%d to all devices", min);
	else if (min < max)
		text_addf(&t, "%d to %d devices", min, max);
	else
		text_addf(&t, "%d device%s", min, plural(min));
	output_textline(out, "replicas", &t);
	add_batch(&t, declared);
	output_textline(out, "batch", &t);
	add_learning_rate(&t, declared);
	output_textline(out, "lr", &t);
	status_add_number(&t, "samples", declared->total_samples);
	status_add_number(&t, "steps", declared->total_steps);
	output_textline(out, "total", &t);
	for (const char *p = declared->plans; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
		text_add(&t, t.length ? "; " : "");
		text_add_bytes(&t, p, strcspn(p, "\n"));
	}
	output_text_if(out, "plans", &t);
	if (declared->slurm_args)
		output_line(out, "slurm-args", declared->slurm_args);
	if (declared->launch != LAUNCH_EACH)
		output_line(out, "launch", launch_names.names[declared->launch]);
	if (declared->guarantee)
		output_line(out, "guarantee", declared->guarantee);
	output_line(out, "step regex", d->command.step_regex);
	for (int i = 0; i < d->after.count; i++)
		text_addf(&t, "%sjob %lld%s, which %s", i ? "; " : "",
			  (long long)d->after.items[i].after_id,
			  rule_words[d->after.items[i].rule],
			  job_state_clause(d->after.items[i].after_state,
					   d->after.items[i].after_set_aside));
	output_textline(out, "after", &t);
	print_scheduling(job, now_wall_s, &t, out);
	print_seldom(declared, d, &t, out);
	text_release(&t);
}
