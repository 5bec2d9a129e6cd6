/* ends.c - see ends.h. */
#include <math.h>
#include <stdlib.h>

#include "ends_play.h"
#include "pollux/ends.h"
#include "pollux/mem.h"

#define TENTH 0.1

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, double q)
{
	double rank = q * (ENDS_DRAWS - 1);
	int low = (int)rank;

	if (low >= ENDS_DRAWS - 1)
		return sorted[ENDS_DRAWS - 1];
	return sorted[low] + (rank - low) * (sorted[low + 1] - sorted[low]);
}

static struct job_ends ends_of_draws(double *ends)
{
	for (int k = 0; k < ENDS_DRAWS; k++)
		if (isnan(ends[k]))
			ends[k] = HUGE_VAL;
	qsort(ends, ENDS_DRAWS, sizeof(*ends), by_value);
	if (!isfinite(quantile(ends, 1 - TENTH)))
		return (struct job_ends){ (double)NAN, (double)NAN, (double)NAN };
	return (struct job_ends){ quantile(ends, TENTH), quantile(ends, 0.5),
				  quantile(ends, 1 - TENTH) };
}

void ends_of(const struct sched_input *in, const struct ends_stream *stream, const bool *wanted,
	     struct job_ends *ends)
{
	/* In a draw all devices are of one kind. */
	struct sched_job *jobs = xcalloc((size_t)in->n_jobs, sizeof(*jobs));
	struct sched_input one = sched_merge_kinds(in, jobs);
	struct curves curves = curves_of(&one);
	struct lengths lengths = lengths_of(&curves);
	double *drawn = xcalloc((size_t)in->n_jobs * ENDS_DRAWS, sizeof(*drawn));
	struct draw d;

	if (in->n_jobs) {
		draw_init(&d, &curves, &lengths);
		for (int k = 0; k < ENDS_DRAWS; k++) {
			draw_play(&d, stream, wanted);
			for (int i = 0; i < in->n_jobs; i++)
				drawn[(curves.items[i].job - jobs) * ENDS_DRAWS + k] =
					d.players[i].end_s;
		}
		for (int i = 0; i < in->n_jobs; i++)
			ends[i] = ends_of_draws(&drawn[(size_t)i * ENDS_DRAWS]);
		draw_release(&d);
	}
	free(drawn);
	curves_release(&curves);
	free(jobs);
}

/* --- how jobs came of late, and whether more are to come --- */

#define BURST_S 600.0		/* jobs that came within this time may be all there are */
#define STOPS 0.05
#define LEAST_GAP_S 10.0

/* Finds the rate at which jobs still arrive. At each arrival the odds that it is the last one are
 * STOPS to 1. Each mean gap without a job multiplies these odds by e. */
static struct ends_stream stream_of(const double *newest, int n, double now_s)
{
	double gap_s = fmax(newest[0] - newest[n - 1], 0) / (n - 1);
	double odds = STOPS * exp(fmin(fmax(now_s - newest[0], 0) / fmax(gap_s, LEAST_GAP_S), 50));

	return (struct ends_stream){
		.gap_s = fmax(now_s - newest[n - 1], BURST_S) / (n - 1),
		.stopped = odds / (1 + odds),
	};
}

struct ends_stream ends_stream_of(const double *submitted_s, int n, double now_s)
{
	double newest[ENDS_NEWEST] = { 0 };
	int kept = 0;

	for (int i = 0; i < n; i++) {
		int at = kept < ENDS_NEWEST ? kept++ : ENDS_NEWEST - 1;

		if (at == ENDS_NEWEST - 1 && i >= ENDS_NEWEST && submitted_s[i] <= newest[at])
			continue;
		for (newest[at] = submitted_s[i]; at > 0 && newest[at] > newest[at - 1]; at--) {
			double other = newest[at - 1];

			newest[at - 1] = newest[at];
			newest[at] = other;
		}
	}
	return kept > 1 ? stream_of(newest, kept, now_s)
			: (struct ends_stream){ .gap_s = (double)NAN };
}
