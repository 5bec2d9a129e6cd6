/* repeat.h - repeat something until the mean of its time is known; private to the layer.
 *
 *	struct repeated s;
 *	repeat_time(&s, run, &state, &REPEAT_FULL);	// run(&state, n) does it n times and says how long it took
 *
 * A repetition does as many as take a fixed span together. It is repeated, after a warm-up, until half
 * the width of the 95 % confidence interval of the mean (Student's t) is below a share of the mean, at
 * least so many times; or until so many, or so much time, was spent, and then it is not steady.
 * That is looked at after each one, and it ends at the first time that it holds: such an interval covers the mean
 * less often than in 95 % of cases. It is a rule of stopping, no more.
 * Repetitions above REPEAT_STALL medians are stalls of the machine: counted, and left out. */
#ifndef MEASURE_REPEAT_H
#define MEASURE_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#define REPEAT_STALL 3.0
#define REPEAT_MOST 400

struct repeat_limits {
	int least, most;	/* repetitions; most is at most REPEAT_MOST */
	double half_width;	/* of the confidence interval, relative to the mean */
	double span_s;		/* of a repetition, at least, but for its last doubling */
	double time_s;		/* for all repetitions */
};
extern const struct repeat_limits REPEAT_FULL, REPEAT_QUICK;

struct repeated {
	double mean_s, sd_s;	/* of one; sd: between repetitions, n - 1 */
	double half_width;	/* relative; HUGE_VAL for fewer than two */
	int64_t n, n_stalls;	/* repetitions that count, and that do not */
	bool steady;
};

/* The statistics alone, of n >= 1 times. Pure. */
struct repeated repeat_of(const double *times_s, int n, const struct repeat_limits *limits);

/* Seconds that count of them took; NaN: failed, and state knows why. */
typedef double repeat_run(void *state, int64_t count);

/* -1 where a run failed. */
int repeat_time(struct repeated *s, repeat_run *run, void *state, const struct repeat_limits *limits);

#endif
