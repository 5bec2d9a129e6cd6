/* batch_growth.h - how far and how fast the batch of a job may grow: pollux-goodput(7).
 *
 *	struct growth growth = growth_judge(windows, n, &job);
 *	int64_t most = growth_most(&growth, &bound);
 *
 * Larger batches must not cost a training its result. Two bounds hold at once:
 *
 *	efficiency	At the low end of the noise scale's interval, a sample is worth at least
 *			min_efficiency of one in the submitted batch.
 *	steps		A batch is at most GROWTH_STEP times the batch that was judged last. The
 *			submitted batch needs no judgement. A larger one was judged once the loss of
 *			its samples was as low as the smaller batch had promised. A batch that falls
 *			behind is taken back to the one judged before.
 *
 * What the smaller batch promised: its mean losses in windows of samples, and the curve a + b /
 * sqrt(position) through them, which bends as losses do. The larger batch may take 1 /
 * min_efficiency as many samples for the same way along the curve. Its loss is the mean over its
 * updates since the change. The standard error of the difference has the spread of the windows
 * around the curve, and that of the losses within the larger batch.
 *
 *	behind		the difference is more than GROWTH_BEHIND standard errors
 *	as promised	the difference is at most GROWTH_TOLERANCE standard errors, after at least
 *			GROWTH_LOSSES losses over at least GROWTH_STRETCH of the position
 *	open		else: the batch stays, and grows no further
 *
 * Of a program that reports no loss a batch is judged once its gradients are: at least four
 * reports of them. A job begins with the submitted batch, since nothing is promised there.
 *
 * The judgement is made after each window, and the first answer stands. So the same windows give
 * the same answer, and nothing else has to be remembered. What was taken back may be tried again
 * at GROWTH_AGAIN times the position.
 *
 * Pure functions, constant memory. */
#ifndef POLLUX_BATCH_GROWTH_H
#define POLLUX_BATCH_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/noise_scale.h"

#define GROWTH_STEP 2
#define GROWTH_BEHIND 3.0
#define GROWTH_LOSSES 100
#define GROWTH_TOLERANCE 0.5
#define GROWTH_STRETCH 0.05
#define GROWTH_AGAIN 2.0
#define GROWTH_LAST 0.8			/* of a known total: no growth after it */
#define DEFAULT_MIN_EFFICIENCY 0.8

enum growth_verdict {
	GROWTH_UNSEEN,			/* the job has reported nothing */
	GROWTH_OPEN,			/* too few losses to judge the batch by */
	GROWTH_AS_PROMISED,		/* or it is no larger than one that was */
	GROWTH_FELL_BEHIND,
};

struct growth {
	enum growth_verdict verdict;	/* on batch_size */
	bool has_loss;			/* else batches are judged by their gradients alone */
	int64_t batch_size;		/* the newest one; 0: none was seen */
	int64_t judged;			/* the largest so far; at least the submitted one */
	/* What fell behind is not tried before this position; 0: nothing fell behind. */
	double again_samples;
	/* Of the loss of the newest judgement, and of what was promised; NaN: no judgement. */
	double loss, promised, error;
};

/* Judges the batches of a job by its windows, which are in the order of its training. */
struct growth growth_judge(const struct noise_window *windows, int n, int64_t job_id,
			   int64_t initial_batch_size, double min_efficiency);

/* The largest batch of which a sample is worth min_efficiency (0: anything) of one in the initial
 * batch, at this noise scale; at least the initial batch, which it is where the noise scale is
 * unknown (NaN). */
int64_t growth_efficient(double noise_scale, int64_t initial_batch_size, double min_efficiency);

struct growth_bound {
	int64_t initial_batch_size, batch_size;	/* M0, and the present one; 0: not running */
	double noise_low;		/* the low end of the interval; NaN: unknown */
	double min_efficiency;
	double samples, total_samples;	/* position, and where the training ends; NaN: unknown */
};

/* Adds how the newest batch did, and the largest one that the job may have: "at most 128 now; batch
 * 64: loss 0.312, 0.314 +- 0.006 promised". */
void growth_print(const struct growth *g, int64_t initial_batch_size, int64_t most,
		  struct text *out);

/* The largest batch that the job may have now. */
int64_t growth_most(const struct growth *g, const struct growth_bound *b);

#endif
