/* store_metrics.h - metrics of jobs, and points of curves. */
#ifndef POLLUX_STORE_METRICS_H
#define POLLUX_STORE_METRICS_H

#include "pollux/store.h"

/* --- numbers that jobs report or print for people --- */

struct job_metric {
	char name[64];
	double last;			/* text.h: it need not be finite */
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

/* --- curves: loss and metrics, throughput, batch size --- */

/* A job has at most STORE_CURVE_POINTS points of a name, whatever its length: a point is kept only
 * where a sixtieth of the time since the first one has passed since the last, and a full curve
 * loses every second point, but not its first and last. A value that is not finite is a
 * point, too. */

#define STORE_CURVE_POINTS 120

/* Names that pollux measures by itself; others are those of metrics. */
#define CURVE_THROUGHPUT "pollux.throughput"	/* samples/s */
#define CURVE_BATCH_SIZE "pollux.batch_size"	/* samples */

struct curve_point {
	double time_s;		/* wall clock */
	double samples;		/* position; NaN: unknown */
	double value;		/* text.h: it need not be finite */
};

struct curve {
	char name[64];
	struct curve_point *points;	/* owned; in the order of time */
	int n;
};

struct curve_list {
	struct curve *items;		/* by name */
	int count;
};

/* Adds nothing if name is neither one of the names above nor a metric of
 * the job. */
int store_curve_add(struct store *s, int64_t job_id, const char *name, double samples,
		    double value, struct err *err);
int store_curves_of_job(struct store *s, int64_t job_id, struct curve_list *list,
			struct err *err);
void curve_list_release(struct curve_list *list);

#endif
