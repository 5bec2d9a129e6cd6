/* noise.h - the gradient noise scale, and the learning rates that follow from it. */
#ifndef TRAIN_NOISE_H
#define TRAIN_NOISE_H

/* Averages of the unbiased estimates of |G|^2 and tr(Sigma), smoothed
 * separately: only then may they be divided. */
struct noise {
	double grad_sqr;
	double grad_var;
	double seen_samples;     /* samples whose estimates went in */
};

/* Take in the estimates of one update of batch samples. The weight of an
 * estimate falls by 1/e every horizon_samples; until so many have been seen,
 * and with an infinite horizon for ever, the averages are plain means. */
void noise_add(struct noise *noise, double grad_sqr, double grad_var, double batch,
	       double horizon_samples);

/* phi = tr(Sigma) / |G|^2, samples. NAN, unknown, while either average is not
 * positive (noise dominates) or fewer than half a horizon of samples were seen. */
double noise_scale(const struct noise *noise, double horizon_samples);

/* How to change the learning rate when the batch size M differs from M0, the one
 * that the rate was tuned for. */
enum lr_rule { LR_ADASCALE, LR_SQRT, LR_LINEAR, LR_NONE };

/* The factor on the base learning rate. AdaScale (Johnson et al. 2020):
 *
 *	gain = (M / M0) (phi + M0) / (phi + M)
 *
 * With phi unknown it is taken to be where the gain is least: 0 for M > M0, which
 * makes the gain 1, and infinite for M < M0, which makes it M / M0. */
double lr_factor(enum lr_rule rule, double batch, double initial_batch, double phi);

#endif
