/* store_curves.h - numbers of a job while it went on: loss and metrics, throughput, batch size.
 *
 * A job has at most STORE_CURVE_POINTS points of a name, whatever its length: a point is kept only
 * where a sixtieth of the time since the first one has passed since the last, and a full curve
 * loses every second point, but not its first and last. A value that is not finite is a
 * point, too. */
#ifndef POLLUX_STORE_CURVES_H
#define POLLUX_STORE_CURVES_H

#include "pollux/store.h"

#define STORE_CURVE_POINTS 120

/* Names that pollux measures by itself; others are those of metrics. */
#define CURVE_THROUGHPUT "pollux.throughput"	/* samples/s */
#define CURVE_BATCH_SIZE "pollux.batch_size"	/* samples */

struct curve_point {
	double time_s;		/* wall clock */
	double samples;		/* position; NaN: unknown */
	double value;		/* value.h: it need not be finite */
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
 * the job (store_metrics.h). */
int store_curve_add(struct store *s, int64_t job_id, const char *name, double samples,
		    double value, struct err *err);
int store_curves_of_job(struct store *s, int64_t job_id, struct curve_list *list,
			struct err *err);
void curve_list_release(struct curve_list *list);

#endif
