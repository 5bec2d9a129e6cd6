/* share_pair.h - what workloads do to each other on one device, and whether jobs stay together
 * there.
 *
 * Jobs that take turns on a device do, together, what one of them does alone: the sum of their
 * rates, each relative to its rate alone, is 1. Jobs that run beside each other stay together only
 * while their sum is above SHARE_GAIN. Until the pair was measured it is tried. */
#ifndef POLLUX_SHARE_PAIR_H
#define POLLUX_SHARE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* One workload of a pair beside the other. */
struct share_factor {
	/* rate of steps beside the other, over the rate alone, in the same configuration; NaN:
	 * not measured */
	double relative;
	int64_t n_windows;		/* of step times beside the other; each some seconds */
	double alone_s, beside_s;	/* mean step times, weighted as relative; NaN */
	bool was_alone;			/* it has step times of a device of its own */
	bool out_of_memory;		/* it once ran out of memory beside the other */
};

#define SHARE_GAIN 1.05
#define SHARE_WINDOWS 3		/* of step times: as many decide on a pair */
#define SHARE_SPARE 0.08	/* part of a device's memory that stays free */
#define SHARE_MOST 8		/* jobs on a device */

/* Jobs on one device; the last one came last. */
struct share_group {
	int n;
	/* of i beside j; i != j */
	struct share_factor factors[SHARE_MOST][SHARE_MOST];
	double need_bytes[SHARE_MOST];	/* of the device's memory; NaN: not known */
	double room_bytes;		/* the device's memory; 0: it has none of its own */
};

enum share_verdict {
	SHARE_TOGETHER,		/* it pays */
	SHARE_TRY,		/* a pair that was not measured yet, so far as known it may pay */
	SHARE_APART,		/* it does not pay */
	SHARE_NO_ROOM,		/* their memory does not fit, or nobody knows */
	SHARE_NOT_AGAIN,	/* one of them ran out of memory beside the other */
};

struct share_answer {
	enum share_verdict verdict;
	double sum;			/* of relative rates; NaN: not known */
	/* What the newcomer adds to the sum. For a pair that is to be tried: the least that
	 * pays. */
	double gain;
};

/* A workload that was never measured alone counts as slowed as much as the other one. In a group of
 * more than two each rate is taken to be the product of the pair's factors; the group needs every
 * pair measured, and the newcomer must raise the sum of the others by SHARE_GAIN as well. */
struct share_answer share_judge(const struct share_group *g);

/* Which waiting jobs go beside which jobs that have devices: one more job for a device, one device
 * for a job.
 *
 * The sum of the gains is exactly the largest there is, for any number of jobs and devices. The
 * whole decision of a pass is not. The policy decides first which jobs have devices of their own,
 * as if nobody shared. Then one more job goes beside those on each device, as here; then one more
 * again, up to max_share. So the choice of the first guests is exact, given who has the devices:
 * there is no more to choose where max_share is 2. Two things are not searched: other jobs in the
 * place of those that have devices, for the sake of who fits beside them; and a first guest that
 * gains less, but leaves more for a second one. */
/* gain[j * n_devices + i]: what job j adds on device i, above 0; any other value: it does not go
 * there. Sets device_of[j], or -1, so that the sum of the gains is the largest there is, for any
 * number of jobs and devices. Among equals jobs and devices that come first are chosen first. The
 * method: augmenting paths of the largest gain, which leave after k of them the best assignment of
 * k jobs (Ford and Fulkerson, "Flows in Networks", 1962, chapter III). */
void share_match(const double *gain, int n_jobs, int n_devices, int *device_of);

#endif
