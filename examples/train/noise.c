/* noise.c - smoothing of noise estimates; learning-rate rules. */
#include "noise.h"

#include <math.h>

void noise_add(struct noise *noise, double grad_sqr, double grad_var, double batch,
	       double horizon_samples)
{
	noise->seen_samples += batch;
	double weight = fmax(batch / noise->seen_samples, -expm1(-batch / horizon_samples));
	noise->grad_sqr += weight * (grad_sqr - noise->grad_sqr);
	noise->grad_var += weight * (grad_var - noise->grad_var);
}

double noise_scale(const struct noise *noise, double horizon_samples)
{
	if (noise->seen_samples < horizon_samples / 2 && isfinite(horizon_samples))
		return (double)NAN;
	if (!(noise->grad_sqr > 0 && noise->grad_var > 0))
		return (double)NAN;
	return noise->grad_var / noise->grad_sqr;
}

static double adascale_gain(double batch, double initial_batch, double phi)
{
	double ratio = batch / initial_batch;

	if (isnan(phi))
		return ratio < 1 ? ratio : 1;
	return ratio * (phi + initial_batch) / (phi + batch);
}

double lr_factor(enum lr_rule rule, double batch, double initial_batch, double phi)
{
	switch (rule) {
	case LR_ADASCALE:
		return adascale_gain(batch, initial_batch, phi);
	case LR_SQRT:
		return sqrt(batch / initial_batch);
	case LR_LINEAR:
		return batch / initial_batch;
	case LR_NONE:
		break;
	}
	return 1;
}
