/* loss_sums.h - what is kept of the losses of a window: enough to fit loss = a + b x to those of
 * several windows, where x = 1 / sqrt(position).
 *
 *	struct loss_sums s = { 0 };
 *	loss_sums_add(&s, samples, loss);	// of an update that ended at this position
 *	loss_sums_merge(&s, &other);
 *
 * Pure functions, constant memory. */
#ifndef POLLUX_LOSS_SUMS_H
#define POLLUX_LOSS_SUMS_H

#include <stdint.h>

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

#endif
