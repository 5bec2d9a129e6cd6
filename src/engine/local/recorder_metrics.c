/* recorder_metrics.c - numbers that a program tells: metrics and what follows from them, and the
 * statistics of its gradients, summed over windows. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pollux/store_measurements.h"
#include "recorder.h"

/* --- rungs --- */

int recorder_read_rungs(struct recorder *r, struct store *store, int64_t job_id, struct err *err)
{
	r->rungs.n_new = 0;
	return store_job_rungs(store, job_id, &r->rungs.known, err);
}

/* A program that reports its metric seldom may reach several rungs at once. */
static void see_rung(struct recorder *r, const struct run *run, const char *name, double value)
{
	struct recorder_rungs *rungs = &r->rungs;
	const struct halving *h = &rungs->known.halving;

	if (h->n_rungs == 0 || strcmp(name, h->metric) != 0)
		return;
	/* The comparison is false for a position that is not known. */
	while (rungs->known.rung + rungs->n_new < h->n_rungs &&
	       run->last_samples >= h->rungs[rungs->known.rung + rungs->n_new]) {
		rungs->samples[rungs->n_new] = run->last_samples;
		rungs->values[rungs->n_new++] = value;
		r->changed = true;
	}
}

/* --- divergence --- */

/* A training has diverged (--stop-nan) if its loss was not finite in so many values in a row. */

/* A number, or a word in its place, behind "loss", "train_loss", "loss_cls", "'loss': tensor(". */
#define LOSS "(?<!\\w)(?<!best )(?!best|min|lowest)[\\w/.-]*?loss(?!_?scal|less)[\\w/.-]*[\"']?" \
	     "[\\s:=|>]*(?:is\\s+)?[\\[(]*(?:[a-z_.0-9]+\\(\\[?)?"
/* The first one that is not finite, else the first one. */
const char recorder_losses_in_log[] =
	"log_loss=(?i)(?|^.*?" LOSS "([-+]?(?:nan|inf(?:inity)?))\\b"
	"|^.*?" LOSS "([-+]?\\d*\\.?\\d+(?:e[-+]?\\d+)?))";

void recorder_watch_values(struct recorder *r, int limit, const struct strings *expressions)
{
	r->diverged.limit = limit;
	r->diverged.expressions = expressions;
}

/* True for a loss of any kind, the metric of --halving, and each --metric. */
static bool is_watched(const struct recorder *r, const char *name)
{
	const struct halving *h = &r->rungs.known.halving;
	const struct strings *list = r->diverged.expressions;

	return strcasestr(name, "loss") || (h->n_rungs > 0 && !strcmp(name, h->metric)) ||
	       (list && strings_variable(list, name));
}

bool recorder_has_diverged(const struct recorder *r)
{
	return r->diverged.name[0] != '\0';
}

void recorder_describe_diverged(const struct recorder *r, struct text *t)
{
	const struct recorder_diverged *d = &r->diverged;

	text_addf(t, "%s was not finite in %d report%s", d->name, d->count,
		  d->count == 1 ? "" : "s in a row");
	if (isfinite(d->steps))
		text_addf(t, ", the last at step %.0f", d->steps);
	else if (isfinite(d->samples))
		text_addf(t, ", the last at %.0f samples", d->samples);
}

/* --- metrics --- */

/* Numbers that a program reports or prints for people: METRIC.name=value, the loss, and those of
 * the user's expressions. */

/* The metric of this name, or the place behind all. */
static struct recorder_metric *find_metric(struct recorder *r, const char *name)
{
	struct recorder_metric *metric = r->metrics;

	while (metric < r->metrics + r->n_metrics && strcmp(metric->values.name, name) != 0)
		metric++;
	return metric;
}

void recorder_add_metric(struct recorder *r, const struct run *run, const char *name, double value)
{
	struct recorder_diverged *d = &r->diverged;
	struct recorder_metric *metric = find_metric(r, name);
	struct job_metric *m;

	see_rung(r, run, name, value);
	if (metric == r->metrics + REPORT_METRICS_MAX)
		return;
	r->n_metrics += metric == r->metrics + r->n_metrics;
	m = &metric->values;
	if (!metric->changed)
		m->lowest = m->highest = m->lowest_samples = m->highest_samples = NAN;
	if (isfinite(value) && !(value >= m->lowest)) {
		m->lowest = value;
		m->lowest_samples = run->last_samples;
	}
	if (isfinite(value) && !(value <= m->highest)) {
		m->highest = value;
		m->highest_samples = run->last_samples;
	}
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->last = value;
	m->samples = run->last_samples;
	metric->changed = true;
	r->changed = true;
	metric->not_finite = isfinite(value) ? 0 : metric->not_finite + 1;
	if (d->limit <= 0 || d->name[0] || metric->not_finite < d->limit || !is_watched(r, m->name))
		return;
	memcpy(d->name, m->name, sizeof(d->name));
	d->count = metric->not_finite;
	d->steps = r->steps;
	d->samples = run->last_samples;
}

void recorder_add_found(struct recorder *r, const struct run *run, const char *name, double value)
{
	const struct recorder_metric *metric = find_metric(r, name);

	if (metric == r->metrics + REPORT_METRICS_MAX || !metric->is_reported)
		recorder_add_metric(r, run, name, value);
}

static void add_reported(struct recorder *r, const struct run *run, const char *name, double value)
{
	struct recorder_metric *metric = find_metric(r, name);

	recorder_add_metric(r, run, name, value);
	if (metric < r->metrics + REPORT_METRICS_MAX)
		metric->is_reported = true;
}

/* The loss is a metric like others, unless the program reports one of that name itself. */
void recorder_add_metrics(struct recorder *r, const struct run *run,
			  const struct report_message *m)
{
	if (m->loss.given)
		add_reported(r, run, "loss", m->loss.value);
	for (int i = 0; i < m->n_metrics; i++)
		add_reported(r, run, m->metrics[i].name, m->metrics[i].value);
}

void recorder_add_address(struct recorder *r, struct run *run, enum web_service service,
			  const char *address)
{
	char *kept = service == WEB_WANDB ? run->wandb_url : run->tensorboard_url;

	r->changed |= strcmp(kept, address) != 0;
	snprintf(kept, WEB_ADDRESS_SIZE, "%s", address);
}

int recorder_write_metrics(struct recorder *r, struct store *store, const struct run *run,
			   struct err *err)
{
	double batch_size = (double)configuration_batch_size(&run->configuration);
	struct recorder_rungs *rungs = &r->rungs;

	for (int i = 0; i < r->n_metrics; i++) {
		const struct job_metric *m = &r->metrics[i].values;

		if (!r->metrics[i].changed)
			continue;
		if (store_metric_set(store, run->job_id, m, err) ||
		    store_curve_add(store, run->job_id, m->name, m->samples, m->last, err))
			return -1;
		r->metrics[i].changed = false;
	}
	for (int i = 0; i < rungs->n_new; i++)
		if (store_rung_add(store, run->job_id, rungs->known.rung + 1 + i,
				   rungs->samples[i], rungs->values[i], err))
			return -1;
	rungs->known.rung += rungs->n_new;
	rungs->n_new = 0;
	if (r->positions_only || !(batch_size > 0) || !(run->step_time_s > 0))
		return 0;
	if (store_curve_add(store, run->job_id, CURVE_BATCH_SIZE, run->last_samples, batch_size,
			    err))
		return -1;
	return store_curve_add(store, run->job_id, CURVE_THROUGHPUT, run->last_samples,
			       batch_size / run->step_time_s, err);
}

/* --- gradients --- */

#define GRADIENT_WINDOW_S 30.0
/* and this part of the position: also enough for a window */
#define GRADIENT_WINDOW_UPDATES 50
#define GRADIENT_WINDOW_SHARE 0.1
/* So many losses, and the position doubled: also enough */
#define LOSS_WINDOW_LOSSES 30
#define GRADIENT_REPORT_MAX 1000000	/* updates in a report; more are a mistake */
#define GRADIENT_MAX 1e140		/* the squares of larger values would overflow */

/* The newest of n updates, or the mean of the newest k of them, beside the mean of all before. */
struct newest {
	double before, after;	/* the deviations from the mean without it and with it */
};

/* Adds k updates with the mean value to the sum of n. The sum of squared deviations grows by k *
 * before * after: B. P. Welford, Technometrics 4 (1962), 419-420. */
static struct newest sum_add(double *sum, int64_t n, int64_t k, double value)
{
	struct newest d = { .before = n > k ? value - *sum / (double)(n - k) : 0 };

	*sum += (double)k * value;
	d.after = value - *sum / (double)n;
	return d;
}

/* A report with a loss or with gradients opens a window. */
static void open_window(struct recorder *r, const struct run *run, const struct report_message *m,
			double now)
{
	struct gradient_window *g = &r->gradient;

	if (isnan(r->gradient_start_boot_s)) {
		r->gradient_start_boot_s = now;
		g->configuration = run->configuration;
		g->first_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
	}
	g->last_samples = m->samples >= 0 ? (double)m->samples : (double)NAN;
}

void recorder_add_loss(struct recorder *r, const struct run *run, const struct report_message *m,
		       double now)
{
	if (!m->loss.given || !isfinite(m->loss.value) || m->samples <= 0)
		return;
	open_window(r, run, m, now);
	loss_sums_add(&r->gradient.losses, (double)m->samples, m->loss.value);
}

void recorder_add_gradient(struct recorder *r, const struct run *run,
			   const struct report_message *m, double now)
{
	struct gradient_window *g = &r->gradient;
	struct newest sqr, var;
	int64_t k;

	if (!(fabs(m->grad_sqr) <= GRADIENT_MAX) || !(fabs(m->grad_var) <= GRADIENT_MAX))
		return;
	open_window(r, run, m, now);
	k = m->grad_samples > 0 && m->grad_samples < GRADIENT_REPORT_MAX ? m->grad_samples : 1;
	g->n += k;
	g->entries++;
	sqr = sum_add(&g->sum_grad_sqr, g->n, k, m->grad_sqr);
	var = sum_add(&g->sum_grad_var, g->n, k, m->grad_var);
	g->m2_grad_sqr += fmax((double)k * sqr.before * sqr.after, 0);
	g->m2_grad_var += fmax((double)k * var.before * var.after, 0);
	g->cross_grad += (double)k * sqr.before * var.after;
}

bool recorder_has_window(const struct recorder *r)
{
	return r->gradient.n > 0 || r->gradient.losses.n > 0;
}

void recorder_open_gradient_window(struct recorder *r)
{
	r->gradient = (struct gradient_window){ .window = r->gradient.window + 1 };
	r->gradient_start_boot_s = NAN;
}

void recorder_turn_gradient_window(struct recorder *r, double now)
{
	const struct gradient_window *g = &r->gradient;
	double covered = g->last_samples - g->first_samples;

	if (now - r->gradient_start_boot_s >= GRADIENT_WINDOW_S ||
	    (g->n >= GRADIENT_WINDOW_UPDATES && covered > 0 &&
	     covered >= GRADIENT_WINDOW_SHARE * g->last_samples) ||
	    (g->losses.n >= LOSS_WINDOW_LOSSES && g->last_samples >= 2 * g->first_samples))
		recorder_open_gradient_window(r);
}
