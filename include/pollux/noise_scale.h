/* noise_scale.h - the gradient noise scale phi = tr(Sigma) / |G|^2, samples: pollux-goodput(7).
 *
 *	struct noise_scale s;
 *	noise_scale_init(&s);
 *	noise_scale_add(&s, samples, grad_sqr, grad_var, horizon);	// each update, or window of updates
 *	phi = noise_scale_value(&s);					// NaN: unknown
 *
 * G is the true gradient and Sigma the covariance of a single sample's. Their estimates come from the
 * norms of gradients over two batch sizes (McCandlish et al., "An Empirical Model of Large-Batch
 * Training", 2018, appendix A.1; pollux_gradient_estimates in pollux/client.h computes them, for
 * replicas * accumulation_steps >= 2). They are unbiased, noisy and often negative; their quotient is
 * biased. So each is averaged by itself, with weights that fall by 1/e every horizon samples, and only
 * the averages are divided. Nothing is clamped: phi is unknown until it is
 *
 *	positive	both averages are above 0, and
 *	steady		each by NOISE_STEADY of its standard errors at least, of NOISE_ENTRIES_MIN
 *			effective entries or more.
 *
 * Pure functions, constant memory. */
#ifndef POLLUX_NOISE_SCALE_H
#define POLLUX_NOISE_SCALE_H

#include <stdbool.h>

#define NOISE_STEADY 4.0
#define NOISE_ENTRIES_MIN 8.0

/* A weighted mean. m2 is the weighted sum of squared deviations from it. */
struct noise_mean {
	double mean, m2;
};

struct noise_scale {
	double weight, weight_sqr;	/* sums of the entries' weights, samples, and of their squares */
	struct noise_mean sqr, var;	/* of |G|^2 and of tr(Sigma) */
};

void noise_scale_init(struct noise_scale *s);

/* The averages of the estimates over samples. Ignored, with false, unless samples is positive, the
 * estimates are finite and the horizon is positive (infinite: never forget). */
bool noise_scale_add(struct noise_scale *s, double samples, double grad_sqr, double grad_var,
		     double horizon_samples);

/* Let s fade as if so many samples had been added, for it to be merged with something newer. */
void noise_scale_age(struct noise_scale *s, double samples, double horizon_samples);

/* Add another run's, as if all entries had been one's: commutative, and nothing is its neutral element.
 * Runs one after another: age the older by the samples of the newer first. */
void noise_scale_merge(struct noise_scale *s, const struct noise_scale *other);

double noise_scale_value(const struct noise_scale *s);

/* Estimates where there is one gradient for each update, of a batch of so many samples (R = s = 1), from
 * three consecutive ones:
 *
 *	tr(Sigma) = batch |g1 - 2 g2 + g3|^2 / 6	|G|^2 = |g2|^2 - tr(Sigma) / batch
 *
 * Pairs of updates, |g1 - g2|^2 / 2, count the drift of G between them as noise. The second difference
 * does not where the drift is straight. What is left: an update by learning rate eta changes the next
 * gradient by -eta H g1, with g1's noise, which makes tr(Sigma) too large by the factor
 * 1 + eta tr(H Sigma) / tr(Sigma) + O(eta^2), H the Hessian. No rule can tell that from noise without
 * a second gradient at the same weights: with accumulation_steps >= 2 there is one. False, with both
 * NaN, unless batch is positive and the squares are finite and not negative. */
bool noise_scale_three_updates(double batch, double middle_sqr, double second_difference_sqr,
			       double *grad_sqr, double *grad_var);

#endif
