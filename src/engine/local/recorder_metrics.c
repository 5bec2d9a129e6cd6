/* recorder_metrics.c - numbers that a program reports or prints for people: METRIC.name=value, the
 * loss, and those of the user's expressions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/store_curves.h"
#include "recorder.h"

static struct recorder_metric *find_metric(struct recorder *r, const char *name)
{
	for (int i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].values.name, name))
			return &r->metrics[i];
	return r->n_metrics < REPORT_METRICS_MAX ? &r->metrics[r->n_metrics++] : NULL;
}

void recorder_add_metric(struct recorder *r, const struct run *run, const char *name, double value)
{
	struct recorder_metric *metric = find_metric(r, name);
	struct job_metric *m = metric ? &metric->values : NULL;

	recorder_see_rung(r, run, name, value);
	if (!m)
		return;
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
	recorder_count_value(r, run, metric, value);
}

/* The loss is a metric like others, unless the program reports one of that name itself. */
void recorder_add_metrics(struct recorder *r, const struct run *run,
			  const struct report_message *m)
{
	if (m->loss.given)
		recorder_add_metric(r, run, "loss", m->loss.value);
	for (int i = 0; i < m->n_metrics; i++)
		recorder_add_metric(r, run, m->metrics[i].name, m->metrics[i].value);
}

/* Adds points to the curves of throughput and batch size, too. */
static int write_speed(const struct recorder *r, struct store *store, const struct run *run,
		       struct err *err)
{
	double batch_size = (double)configuration_batch_size(&run->configuration);

	if (r->positions_only || !(batch_size > 0) || !(run->step_time_s > 0))
		return 0;
	if (store_curve_add(store, run->job_id, CURVE_BATCH_SIZE, run->last_samples, batch_size,
			    err))
		return -1;
	return store_curve_add(store, run->job_id, CURVE_THROUGHPUT, run->last_samples,
			       batch_size / run->step_time_s, err);
}

int recorder_write_metrics(struct recorder *r, struct store *store, const struct run *run,
			   struct err *err)
{
	for (int i = 0; i < r->n_metrics; i++) {
		const struct job_metric *m = &r->metrics[i].values;

		if (!r->metrics[i].changed)
			continue;
		if (store_metric_set(store, run->job_id, m, err) ||
		    store_curve_add(store, run->job_id, m->name, m->samples, m->last, err))
			return -1;
		r->metrics[i].changed = false;
	}
	return recorder_write_rungs(r, store, run, err) || write_speed(r, store, run, err) ? -1 : 0;
}
