/* throughput.c - models the times of passes and updates, with their derivatives. */
#include "pollux/throughput.h"

#include <math.h>
#include <string.h>

void throughput_scale(struct throughput_params *p, double factor)
{
	double *times[] = { &p->alpha_grad, &p->beta_grad, &p->alpha_sync_local,
			    &p->beta_sync_local, &p->alpha_sync_node, &p->beta_sync_node };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] *= factor;
}

double throughput_grad_time(const struct throughput_params *p, double m)
{
	return p->alpha_grad + p->beta_grad * m;
}

static double tier_factor(const struct throughput_params *p, struct throughput_place place)
{
	double ln_factor = place.nodes < 2 ? p->ln_tier[place.tier] : 0;

	return ln_factor > 0 || ln_factor < 0 ? exp(ln_factor) : 1;
}

double throughput_sync_time(const struct throughput_params *p, struct throughput_place place)
{
	if (place.replicas < 2)
		return 0;
	if (place.nodes < 2)
		return (p->alpha_sync_local + p->beta_sync_local * (place.replicas - 2)) *
		       tier_factor(p, place);
	return p->alpha_sync_node + p->beta_sync_node * (place.replicas - 2);
}

/* (a^gamma + b^gamma)^(1/gamma), and its partial derivatives.
 *
 * With h the larger of the two, r = lesser / h and u = r^gamma, all in [0, 1], nothing overflows:
 *
 *	f         = h (1 + u)^(1/gamma)
 *	df/dh     = (1 + u)^(1/gamma - 1)
 *	df/dl     = df/dh u / r
 *	df/dgamma = f / gamma (u ln r / (1 + u) - ln(1 + u) / gamma) */
struct overlap {
	double value, by_a, by_b, by_gamma;
};

static struct overlap overlap(double a, double b, double gamma)
{
	double high = fmax(a, b), ratio = high > 0 ? fmin(a, b) / high : 0;

	if (!(ratio > 0))
		return (struct overlap){ .value = high, .by_a = a >= b, .by_b = a < b };

	double log_ratio = log(ratio), u = exp(gamma * log_ratio), log_sum = log1p(u);
	double value = high * exp(log_sum / gamma);
	double by_high = value / (high * (1 + u)), by_low = by_high * u / ratio;

	return (struct overlap){
		.value = value,
		.by_a = a >= b ? by_high : by_low,
		.by_b = a >= b ? by_low : by_high,
		.by_gamma = value / gamma * (u * log_ratio / (1 + u) - log_sum / gamma),
	};
}

double throughput_update_time(const struct throughput_params *p, struct throughput_place place,
			      double m)
{
	return overlap(throughput_grad_time(p, m), throughput_sync_time(p, place), p->gamma).value;
}

double throughput_step_time(const struct throughput_params *p, struct throughput_place place,
			    double m, double s)
{
	return (s - 1) * throughput_grad_time(p, m) + throughput_update_time(p, place, m);
}

double throughput_time_of(const struct throughput_params *p, const struct configuration *c)
{
	return throughput_step_time(p, configuration_place(c), (double)c->local_batch_size,
				    c->accumulation_steps);
}

double throughput_step_slope(const struct throughput_params *p, struct throughput_place place,
			     double m, double s, struct throughput_slope *slope)
{
	double grad = throughput_grad_time(p, m);
	struct overlap update = overlap(grad, throughput_sync_time(p, place), p->gamma);
	double by_grad = s - 1 + update.by_a;

	memset(slope, 0, sizeof(*slope));
	slope->by_param[ALPHA_GRAD] = by_grad;
	slope->by_param[BETA_GRAD] = by_grad * m;
	slope->by_param[GAMMA] = update.by_gamma;
	if (place.replicas >= 2) {
		int alpha = place.nodes < 2 ? ALPHA_SYNC_LOCAL : ALPHA_SYNC_NODE;

		double by_sync = update.by_b * tier_factor(p, place);

		slope->by_param[alpha] = by_sync;
		slope->by_param[alpha + 1] = by_sync * (place.replicas - 2);
	}
	slope->by_m = by_grad * p->beta_grad;
	return (s - 1) * grad + update.value;
}
