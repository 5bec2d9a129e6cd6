/* results.c - reads the metrics of jobs, and puts the jobs in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parts.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/text.h"

/* --- columns --- */

bool metric_low_is_best(const char *name)
{
	static const char *const low[] = {
		"loss", "err", "ppl", "perplexity", "mae", "mse", "wer", "cer", "fid", "nll", "bpb",
		"time", "latency",
	};

	for (size_t i = 0; i < sizeof(low) / sizeof(low[0]); i++)
		if (strcasestr(name, low[i]))
			return true;
	return false;
}

const char *result_parameter(const struct results *r, int job, int parameter)
{
	return job_parameter(&r->jobs.items[job], r->parameters.items[parameter]);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct result_column *)a)->name,
		      ((const struct result_column *)b)->name);
}

static void add_column(struct results *r, const char *name)
{
	struct result_column *c;

	for (int i = 0; i < r->n_columns; i++)
		if (!strcmp(r->columns[i].name, name))
			return;
	r->columns = xreallocarray(r->columns, (size_t)r->n_columns + 1, sizeof(*r->columns));
	c = &r->columns[r->n_columns++];
	*c = (struct result_column){ .low_is_best = metric_low_is_best(name) };
	memcpy(c->name, name, strlen(name) + 1);
}

const struct job_metric *result_of(const struct results *r, int job, int column)
{
	const struct job_metric_list *list = &r->metrics[job];

	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, r->columns[column].name))
			return &list->items[i];
	return NULL;
}

enum result_class result_class(const struct job_metric *m)
{
	if (!m)
		return RESULT_NONE;
	return isfinite(m->last) ? RESULT_GOOD : RESULT_DIVERGED;
}

double result_best(const struct result_column *column, const struct job_metric *m)
{
	return column->low_is_best ? m->lowest : m->highest;
}

const char *results_state(const struct job *job)
{
	return job_is_paused(job) ? shown_state_name(SHOWN_PAUSED)
				  : job_state_name(job_state_told(job));
}

/* --- reading --- */

static void add_job(struct results *r, const struct job *job,
		    const struct job_metric_list *metrics)
{
	size_t n = (size_t)r->jobs.count + 1;

	r->jobs.items = xreallocarray(r->jobs.items, n, sizeof(*r->jobs.items));
	r->metrics = xreallocarray(r->metrics, n, sizeof(*r->metrics));
	r->jobs.items[r->jobs.count] = *job;
	r->metrics[r->jobs.count++] = *metrics;
	for (size_t i = 0; i < job->parameters.count; i++) {
		int length = (int)strcspn(job->parameters.items[i], "=");
		size_t k = 0;

		while (k < r->parameters.count &&
		       (strncmp(r->parameters.items[k], job->parameters.items[i], (size_t)length) !=
				0 ||
			r->parameters.items[k][length]))
			k++;
		if (k == r->parameters.count)
			strings_addf(&r->parameters, "%.*s", length, job->parameters.items[i]);
	}
	for (int i = 0; i < metrics->count; i++)
		add_column(r, metrics->items[i].name);
}

/* Adds the time of the present run. */
static void add_present(struct job *job, const struct run_list *runs, double now_boot_s)
{
	for (int i = 0; i < runs->count; i++)
		if (runs->items[i].job_id == job->id)
			job->progress.run_time_s +=
				run_duration_now_s(&runs->items[i], now_boot_s);
}

int results_read(struct store *s, const int64_t *ids, int n, struct results *r, struct err *err)
{
	struct job_list jobs = { .count = 0 };
	struct run_list runs;
	int rc;

	*r = (struct results){ .n_columns = 0 };
	rc = store_runs_active(s, &runs, err);
	if (rc == 0)
		rc = n ? store_jobs_get(s, ids, n, &jobs, err)
		       : store_jobs_list(s, JOBS_ALL, 0, &jobs, err);
	for (int i = 0; rc == 0 && i < jobs.count; i++) {
		struct job_metric_list metrics;

		rc = store_metrics_of_job(s, jobs.items[i].id, &metrics, err);
		if (rc || (n == 0 && metrics.count == 0)) {
			job_metric_list_release(&metrics);
			continue;
		}
		add_present(&jobs.items[i], &runs, clock_boot_s());
		add_job(r, &jobs.items[i], &metrics);
		job_init(&jobs.items[i]);
	}
	job_list_release(&jobs);
	run_list_release(&runs);
	if (rc)
		results_release(r);
	else if (r->n_columns > 0)
		qsort(r->columns, (size_t)r->n_columns, sizeof(*r->columns), by_name);
	return rc;
}

void results_release(struct results *r)
{
	for (int i = 0; i < r->jobs.count; i++)
		job_metric_list_release(&r->metrics[i]);
	job_list_release(&r->jobs);
	free(r->metrics);
	free(r->columns);
	strings_release(&r->parameters);
	*r = (struct results){ .n_columns = 0 };
}

/* --- order --- */

struct ranked {
	struct job job;
	struct job_metric_list metrics;
	enum result_class class;
	double best;
	bool low_is_best;
	int place;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = (int)x->class - (int)y->class;

	if (order == 0)
		order = value_compare(x->best, y->best, x->low_is_best);
	return order ? order : x->place - y->place;
}

int results_choose(struct results *r, const char *column, struct err *err)
{
	const char *colon = strrchr(column, ':');
	bool says_way = colon && (!strcmp(colon, ":min") || !strcmp(colon, ":max"));
	size_t length = says_way ? (size_t)(colon - column) : strlen(column);
	int i, n = r->jobs.count;
	struct ranked *all;

	for (i = 0; i < r->n_columns; i++)
		if (strlen(r->columns[i].name) == length &&
		    !memcmp(r->columns[i].name, column, length))
			break;
	if (i == r->n_columns)
		return err_set(err, EX_USAGE, "none of these jobs has a metric '%.*s'",
			       (int)length, column);
	r->columns[0] = r->columns[i];
	r->n_columns = 1;
	if (says_way)
		r->columns[0].low_is_best = !strcmp(colon, ":min");
	all = xcalloc((size_t)n + 1, sizeof(*all));
	for (i = 0; i < n; i++) {
		/* ranked by its best value in the first column */
		const struct job_metric *m = result_of(r, i, 0);

		all[i] = (struct ranked){
			r->jobs.items[i], r->metrics[i], result_class(m),
			m ? result_best(&r->columns[0], m) : (double)NAN,
			r->columns[0].low_is_best, i,
		};
	}
	qsort(all, (size_t)n, sizeof(*all), by_value);
	for (i = 0; i < n; i++) {
		r->jobs.items[i] = all[i].job;
		r->metrics[i] = all[i].metrics;
	}
	free(all);
	return 0;
}
