/* noise_scale.h - the gradient noise scale phi = tr(Sigma) / |G|^2, samples: pollux-goodput(7).
 *
 *	struct noise_scale s;
 *	noise_scale_init(&s);
 *	noise_scale_add(&s, samples, grad_sqr, grad_var, horizon);	// for each update or window
 *	phi = noise_scale_value(&s);					// NaN: unknown
 *	interval = noise_scale_interval(&s);				// phi is within, or beyond
 *	phi = noise_scale_expected(&s);					// for decisions
 *
 * G is the true gradient, and Sigma the covariance of the gradient of a single sample. Their
 * estimates come from the norms of gradients over two batch sizes (McCandlish et al., "An Empirical
 * Model of Large-Batch Training", 2018, appendix A.1; pollux_gradient_estimates in pollux/client.h
 * computes them, for replicas * accumulation_steps >= 2). The estimates are unbiased, noisy and
 * often negative; their quotient is biased. Each is therefore averaged by itself, with weights that
 * fall by 1/e every horizon samples, and only the averages are divided. Nothing is clamped: phi is
 * unknown until the averages are
 *
 *	positive	both are above 0, and
 *	steady		each is at least NOISE_STEADY of its standard errors, from at least
 *			NOISE_ENTRIES_MIN effective entries.
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
	double weight, weight_sqr;	/* sums of weights (samples), and of their squares */
	struct noise_mean sqr, var;	/* |G|^2 and tr(Sigma) */
	double cross;			/* weighted sum of the products of their deviations */
};

void noise_scale_init(struct noise_scale *s);

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

/* The 95 % confidence interval of phi, of Fieller (1954) for a quotient of two means whose errors
 * are correlated, with Student's t of the effective entries less one. It says something after few
 * entries, when noise_scale_value() does not: if |G|^2 may be 0, phi has no upper bound. */
#define NOISE_ENTRIES_LEAST 4.0
struct noise_interval {
	double low, high;	/* samples; low NaN: nothing is known; high may be infinite */
};
struct noise_interval noise_scale_interval(const struct noise_scale *s);

/* The noise scale that decisions rest on: tr(Sigma) / E(|G|^2), where |G|^2 is taken to be normal
 * around its mean with its standard error, with the spread of Student's t, and above 0. The
 * expected efficiency of a batch, E((V + M0 S) / (V + M S)), is convex in S = |G|^2: at this noise
 * scale the efficiency is at most the expected one (J. L. W. V. Jensen, 1906), and near it where
 * |G|^2 is known well. NaN where noise_scale_interval() says nothing. */
double noise_scale_expected(const struct noise_scale *s);

/* Estimates from three consecutive updates, if each has only one gradient, of batch samples (R = s
 * = 1):
 *
 *	tr(Sigma) = batch |g1 - 2 g2 + g3|^2 / 6	|G|^2 = |g2|^2 - tr(Sigma) / batch
 *
 * Differences of two updates, |g1 - g2|^2 / 2, would count the drift of G between them as noise.
 * The second difference does not, if the drift is straight. One error remains: an update with
 * learning rate eta changes the next gradient by -eta H g1, where H is the Hessian. It contains the
 * noise of g1, which makes tr(Sigma) too large by the factor 1 + eta tr(H Sigma) / tr(Sigma) +
 * O(eta^2). No rule can tell this change from noise without a second gradient at the same weights,
 * which accumulation_steps >= 2 gives. Returns false, with both NaN, unless batch is positive and
 * the squares are finite and not negative. */
bool noise_scale_three_updates(double batch, double middle_sqr, double second_difference_sqr,
			       double *grad_sqr, double *grad_var);

#endif
