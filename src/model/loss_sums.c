/* loss_sums.c - sums of losses and of their positions, by which a curve is fitted. */
#include "pollux/loss_sums.h"

#include <math.h>

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

/* As mean_merge() of noise_scale.c: D. H. D. West, Commun. ACM 22 (1979), 532-535. */
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
