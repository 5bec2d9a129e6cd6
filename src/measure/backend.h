/* backend.h - how operations are timed, the functions that measure one sort of device, and the sink
 * of their results; private to the layer. */
#ifndef MEASURE_BACKEND_H
#define MEASURE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/measure.h"

/* Repeats an operation until its mean time is known.
 *
 * A repetition does as many operations as fill a fixed span. After a warm-up, repetitions follow
 * until half the width of the 95 % confidence interval of the mean (Student's t) is below a share
 * of the mean, with at least a minimum number of repetitions. If a maximum number or time is
 * reached before, the result is not steady.
 *
 * This is a stopping rule: the interval is checked after each repetition and the first success ends
 * the loop, so such an interval covers the mean in fewer than 95 % of cases. Repetitions above
 * REPEAT_STALL medians are stalls of the
 * machine: they are counted and left out. */

#define REPEAT_STALL 3.0
#define REPEAT_MOST 400

struct repeat_limits {
	int least, most;	/* repetitions; most is at most REPEAT_MOST */
	double half_width;	/* of the confidence interval, relative to the mean */
	double span_s;		/* least time of a repetition */
	double time_s;		/* most time for all repetitions */
};
extern const struct repeat_limits REPEAT_FULL, REPEAT_QUICK;

struct repeated {
	double mean_s, sd_s;	/* of one operation; sd between repetitions (n - 1) */
	double half_width;	/* relative to the mean; HUGE_VAL for fewer than two */
	int64_t n, n_stalls;	/* repetitions that count, and stalls */
	bool steady;
};

/* Computes the statistics of n >= 1 times. Pure. */
struct repeated repeat_of(const double *times_s, int n, const struct repeat_limits *limits);

/* Does count operations and returns their seconds; NaN: failed, with the reason in state. */
typedef double repeat_run(void *state, int64_t count);

/* Times an operation. Returns -1 if a run failed. */
int repeat_time(struct repeated *s, repeat_run *run, void *state,
		const struct repeat_limits *limits);

/* The sizes of the products to measure. */

/* Rows go from 1 to this number in powers of two (quick: of four), for each width of a layer. */
#define SIZES_ROWS_MAX 4096
#define SIZES_ROWS_MAX_QUICK 1024

struct size_walk {
	int64_t width, rows;
};

/* Steps to the next size, by width and then by rows. Start with *w all zero. Returns false at the
 * end. */
bool sizes_next(struct size_walk *w, bool quick);
/* Skips the larger sizes of this width. */
void sizes_skip_width(struct size_walk *w);

/* Operands without special cases such as zeros or powers of two. */

/* Fills x with uniform values in [-0.5, 0.5), the same in each run. */
void random_fill_fp32(float *x, size_t n);
void random_fill_fp64(double *x, size_t n);

/* --- what measures one sort of device --- */

struct measure_backend;

/* The pipe to the process that asked for the measurement. */
struct sink {
	int fd;
	const struct measure_backend *backend;
	const struct repeat_limits *limits;
	bool quick;
};

struct measure_backend {
	const char *name;		/* the name of the device backend */
	/* Both run in a process of their own, which is bound to the devices. */
	int (*device)(struct sink *sink, const struct device *d, struct err *err);
	int (*exchange)(struct sink *sink, const struct device *devices, int n, struct err *err);
};

extern const struct measure_backend measure_cpu, measure_gpu;

/* Times run, and sends m with this time. Returns -1 if the run failed; then nothing is sent. */
int sink_time(struct sink *sink, struct device_measurement *m, repeat_run *run, void *state);
void sink_peak(struct sink *sink, const char *variant, double per_s);
void sink_peak_basis(struct sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sink_note(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
