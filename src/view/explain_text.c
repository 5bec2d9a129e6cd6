/* explain_text.c - the explanation of a job, in words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* Whole per cents. + 0.0 turns -0, a loss that rounds to nothing, into 0. */
static void add_percent(struct text *t, double ratio)
{
	text_addf(t, "%.0f %%", round(ratio * 100) + 0.0);
}

/* --- who, and what was decided --- */

static void add_sizes(struct text *t, const struct run *run)
{
	const struct configuration *c = &run->configuration;

	text_addf(t, "%d device%s", c->replicas, plural(c->replicas));
	if (c->local_batch_size == 0)
		return;
	text_add(t, ", batch ");
	configuration_print(c, t);
	text_addf(t, " (replicas, local batch, passes), learning rate * %.3g",
		  run->learning_rate_scale);
}

/* Says what happens to the job's run when another job is to have its devices. */
static const char *turn_of(const struct explanation *e)
{
	const struct run *run = e->item->run;
	bool resumes = job_may_be_preempted(e->job, run);
	bool suspends = run && run->suspension != SUSPENSION_CANNOT &&
			e->job->declared.suspend != SUSPEND_NEVER;

	if (suspends && (!resumes || e->loses || e->job->declared.suspend == SUSPEND_ALWAYS))
		return "it is suspended, as far as memory allows, and goes on in about 0.1 s";
	return resumes ? "it is stopped, and relaunched later" : "it keeps its devices";
}

static void print_decision(const struct explanation *e, const struct output *out)
{
	const struct decision_row *d = &e->decision;
	struct text t = TEXT_INIT;

	status_print_head("job", e->job, out);
	status_add_state(&t, &e->status, e->item, "");
	output_textline(out, "state", &t);
	output_line(out, "workload", e->job->declared.workload);
	if (e->split)
		output_line(out, "sweep", e->split);
	fputs("\ndecision\n", out->file);
	status_add_trouble(&t, e->item);
	text_add(&t, e->item->job->reason);
	if (t.length == 0)
		text_add(&t, "no pass has looked at it yet");
	output_textline(out, "reason", &t);
	if (e->item->run && run_held(e->item->run) > 0) {
		add_sizes(&t, e->item->run);
		output_textline(out, "has", &t);
	}
	status_add_metrics(&t, &e->metrics);
	output_text_if(out, "metrics", &t);
	if (e->item->run && !e->job->profile && !e->job->held &&
	    !run_has_no_device(e->item->run))
		output_line(out, "for others", turn_of(e));
	if (d->policy)
		text_addf(&t, "%s, by policy %s, with %d device%s to give out: %s",
			  format_time(d->time_s, e->status.now_wall_s).s, d->policy, d->n_devices,
			  plural(d->n_devices), d->reason);
	output_textline(out, "last change", &t);
	if (e->status.hung_pass.length)
		output_line(out, "passes", e->status.hung_pass.data);
	if (e->policy && !e->policy->models_goodput) {
		text_addf(&t, "%s does not look at goodput: the rest says what there would be to "
			  "gain", e->policy->name);
		output_textline(out, "policy", &t);
	}
	text_release(&t);
}

/* --- devices --- */

static void add_next(const struct explanation *e, int r, int n, struct text *t)
{
	double now = outlook_offer(e->kind, r), next = outlook_offer(e->kind, n);
	bool loses = next < now;

	if (n == r + 1) {
		text_add(t, "the ");
		add_ordinal(t, n);
	} else {
		text_addf(t, "%d", n);
	}
	text_add(t, loses ? " would take " : " would add ");
	add_percent(t, fabs(next / now - 1));
	text_addf(t, "%s: goodput %s to %s", loses ? " away" : "", format_count(now).s,
		  format_count(next).s);
}

/* Says what one more device would add, or why nobody can tell. */
static void print_next(const struct explanation *e, const struct output *out)
{
	int r = e->replicas;
	int next = explanation_next(e, r);
	const char *obstacle = next <= e->n_devices ? explanation_obstacle(e, next) : NULL;
	struct text t = TEXT_INIT;

	if (r < 1)
		text_add(&t, "it can be given none of these numbers, see the last column");
	else if (r + 1 > e->n_devices)
		text_addf(&t, "none: there are no more than %d", e->n_devices);
	else if (next > e->n_devices)
		text_addf(&t, "none: no more of the %d are even on the nodes", e->n_devices);
	else if (!obstacle && outlook_offer(e->kind, r) > 0)
		add_next(e, r, next, &t);
	else if (obstacle && !strcmp(obstacle, "not tried") && explanation_is_too_wide(e, next))
		text_addf(&t, "not tried: %d are on %d nodes, at most %d times as many as were "
			  "measured are tried", next, explanation_nodes(e, next),
			  SCHED_NODE_GROWTH);
	else if (obstacle && !strcmp(obstacle, "not tried"))
		text_addf(&t, "not tried: at most %d times the %d that were measured",
			  SCHED_REPLICA_GROWTH, e->knowledge->model.max_replicas);
	else if (obstacle && !strcmp(obstacle, "does not fit"))
		text_addf(&t, "none: no batch within its range spreads over %d devices", next);
	else if (obstacle && !strcmp(obstacle, "not asked for"))
		text_addf(&t, "none: it asked for at most %d", e->job->declared.max_replicas);
	else if (obstacle)
		text_addf(&t, "none: %s", obstacle);
	output_textline(out, "next device", &t);
	text_release(&t);
}

/* Says what the present sizes bring. They may differ from the best sizes, because the model changes
 * and a relaunch has to pay. */
static void print_present(const struct explanation *e, const struct output *out)
{
	int r = e->replicas;
	double best = e->now.goodput > 0 && r <= e->n_devices ? e->best[r].goodput : 0;
	struct text t = TEXT_INIT;

	if (!(best > 0))
		return;
	text_addf(&t, "goodput %s", format_count(e->now.goodput).s);
	if (e->now.goodput > best * 0.995) {
		text_addf(&t, ", the best for %d device%s", r, plural(r));
	} else {
		text_add(&t, ": ");
		add_percent(&t, 1 - e->now.goodput / best);
		text_addf(&t, " below the best for %d device%s, batch %lld", r, plural(r),
			  (long long)configuration_batch_size(&e->best[r].configuration));
		if (e->best[r].configuration.tier < e->now.configuration.tier)
			text_add(&t, " on devices that are joined better");
	}
	output_textline(out, "now", &t);
	text_release(&t);
}

static void print_batches(const struct explanation *e, const struct output *out)
{
	bool fixed = e->job->declared.batch.max == 0;

	if (e->n_batches == 0)
		return;
	fprintf(out->file, "\nbatch sizes on %d device%s%s\n", e->replicas, plural(e->replicas),
		fixed ? " (not to be changed: no --batch-range)" : "");
	explanation_print_batches(e, out);
	if (!fixed && isnan(e->model.goodput.noise_scale))
		output_line(out, "efficiency",
			    "not known, nor the noise scale: goodput takes larger batches to bring "
			    "nothing");
}

/* --- the model --- */

void explanation_print_fit(const struct explanation *e, const struct output *out)
{
	const struct model_row *m = &e->knowledge->model;
	struct text t = TEXT_INIT;
	bool from_prior = false;

	text_addf(&t, "%s steps in %d configuration%s, on %s", format_count((double)m->n_steps).s,
		  m->fit.n_observations, plural(m->fit.n_observations),
		  e->outlook.workload ? e->outlook.workload->kind : e->device_kind);
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		from_prior |= m->fit.basis[i] == FIT_FROM_PRIOR;
	if (from_prior)
		text_add(&t, "; for the rest (prior) on 'pollux profile --devices' and the number "
			     "of parameters");
	output_textline(out, "rests on", &t);
	text_addf(&t, "updates %.1f %%", 100 * m->fit.rmse_step);
	if (m->fit.rmse_grad > 0)
		text_addf(&t, ", passes without synchronisation %.1f %%", 100 * m->fit.rmse_grad);
	text_add(&t, " (root mean square, when fitted)");
	output_textline(out, "error", &t);
	text_addf(&t, "%s; %s", e->fitted_now ? "just now, for this; no pass has"
					      : format_time(m->fit_time_s, e->status.now_wall_s).s,
		  fit_stop_names.names[m->fit.stop]);
	output_textline(out, "fitted", &t);
	text_release(&t);
}

/* --- noise --- */

static void print_noise_scale(const struct explanation *e, const struct output *out)
{
	const struct noise_estimate *noise = &e->model.noise;
	double low = noise->interval.low, high = noise->interval.high;
	double phi = noise->noise_scale, updates = (double)noise->n_updates;
	bool unknown = isnan(low);
	struct text t = TEXT_INIT;

	if (unknown)
		text_add(&t, "unknown: larger batches are taken to bring nothing; ");
	else if (isnan(phi) || isinf(high))
		text_addf(&t, "at least %s", format_count(low).s);
	else
		text_add(&t, format_count(phi).s);
	if (!unknown && !isnan(phi) && high - low >= 1e-3 * phi && isfinite(high))
		text_addf(&t, " (%s to %s)", format_count(low).s, format_count(high).s);
	if (!unknown)
		text_addf(&t, " samples, %s", noise_basis_name(e->model.noise_basis));
	if (noise->n_updates > 0 && e->model.noise_basis != NOISE_DECLARED)
		text_addf(&t, unknown ? "%s updates measured do not tell yet" : " in %s updates",
			  format_count(updates).s);
	else if (unknown)
		text_add(&t, "no gradient statistics (pollux-client(3)), no --noise-scale");
	if (noise->n_doubted > 0)
		text_addf(&t, "; left out as implausible: the statistics of job %lld%s",
			  (long long)noise->doubted_job,
			  noise->n_doubted > 1 ? " and others" : "");
	output_textline(out, "scale", &t);
	text_release(&t);
}

void explanation_print_noise(const struct explanation *e, const struct output *out)
{
	double phi = e->model.goodput.noise_scale;
	const struct run *run = e->item->run;
	int64_t m0 = e->job->declared.batch.size;
	int64_t m = run ? configuration_batch_size(&run->configuration) : 0;
	struct text t = TEXT_INIT;
	double lr_factor = 1;

	if (m0 == 0)
		return;
	if (m <= 0)
		m = m0;
	if (m != m0)
		lr_factor = goodput_lr_factor(e->rule, phi, (double)m0, (double)m);
	fputs("\nnoise scale of the gradients\n", out->file);
	print_noise_scale(e, out);
	if (run || !job_has_ended(e->job->state))
		status_add_helper(&t, e->job, run);
	output_text_if(out, "helper", &t);
	status_add_adapted(&t, e->job, run, NULL);
	output_text_if(out, "adapted", &t);
	if (isfinite(phi)) {
		add_percent(&t, goodput_efficiency(phi, (double)m0, (double)m));
		text_addf(&t, " at batch %lld, against %lld", (long long)m, (long long)m0);
		output_textline(out, "efficiency", &t);
	}
	if (e->model.known && e->model.goodput.batch.max > m0) {
		growth_print(&e->model.growth, m0, explanation_growth_bound(e), &t);
		output_textline(out, "growth", &t);
	}
	text_addf(&t, "* %.3g at batch %lld, by %s", lr_factor, (long long)m,
		  lr_rule_name(e->rule));
	if (run && m != m0)
		text_addf(&t, "; * %.3g when its sizes were chosen", run->learning_rate_scale);
	if (e->leaves_learning_rate)
		text_add(&t, "; its command does not carry this out: it has {batch}, but neither "
			 "{lr} nor {lr_scale}");
	output_textline(out, "lr", &t);
	text_release(&t);
}

/* --- restart --- */

void explanation_print_restart(const struct explanation *e, const struct output *out)
{
	double cost_s = e->knowledge->restart_s;
	struct text t = TEXT_INIT;

	fputs("\nrestart\n", out->file);
	if (isnan(cost_s)) {
		text_add(&t, "unknown: none has been timed yet; a twentieth of a slice is assumed");
	} else {
		text_addf(&t, "%s, %s; ", format_span(cost_s).s,
			  e->restart_was_timed ? "as measured"
					       : "the time to the first report, as none was "
						 "stopped yet");
		add_percent(&t, cost_s / e->config.slice_s);
		text_addf(&t, " of a slice of %s", format_duration(e->config.slice_s).s);
	}
	output_textline(out, "costs", &t);
	text_release(&t);
}

/* --- all of it --- */

void explanation_print(const struct explanation *e, const struct output *out)
{
	print_decision(e, out);
	if (e->model.known) {
		fprintf(out->file, "\ndevices (best sizes; goodput: samples/s worth as much as in "
			"batches of %lld)\n", (long long)e->job->declared.batch.size);
		if (job_has_ended(e->job->state))
			output_line(out, "ended",
				    "what it would be given now, as its model is now");
		explanation_print_devices(e, out);
		print_present(e, out);
		print_next(e, out);
		explanation_print_kinds(e, out);
		print_batches(e, out);
		fputs("\nmodel (of a step's time; basis: see pollux-goodput(7))\n", out->file);
		explanation_print_parameters(e, out);
		explanation_print_fit(e, out);
		fputs("\nmeasured step times, and the model's\n", out->file);
		explanation_print_observations(e, out);
	} else {
		struct text t = TEXT_INIT;

		fputs("\nmodel\n", out->file);
		explanation_missing(e, &t);
		output_textline(out, "missing", &t);
		if (!e->job->declared.cpu_cores &&
		    (e->job->state == JOB_QUEUED || e->job->state == JOB_RUNNING))
			output_line(out, "until then", "it keeps its own sizes, and is offered "
				    "devices that others leave");
		text_release(&t);
	}
	explanation_print_noise(e, out);
	explanation_print_restart(e, out);
	explanation_print_plans(e, out);
	explanation_print_share(e, out);
	explanation_print_end(e, out);
}
