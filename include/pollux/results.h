/* results.h - what jobs reached: the metrics that they reported or printed, side by side.
 *
 *	struct results r;
 *	if (results_read(&store, ids, n, &r, err)) ...
 *	results_choose(&r, "val_loss:min", err);	// only this metric, and the best job first
 *	results_print_table(&r, &output);
 *	results_release(&r);
 */
#ifndef POLLUX_RESULTS_H
#define POLLUX_RESULTS_H

#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/report.h"
#include "pollux/store_jobs.h"
#include "pollux/store_metrics.h"

struct result_column {
	char name[64];
	bool low_is_best;
};

struct results {
	struct job_list jobs;
	struct job_metric_list *metrics;	/* owned; one list for each job */
	struct result_column *columns;		/* owned; all names that a job has, by name */
	int n_columns;
	struct strings parameters;		/* names of those that a job has */
};

/* n 0: all jobs that have a metric. EX_NOINPUT: there is no such job. */
int results_read(struct store *s, const int64_t *ids, int n, struct results *r, struct err *err);
void results_release(struct results *r);

/* Keeps one column, "NAME", "NAME:min" or "NAME:max", and sorts the jobs by class, and in a class
 * by their best values. EX_USAGE for a name that no job has. */
int results_choose(struct results *r, const char *column, struct err *err);

/* True for names such as loss, err, ppl: low values are good. */
bool metric_low_is_best(const char *name);

/* NULL: the job has no metric of this name. */
const struct job_metric *result_of(const struct results *r, int job, int column);
/* The text of its value; NULL: the job has no parameter of this name. */
const char *result_parameter(const struct results *r, int job, int parameter);
/* The order of jobs: a job whose last value is not finite comes behind all whose last value is a
 * number, however good its values were before. */
enum result_class { RESULT_GOOD, RESULT_DIVERGED, RESULT_NONE };
/* m NULL: the job has no such metric. */
enum result_class result_class(const struct job_metric *m);
/* NaN: no value was finite. */
double result_best(const struct result_column *column, const struct job_metric *m);

/* results_print.c */
void results_print_table(const struct results *r, const struct output *out);
void results_print_csv(const struct results *r, FILE *out);
void results_print_json(const struct results *r, FILE *out);

/* results_plot.c: the first column against each parameter that differs, by gnuplot. EX_FAILED:
 * there is nothing to draw. Further errors are those of picture_draw. */
int results_draw(const struct results *r, const char *path, struct err *err);

#endif
