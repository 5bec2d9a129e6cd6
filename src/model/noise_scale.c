/* noise_scale.c - keeps two weighted means and divides them. */
#include "pollux/noise_scale.h"

#include <math.h>

#include "pollux/step_stats.h"

#define PI 3.14159265358979323846
#define LARGE_DEVIATION 30.0	/* in deviations: what lies below 0 is nothing */

/* Merges two weighted sets: D. H. D. West, "Updating mean and variance estimates: an improved
 * method", Commun. ACM 22 (1979), 532-535. */
static void mean_merge(struct noise_mean *m, double weight, const struct noise_mean *other,
		       double other_weight)
{
	double share = other_weight / (weight + other_weight), delta = other->mean - m->mean;

	m->mean += share * delta;
	m->m2 += other->m2 + weight * share * delta * delta;
}

void noise_scale_merge(struct noise_scale *s, const struct noise_scale *other)
{
	double both;

	if (!(other->weight > 0))
		return;
	both = s->weight * other->weight / (s->weight + other->weight);
	s->cross += other->cross + both * (other->sqr.mean - s->sqr.mean) *
					   (other->var.mean - s->var.mean);
	mean_merge(&s->sqr, s->weight, &other->sqr, other->weight);
	mean_merge(&s->var, s->weight, &other->var, other->weight);
	s->weight += other->weight;
	s->weight_sqr += other->weight_sqr;
}

void noise_scale_age(struct noise_scale *s, double samples, double horizon_samples)
{
	double fade = exp(-samples / horizon_samples);

	s->weight *= fade;
	s->weight_sqr *= fade * fade;
	s->sqr.m2 *= fade;
	s->var.m2 *= fade;
	s->cross *= fade;
}

bool noise_scale_add(struct noise_scale *s, double samples, double grad_sqr, double grad_var,
		     double horizon_samples)
{
	if (!(samples > 0 && isfinite(samples) && horizon_samples > 0) || !isfinite(grad_sqr) ||
	    !isfinite(grad_var))
		return false;

	/* The weight of samples that fade while they are added: h (1 - exp(-samples / h)). */
	double weight = isinf(horizon_samples)
		? samples : -horizon_samples * expm1(-samples / horizon_samples);
	struct noise_scale entry = {
		.weight = weight, .weight_sqr = weight * weight,
		.sqr = { .mean = grad_sqr }, .var = { .mean = grad_var },
	};

	noise_scale_age(s, samples, horizon_samples);
	noise_scale_merge(s, &entry);
	return true;
}

/* With weights w the effective number of entries is n = (sum w)^2 / sum w^2. The variance of the
 * entries is m2 / sum w n / (n - 1), and that of the mean is 1/n of this. */
static double effective_entries(const struct noise_scale *s)
{
	return s->weight_sqr > 0 ? s->weight * s->weight / s->weight_sqr : 0;
}

static bool steady(const struct noise_mean *m, double weight, double entries)
{
	double error = sqrt(fmax(m->m2, 0) / weight / (entries - 1));

	return m->mean > 0 && m->mean >= NOISE_STEADY * error;
}

double noise_scale_value(const struct noise_scale *s)
{
	double entries = effective_entries(s);

	/* The tolerance allows for rounding in the sums of equal weights. */
	if (!(entries >= NOISE_ENTRIES_MIN * (1 - 1e-9)) || !steady(&s->sqr, s->weight, entries) ||
	    !steady(&s->var, s->weight, entries))
		return (double)NAN;
	return s->var.mean / s->sqr.mean;
}

/* The values q for which the mean of var - q sqr is within t standard errors of 0: E. C. Fieller,
 * "Some problems in interval estimation", J. R. Stat. Soc. B 16 (1954), 175-185. They lie between
 * the roots of a q^2 - 2 b q + c, or beyond the positive root if a <= 0. |G|^2 is not negative: a
 * negative mean counts as 0, which lowers the bound. A negative mean that cannot be 0 by chance
 * gives no interval. */
struct noise_interval noise_scale_interval(const struct noise_scale *s)
{
	struct noise_interval interval = { (double)NAN, (double)INFINITY };
	double freedom = effective_entries(s) - 1, sqr = fmax(s->sqr.mean, 0), var = s->var.mean;
	double t, each, a, b, c, root;

	/* The tolerance allows for rounding in the sums of equal weights. */
	if (!(freedom >= (NOISE_ENTRIES_LEAST - 1) * (1 - 1e-9)) || !(var > 0))
		return interval;
	t = student_quantile(freedom);
	each = t * t / s->weight / freedom;
	a = sqr * sqr - each * s->sqr.m2;
	b = sqr * var - each * s->cross;
	c = var * var - each * s->var.m2;
	root = sqrt(fmax(b * b - a * c, 0));
	if (!(c > 0) || !(b + root > 0) ||
	    (s->sqr.mean < 0 && s->sqr.mean * s->sqr.mean > each * s->sqr.m2))
		return interval;
	interval.low = c / (b + root);
	if (a > 0)
		interval.high = (b + root) / a;
	return interval;
}

/* The mean of a normal variable given that it is above 0: N. L. Johnson, S. Kotz, "Continuous
 * Univariate Distributions", 1970, section 13.7. */
double noise_scale_expected(const struct noise_scale *s)
{
	double freedom = effective_entries(s) - 1, mean = s->sqr.mean, deviation;

	if (isnan(noise_scale_interval(s).low))
		return (double)NAN;
	deviation = sqrt(fmax(s->sqr.m2, 0) / s->weight / freedom) * sqrt(freedom / (freedom - 2));
	if (deviation > 0 && mean <= LARGE_DEVIATION * deviation) {
		double z = mean / deviation;

		mean += deviation * sqrt(2 / PI) * exp(-z * z / 2) / erfc(-z / sqrt(2));
	}
	return s->var.mean / mean;
}

/* ---- the losses of a window ---- */

double loss_curve_x(double samples)
{
	return samples > 0 ? 1 / sqrt(samples) : (double)NAN;
}

void loss_sums_add(struct loss_sums *s, double samples, double loss)
{
	double x = loss_curve_x(samples), dx, dy;

	if (!isfinite(x) || !isfinite(loss) || fabs(loss) > LOSS_MAX)
		return;
	s->n++;
	dx = x - s->mean_x;
	dy = loss - s->mean;
	s->mean_x += dx / (double)s->n;
	s->mean += dy / (double)s->n;
	s->m2_x += dx * (x - s->mean_x);
	s->m2 += dy * (loss - s->mean);
	s->cross += dx * (loss - s->mean);
}

/* As mean_merge(). */
void loss_sums_merge(struct loss_sums *s, const struct loss_sums *other)
{
	double both = (double)(s->n + other->n), share, dx, dy, part;

	if (other->n <= 0)
		return;
	share = (double)other->n / both;
	part = (double)s->n * share;
	dx = other->mean_x - s->mean_x;
	dy = other->mean - s->mean;
	s->n += other->n;
	s->mean_x += share * dx;
	s->mean += share * dy;
	s->m2_x += other->m2_x + part * dx * dx;
	s->m2 += other->m2 + part * dy * dy;
	s->cross += other->cross + part * dx * dy;
}
