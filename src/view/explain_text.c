/* explain_text.c - the explanation of a job, in words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/clock.h"
#include "pollux/explain.h"
#include "pollux/format.h"
#include "pollux/output.h"

/* --- lines --- */

static void line(const struct status_output *out, const char *name, const char *value)
{
	output_line(out->file, out->width, name, value);
}

void explanation_print_line(const struct status_output *out, const char *name, const char *value)
{
	line(out, name, value);
}

/* The line of a text built for it, which is then empty again. */
static void line_of(const struct status_output *out, const char *name, struct text *t)
{
	line(out, name, t->data);
	text_clear(t);
}

static void add_ordinal(struct text *t, int n)
{
	static const char *const suffix[] = { "th", "st", "nd", "rd" };
	int last = n % 10;

	text_addf(t, "%d%s", n, suffix[last > 3 || n / 10 % 10 == 1 ? 0 : last]);
}

static void add_devices(struct text *t, int n)
{
	text_addf(t, "%d device%s", n, n == 1 ? "" : "s");
}

/* Whole per cents; + 0.0: a loss that rounds to nothing is no -0. */
static void add_percent(struct text *t, double ratio)
{
	text_addf(t, "%.0f %%", round(ratio * 100) + 0.0);
}

static void add_count(struct text *t, double n)
{
	char buf[FORMAT_SIZE];

	text_add(t, format_count(buf, sizeof(buf), n));
}

static void add_span(struct text *t, double seconds)
{
	char buf[FORMAT_SIZE];

	text_add(t, format_span(buf, sizeof(buf), seconds));
}

static void add_duration(struct text *t, double seconds)
{
	char buf[FORMAT_SIZE];

	text_add(t, format_duration(buf, sizeof(buf), seconds));
}

static void add_time(struct text *t, const struct explanation *e, double wall_s)
{
	char buf[FORMAT_SIZE];

	text_add(t, format_time(buf, sizeof(buf), wall_s, e->status.now_wall_s));
}

/* --- who, and what was decided --- */

static void print_head(const struct explanation *e, const struct status_output *out)
{
	const struct run *run = e->item->run;
	struct text t = TEXT_INIT;

	fprintf(out->file, "job %lld: ", (long long)e->job->id);
	output_clean(out->file, e->job->declared.name);
	fputc('\n', out->file);
	text_add(&t, shown_state_name(e->item->state));
	if (run) {
		text_add(&t, e->item->state == SHOWN_STARTING ? ", waits for " : " on ");
		status_add_devices(&t, run);
	}
	line_of(out, "state", &t);
	line(out, "workload", e->job->declared.workload);
	text_release(&t);
}

static void add_sizes(struct text *t, const struct run *run)
{
	const struct configuration *c = &run->configuration;

	add_devices(t, c->replicas);
	if (c->local_batch_size == 0)
		return;
	text_add(t, ", batch ");
	configuration_print(c, t);
	text_addf(t, " (replicas, local batch, passes), learning rate * %.3g",
		  run->learning_rate_scale);
}

static void print_decision(const struct explanation *e, const struct status_output *out)
{
	const struct decision_row *d = &e->decision;
	struct text t = TEXT_INIT;

	fputs("\ndecision\n", out->file);
	status_add_reason(&t, e->item);
	if (t.length == 0)
		text_add(&t, "no pass has looked at it yet");
	line_of(out, "reason", &t);
	if (e->item->run) {
		add_sizes(&t, e->item->run);
		line_of(out, "has", &t);
	}
	if (d->policy) {
		add_time(&t, e, d->time_s);
		text_addf(&t, ", by policy %s, with ", d->policy);
		add_devices(&t, d->n_devices);
		text_addf(&t, " to give out: %s", d->reason);
	}
	line_of(out, "last change", &t);
	if (e->policy && !e->policy->models_goodput) {
		text_addf(&t, "%s does not look at goodput: the rest says what there would be to "
			  "gain", e->policy->name);
		line_of(out, "policy", &t);
	}
	text_release(&t);
}

/* --- devices --- */

static void add_next(const struct explanation *e, int r, struct text *t)
{
	double now = e->best[r].goodput, next = e->best[r + 1].goodput;

	text_add(t, "the ");
	add_ordinal(t, r + 1);
	text_add(t, next < now ? " would take " : " would add ");
	add_percent(t, fabs(next / now - 1));
	text_add(t, next < now ? " away: goodput " : ": goodput ");
	add_count(t, now);
	text_add(t, " to ");
	add_count(t, next);
}

/* What one more device would bring, or why that cannot be told. */
static void print_next(const struct explanation *e, const struct status_output *out)
{
	int r = e->replicas;
	const char *obstacle = r + 1 <= e->n_devices ? explanation_obstacle(e, r + 1) : NULL;
	struct text t = TEXT_INIT;

	if (r < 1)
		text_add(&t, "it can be given none of these numbers, see the last column");
	else if (r + 1 > e->n_devices)
		text_addf(&t, "none: there are no more than %d", e->n_devices);
	else if (!obstacle && e->best[r].goodput > 0)
		add_next(e, r, &t);
	else if (obstacle && !strcmp(obstacle, "not tried"))
		text_addf(&t, "not tried: at most %d times the %d that were measured",
			  SCHED_REPLICA_GROWTH, e->knowledge.model.max_replicas);
	else if (obstacle && !strcmp(obstacle, "does not fit"))
		text_addf(&t, "none: no batch within its range spreads over %d devices", r + 1);
	else if (obstacle)
		text_addf(&t, "none: it asked for at most %d", e->job->declared.max_replicas);
	line_of(out, "next device", &t);
	text_release(&t);
}

/* The model wavers, and a relaunch has to pay: so what it has need not be the best there is. */
static void print_present(const struct explanation *e, const struct status_output *out)
{
	double best = e->now.goodput > 0 && e->replicas <= e->n_devices
		? e->best[e->replicas].goodput : 0;
	struct text t = TEXT_INIT;

	if (!(best > 0))
		return;
	text_add(&t, "goodput ");
	add_count(&t, e->now.goodput);
	if (e->now.goodput > best * 0.995) {
		text_add(&t, ", the best for ");
		add_devices(&t, e->replicas);
	} else {
		text_add(&t, ": ");
		add_percent(&t, 1 - e->now.goodput / best);
		text_add(&t, " below the best for ");
		add_devices(&t, e->replicas);
		text_addf(&t, ", batch %lld",
			  (long long)configuration_batch_size(&e->best[e->replicas].configuration));
	}
	line_of(out, "now", &t);
	text_release(&t);
}

static void print_devices(const struct explanation *e, const struct status_output *out)
{
	fprintf(out->file, "\ndevices (best sizes; goodput: samples/s worth as much as in batches of "
		"%lld)\n", (long long)e->job->declared.batch_size);
	if (job_has_ended(e->job->state))
		line(out, "ended", "what it would be given now, as its model is now");
	explanation_print_devices(e, out);
	print_present(e, out);
	print_next(e, out);
}

static void print_batches(const struct explanation *e, const struct status_output *out)
{
	const struct job *job = e->job;

	if (e->n_batches == 0)
		return;
	fprintf(out->file, "\nbatch sizes on %d device%s", e->replicas, e->replicas == 1 ? "" : "s");
	if (job->declared.max_batch_size == 0)
		fputs(" (not to be changed: no --batch-range)", out->file);
	fputc('\n', out->file);
	explanation_print_batches(e, out);
	if (job->declared.max_batch_size > 0 && isnan(e->model.goodput.noise_scale))
		line(out, "efficiency", "not known, nor the noise scale: goodput takes larger batches to bring nothing");
}

/* --- the model --- */

static bool any_from_prior(const struct fit_result *fit)
{
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++)
		if (fit->basis[i] == FIT_FROM_PRIOR)
			return true;
	return false;
}

void explanation_print_fit(const struct explanation *e, const struct status_output *out)
{
	const struct model_row *m = &e->knowledge.model;
	struct text t = TEXT_INIT;

	add_count(&t, (double)m->n_steps);
	text_addf(&t, " steps in %d configuration%s, on %s", m->fit.n_observations,
		  m->fit.n_observations == 1 ? "" : "s", e->device_kind);
	if (any_from_prior(&m->fit))
		text_add(&t, "; for the rest (prior) on 'pollux profile --devices' and the number of "
			 "parameters");
	line_of(out, "rests on", &t);
	text_addf(&t, "updates %.1f %%", 100 * m->fit.rmse_step);
	if (m->fit.rmse_grad > 0)
		text_addf(&t, ", passes without synchronisation %.1f %%", 100 * m->fit.rmse_grad);
	text_add(&t, " (root mean square, when fitted)");
	line_of(out, "error", &t);
	if (e->fitted_now)
		text_add(&t, "just now, for this; no pass has");
	else
		add_time(&t, e, m->fit_time_s);
	text_addf(&t, "; %s", fit_stop_name(m->fit.stop));
	line_of(out, "fitted", &t);
	text_release(&t);
}

static void print_model(const struct explanation *e, const struct status_output *out)
{
	fputs("\nmodel (of a step's time; basis: see pollux-goodput(7))\n", out->file);
	explanation_print_parameters(e, out);
	explanation_print_fit(e, out);
	fputs("\nmeasured step times, and the model's\n", out->file);
	explanation_print_observations(e, out);
}

/* --- noise --- */

static void print_noise_value(const struct explanation *e, const struct status_output *out)
{
	double phi = e->model.goodput.noise_scale;
	struct text t = TEXT_INIT;

	if (isnan(phi)) {
		text_add(&t, "unknown: larger batches are taken to bring nothing");
	} else {
		add_count(&t, phi);
		text_addf(&t, " samples, %s", noise_basis_name(e->model.noise_basis));
	}
	if (e->model.n_noise_updates > 0 && e->model.noise_basis != NOISE_DECLARED) {
		text_add(&t, isnan(phi) ? "; " : " in ");
		add_count(&t, (double)e->model.n_noise_updates);
		text_add(&t, isnan(phi) ? " updates measured do not tell yet" : " updates");
	} else if (isnan(phi)) {
		text_add(&t, "; no gradient statistics (pollux-client(3)), no --noise-scale");
	}
	line_of(out, "scale", &t);
	text_release(&t);
}

static void print_worth(const struct explanation *e, const struct status_output *out)
{
	const struct goodput_model *g = &e->model.goodput;
	int64_t m0 = e->job->declared.batch_size;
	int64_t now = e->item->run ? configuration_batch_size(&e->item->run->configuration) : 0;
	int64_t m = now > 0 ? now : m0;
	struct text t = TEXT_INIT;

	if (isfinite(g->noise_scale)) {
		add_percent(&t, goodput_efficiency(g->noise_scale, (double)m0, (double)m));
		text_addf(&t, " at batch %lld, against %lld", (long long)m, (long long)m0);
		line_of(out, "efficiency", &t);
	}
	text_addf(&t, "* %.3g at batch %lld, by %s", m == m0 ? 1.0 : goodput_lr_factor(e->rule,
		  g->noise_scale, (double)m0, (double)m), (long long)m, lr_rule_name(e->rule));
	if (e->item->run && m != m0)
		text_addf(&t, "; * %.3g when its sizes were chosen",
			  e->item->run->learning_rate_scale);
	line_of(out, "lr", &t);
	text_release(&t);
}

void explanation_print_noise(const struct explanation *e, const struct status_output *out)
{
	if (e->job->declared.batch_size == 0)
		return;
	fputs("\nnoise scale of the gradients\n", out->file);
	print_noise_value(e, out);
	print_worth(e, out);
}

/* --- restart and end --- */

void explanation_print_restart(const struct explanation *e, const struct status_output *out)
{
	double cost = e->knowledge.restart_s;
	struct text t = TEXT_INIT;

	fputs("\nrestart\n", out->file);
	if (isnan(cost)) {
		text_add(&t, "unknown: none has been timed yet; a twentieth of a slice is assumed");
	} else {
		add_span(&t, cost);
		text_add(&t, e->restart_was_timed ? ", as measured; "
			 : ", the time to the first report, as none was stopped yet; ");
		add_percent(&t, cost / e->slice_s);
		text_add(&t, " of a slice of ");
		add_duration(&t, e->slice_s);
	}
	line_of(out, "costs", &t);
	text_release(&t);
}

static void add_remaining(const struct job *job, struct text *t)
{
	bool samples = job->declared.total_samples > 0;
	double total = samples ? job->declared.total_samples : job_total_steps(job);
	double done = samples ? job->progress.samples : job->progress.steps;

	add_count(t, fmax(total - (done > 0 ? done : 0), 0));
	text_add(t, " of ");
	add_count(t, total);
	text_add(t, samples ? " samples" : " steps");
}

/* What a job that waits would take, once it runs. */
static double run_time_left(const struct explanation *e)
{
	const struct goodput_choice *c = e->least ? &e->best[e->least] : NULL;
	double left = e->job->declared.total_samples - (e->job->progress.samples > 0 ? e->job->progress.samples : 0);

	return c && c->goodput > 0 && !e->item->run && left > 0 ? left / c->throughput : (double)NAN;
}

static void add_end_of_waiting(const struct explanation *e, struct text *t)
{
	double left = run_time_left(e);

	if (isfinite(left)) {
		text_add(t, "by ");
		add_time(t, e, e->job->next_start_s + left);
		text_add(t, ", or sooner: ");
	}
	text_add(t, "to start by ");
	add_time(t, e, e->job->next_start_s);
	if (isfinite(left)) {
		text_add(t, ", then ");
		add_duration(t, left);
		text_add(t, " on ");
		add_devices(t, e->least);
		text_add(t, " if it keeps them");
	}
}

static void add_end(const struct explanation *e, struct text *t)
{
	double eta = e->item->eta_s;

	if (job_has_ended(e->job->state)) {
		text_addf(t, "%s at ", job_state_name(e->job->state));
		add_time(t, e, e->job->end_time_s);
	} else if (isfinite(eta)) {
		text_add(t, "about ");
		add_time(t, e, e->status.now_wall_s + eta);
		text_add(t, ", in ");
		add_duration(t, eta);
		text_add(t, ", if it keeps its devices");
	} else if (e->job->profile) {	/* next_start_s is no start of its own */
		text_add(t, "with its budget, at the latest");
	} else if (!(e->job->declared.total_samples > 0 || job_total_steps(e->job) > 0)) {
		text_add(t, "not known: submitted without --samples, --steps or --epochs");
	} else if (e->job->next_start_s > e->status.now_wall_s) {
		add_end_of_waiting(e, t);
	} else {
		text_add(t, e->item->run ? "not known until its program has reported samples or steps"
					 : "not known: it waits");
	}
}

static void print_remaining(const struct explanation *e, const struct status_output *out, struct text *t)
{
	if (e->job->declared.total_samples > 0 || job_total_steps(e->job) > 0) {
		add_remaining(e->job, t);
		if (isfinite(e->item->throughput_eps)) {
			text_add(t, ", at ");
			add_count(t, e->item->throughput_eps);
			text_add(t, " samples/s");
		}
		line_of(out, "remaining", t);
	}
	if (isfinite(run_time_left(e))) {
		add_duration(t, run_time_left(e));
		text_add(t, " of running on ");
		add_devices(t, e->least);
		line_of(out, "takes", t);
	}
}

static void print_end(const struct explanation *e, const struct status_output *out)
{
	struct text t = TEXT_INIT;

	fputs("\nend\n", out->file);
	add_end(e, &t);
	line_of(out, "end", &t);
	if (!job_has_ended(e->job->state))
		print_remaining(e, out, &t);
	text_release(&t);
}

/* --- all of it --- */

static void print_missing(const struct explanation *e, const struct status_output *out)
{
	struct text t = TEXT_INIT;

	fputs("\nmodel\n", out->file);
	explanation_missing(e, &t);
	line_of(out, "missing", &t);
	if (e->job->state == JOB_QUEUED || e->job->state == JOB_RUNNING)
		line(out, "until then", "it keeps its own sizes, and is offered devices that others leave");
	text_release(&t);
}

void explanation_print(const struct explanation *e, const struct status_output *out)
{
	print_head(e, out);
	print_decision(e, out);
	if (e->model.known) {
		print_devices(e, out);
		print_batches(e, out);
		print_model(e, out);
	} else {
		print_missing(e, out);
	}
	explanation_print_noise(e, out);
	explanation_print_restart(e, out);
	print_end(e, out);
}
