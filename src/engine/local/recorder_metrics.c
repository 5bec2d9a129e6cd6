/* recorder_metrics.c - numbers that a program reports for people: METRIC.name=value. */
#include <math.h>
#include <string.h>

#include "recorder.h"
#include "pollux/store_metrics.h"

static struct recorder_metric *find(struct recorder *r, const char *name)
{
	for (int i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].metric.name, name))
			return &r->metrics[i];
	return r->n_metrics < REPORT_METRICS_MAX ? &r->metrics[r->n_metrics++] : NULL;
}

void recorder_add_metrics(struct recorder *r, const struct run *run,
			  const struct report_message *m)
{
	for (int i = 0; i < m->n_metrics; i++) {
		struct recorder_metric *metric = find(r, m->metrics[i].name);

		if (metric)
			*metric = (struct recorder_metric){ m->metrics[i], run->last_samples,
							    true };
	}
}

int recorder_write_metrics(struct recorder *r, struct store *store, int64_t job_id,
			   struct err *err)
{
	for (int i = 0; i < r->n_metrics; i++) {
		struct recorder_metric *m = &r->metrics[i];
		struct job_metric row = { .last = m->metric.value, .samples = m->samples };

		if (!m->changed)
			continue;
		memcpy(row.name, m->metric.name, sizeof(row.name));
		if (store_metric_set(store, job_id, &row, err))
			return -1;
		m->changed = false;
	}
	return 0;
}
