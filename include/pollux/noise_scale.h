/* noise_scale.h - the gradient noise scale phi = tr(Sigma) / |G|^2, samples: pollux-goodput(7),
 * Statistical efficiency. The estimates are unbiased, noisy and often negative; their quotient is
 * biased. Each is therefore averaged by itself, and only the averages are divided. phi is unknown
 * until both are positive and at least NOISE_STEADY of their standard errors, from at least
 * NOISE_ENTRIES_MIN effective entries. Pure functions, constant memory. */
#ifndef POLLUX_NOISE_SCALE_H
#define POLLUX_NOISE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/text.h"

#define NOISE_STEADY 4.0
#define NOISE_ENTRIES_MIN 8.0

/* A weighted mean. m2 is the weighted sum of squared deviations from it. */
struct noise_mean {
	double mean, m2;
};

struct noise_scale {
	double weight, weight_sqr;	/* sums of weights (samples), and of their squares */
	struct noise_mean sqr, var;	/* |G|^2 and tr(Sigma) */
	double cross;			/* weighted sum of the products of their deviations */
};

/* Adds the average estimates over a number of samples. Ignores them and returns false unless
 * samples is positive, the estimates are finite and the horizon is positive. An infinite horizon
 * never forgets. */
bool noise_scale_add(struct noise_scale *s, double samples, double grad_sqr, double grad_var,
		     double horizon_samples);

/* Fades s as if samples had been added, before s is merged with something newer. */
void noise_scale_age(struct noise_scale *s, double samples, double horizon_samples);

/* Adds the entries of another run. The order does not matter, and an empty scale changes nothing.
 * For runs one after another, first age the older one by the samples of the newer one. */
void noise_scale_merge(struct noise_scale *s, const struct noise_scale *other);

double noise_scale_value(const struct noise_scale *s);

/* The 95 % confidence interval of phi, by Fieller (1954). It says something after few entries, when
 * noise_scale_value() does not: if |G|^2 may be 0, phi has no upper bound. */
#define NOISE_ENTRIES_LEAST 4.0
struct noise_interval {
	double low, high;	/* samples; low NaN: nothing is known; high may be infinite */
};
struct noise_interval noise_scale_interval(const struct noise_scale *s);

/* The noise scale that decisions rest on: tr(Sigma) / E(|G|^2). NaN where noise_scale_interval()
 * says nothing. */
double noise_scale_expected(const struct noise_scale *s);

/* ---- the losses of a window ---- */

/* What is kept of the losses of a window: enough to fit loss = a + b x to those of
 * several windows, where x = 1 / sqrt(position).
 *
 * Pure functions, constant memory. */

#define LOSS_MAX 1e100			/* the squares of larger losses would overflow */

struct loss_sums {
	int64_t n;
	double mean_x, mean;		/* of x, and of the loss */
	double m2_x, m2, cross;		/* sums of the squares and products of deviations */
};

/* x of a position; NaN where it is not above 0. */
double loss_curve_x(double samples);
/* Ignores a loss that is no number or beyond LOSS_MAX, and one without a position. */
void loss_sums_add(struct loss_sums *s, double samples, double loss);
void loss_sums_merge(struct loss_sums *s, const struct loss_sums *other);

/* ---- of many windows ---- */

/* Estimates of |G|^2 and tr(Sigma) from n updates of batch_size samples, between two positions in
 * the training, counted in samples since the first launch of the job. m2: sums of squared
 * deviations from the means. If they are NaN, the window counts as one entry. The n updates were
 * told of in entries reports (0: n), each with the mean of some. cross: the sum of the products of
 * deviations; NaN: not known, and taken to be what the two estimates have in common, the noise of
 * tr(Sigma) / batch_size in |G|^2. */
struct noise_window {
	int64_t job_id;
	double first_samples, last_samples;	/* NaN: unknown, the window is ignored */
	int64_t batch_size, n, entries;
	double cross;
	double mean_sqr, m2_sqr, mean_var, m2_var;
	struct loss_sums losses;	/* for growth.h */
};

struct noise_estimate {
	double noise_scale;		/* samples; NaN: unknown */
	/* The interval in which the noise scale is. It may be known before the noise scale is. NaN:
	 * unknown. */
	struct noise_interval interval;
	double expected;		/* noise_scale_expected(), for decisions; NaN: unknown */
	bool own;			/* from updates of this job only */
	int64_t n_updates;		/* used, within one horizon of the position */
	/* Jobs whose statistics contradict what others say, and the first of them;
	 * 0: none. */
	int n_doubted;
	int64_t doubted_job;
};

/* The noise scale of a job at a position in its training. A window counts by its samples times
 * exp(-distance / horizon). The distance is from the middle of the window to the position, and
 *
 *	horizon = max(NOISE_HORIZON_RATIO * position, NOISE_HORIZON_UPDATES * initial_batch_size)
 *
 * since the noise scale grows over a whole training, not over an update. The job's own windows
 * decide where they suffice, otherwise those of all jobs of the workload: they have passed this
 * position, so even a job that starts knows the noise scale.
 *
 * Where neither suffices, the horizon is multiplied by NOISE_WIDENING, repeatedly, until it is that
 * many times the distance of the farthest window. Towards the end of a training |G|^2 often drowns
 * in its own error while phi is larger than ever. An unknown phi would send the job back to its
 * initial batch size, whereas an earlier phi is only too small, which is the safe side. Where
 * updates near the position let expect more than those farther away, the former count. */
#define NOISE_HORIZON_RATIO 0.25
#define NOISE_HORIZON_UPDATES 200
#define NOISE_WIDENING 4.0
struct noise_estimate noise_estimate(const struct noise_window *windows, int n, int64_t own_job,
				     double position_samples, int64_t initial_batch_size);
/* Adds "1230 (900 to 1700)" or "at least 700" to three digits, or "unknown". */
void noise_estimate_print(const struct noise_estimate *e, struct text *out);

#endif
