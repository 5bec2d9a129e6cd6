/* store_metrics.h - the numbers that jobs report or print for people: for each name the last value,
 * the lowest and the highest. */
#ifndef POLLUX_STORE_METRICS_H
#define POLLUX_STORE_METRICS_H

#include "pollux/store.h"

struct job_metric {
	char name[64];
	double last;			/* value.h: it need not be finite */
	double samples;			/* the position; NaN: unknown */
	/* of the finite values; NaN: there was none */
	double lowest, lowest_samples, highest, highest_samples;
	double time_s;			/* wall clock: of the report's write */
};

struct job_metric_list {
	struct job_metric *items;	/* owned */
	int count;
};

#define STORE_METRICS_MAX 64	/* names that a job may have */

/* Stored lowest and highest values stay if they are lower or higher than those of m. A job has
 * STORE_METRICS_MAX names at most; a further name is passed over. */
int store_metric_set(struct store *s, int64_t job_id, const struct job_metric *m, struct err *err);
/* By name. */
int store_metrics_of_job(struct store *s, int64_t job_id, struct job_metric_list *list,
			 struct err *err);
void job_metric_list_release(struct job_metric_list *list);

#endif
