/* wait_limits.c - see wait_limits.h. */
#include <math.h>
#include <stdlib.h>

#include "claims.h"
#include "pollux/mem.h"
#include "wait_limits.h"

/* The longest wait before a job is overdue, in rounds. In one round each job has its slice. With 16
 * rounds, mean completion times on one GPU are up to 4 % longer (desk.sh). */
#define LIMIT_ROUNDS 24

/* A submitted job, and the device-seconds of its slice and of those submitted before. */
struct submission {
	double at_s, round_device_s;
};

static int by_time(const void *a, const void *b)
{
	const struct submission *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static struct submission *submissions_of(const struct curves *curves)
{
	int n = curves->in->n_jobs;
	struct submission *list = xcalloc((size_t)n, sizeof(*list));

	for (int i = 0; i < n; i++) {
		const struct curve *c = &curves->items[i];

		list[i].at_s = isnan(c->job->submitted_s) ? -HUGE_VAL : c->job->submitted_s;
		list[i].round_device_s = c->least * c->slice_s;
	}
	qsort(list, (size_t)n, sizeof(*list), by_time);
	for (int i = 1; i < n; i++)
		list[i].round_device_s += list[i - 1].round_device_s;
	return list;
}

/* The device-seconds of the slices of all jobs that were submitted at or before a time. */
static double round_device_s(const struct submission *list, int n, double since_s)
{
	int low = 0;

	while (low < n) {
		int middle = (low + n) / 2;

		if (list[middle].at_s <= since_s)
			low = middle + 1;
		else
			n = middle;
	}
	return low ? list[low - 1].round_device_s : 0;
}

double *wait_limits_of(const struct curves *curves)
{
	int n = curves->in->n_jobs;
	struct submission *list = submissions_of(curves);
	double *limits_s = xcalloc((size_t)n, sizeof(*limits_s));

	for (int i = 0; i < n; i++) {
		const struct curve *c = &curves->items[i];
		double since_s = c->held ? curves->in->now_s : claims_waiting_since_s(curves, c);

		limits_s[i] = LIMIT_ROUNDS * fmax(curves->slice_s,
						  round_device_s(list, n, since_s) /
							  fmax(curves->n_devices, 1));
	}
	free(list);
	return limits_s;
}
