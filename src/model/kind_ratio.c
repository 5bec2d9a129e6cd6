/* kind_ratio.c - see pollux/kind_ratio.h. */
#include "pollux/kind_ratio.h"

#include <math.h>

#include "pollux/tier_fit.h"

/* --- the ratio --- */

/* True for a time of one device in one pass. */
static bool is_usable(const struct observation *o)
{
	return configuration_workers(&o->configuration) == 1 &&
	       o->configuration.accumulation_steps == 1 &&
	       o->configuration.local_batch_size > 0 && o->step_time_s > FIT_TIME_MIN_S &&
	       o->step_time_s < FIT_TIME_MAX_S;
}

/* A weighted mean of logarithms; the weight of one with deviation d is 1/d^2. */
struct log_mean {
	double sum, weight;
};

static void count_log(struct log_mean *mean, double log_ratio, double spread)
{
	mean->sum += log_ratio / (spread * spread);
	mean->weight += 1 / (spread * spread);
}

static int count_common(struct log_mean *mean, const struct observation_list *to,
			const struct observation_list *from)
{
	int n = 0;

	for (int i = 0; i < to->count; i++)
		for (int k = 0; k < from->count; k++) {
			const struct observation *a = &to->items[i], *b = &from->items[k];
			const struct configuration *c = &b->configuration;

			if (a->configuration.local_batch_size != c->local_batch_size ||
			    !is_usable(a) || !is_usable(b))
				continue;
			count_log(mean, log(a->step_time_s / b->step_time_s),
				  KIND_RATIO_SIZE_SPREAD);
			n++;
		}
	return n;
}

/* The time per sample at the largest size; NaN: there is none. */
static double sample_time(const struct observation_list *t)
{
	double time_s = (double)NAN;
	int64_t largest = 0;

	for (int i = 0; i < t->count; i++) {
		int64_t size = t->items[i].configuration.local_batch_size;

		if (!is_usable(&t->items[i]) || size <= largest)
			continue;
		largest = size;
		time_s = t->items[i].step_time_s / (double)size;
	}
	return time_s;
}

/* Counts the mean of another plan's differences, if there is a common size. */
static void count_other_plan(struct log_mean *mean, const struct kind_times *other)
{
	struct log_mean own = { 0 };

	if (count_common(&own, other->to, other->from) > 0)
		count_log(mean, own.sum / own.weight, KIND_RATIO_PLAN_SPREAD);
}

struct fit_expectation kind_ratio_of_plan(const struct kind_times *own,
					  const struct kind_times *others, int n_others,
					  double prior)
{
	bool has_prior = prior > 0 && isfinite(prior);
	double far = sample_time(own->to) / sample_time(own->from);
	struct log_mean mean = { 0 };

	count_log(&mean, has_prior ? log(prior) : 0,
		  has_prior ? KIND_RATIO_PRIOR_SPREAD : KIND_RATIO_UNKNOWN_SPREAD);
	if (count_common(&mean, own->to, own->from) == 0 && !isnan(far))
		count_log(&mean, log(far), KIND_RATIO_FAR_SPREAD);
	for (int i = 0; i < n_others; i++)
		count_other_plan(&mean, &others[i]);
	return (struct fit_expectation){ exp(mean.sum / mean.weight), 1 / sqrt(mean.weight) };
}

struct fit_expectation kind_ratio(const struct observation_list *to,
				  const struct observation_list *from, double prior)
{
	return kind_ratio_of_plan(&(struct kind_times){ to, from }, NULL, 0, prior);
}

/* --- synchronisation --- */

/* True if observations gave the value, alone or together with a penalty. */
static bool is_observed(enum fit_basis basis)
{
	return basis == FIT_FROM_DATA || basis == FIT_FROM_PENALTY;
}

void kind_ratio_fill_sync(struct throughput_params *params, const struct fit_result *to,
			  const struct fit_result *from, double ratio)
{
	static const enum throughput_param sync[] = { ALPHA_SYNC_LOCAL, BETA_SYNC_LOCAL,
						      ALPHA_SYNC_NODE, BETA_SYNC_NODE };
	double *values[] = { &params->alpha_sync_local, &params->beta_sync_local,
			     &params->alpha_sync_node, &params->beta_sync_node };
	const double measured[] = { from->params.alpha_sync_local, from->params.beta_sync_local,
				    from->params.alpha_sync_node, from->params.beta_sync_node };

	double by_tier = tier_borrowed_sync(to, from);
	bool any_local = false;

	for (int i = 0; i < 4; i++) {
		bool local = i < 2;

		if (to->basis[sync[i]] != FIT_TIED || !is_observed(from->basis[sync[i]]))
			continue;
		*values[i] = fmax(measured[i] * ratio * (local ? by_tier : 1),
				  THROUGHPUT_TIME_MIN_S);
		params->gamma = from->params.gamma;
		any_local |= local;
	}
	if (any_local)
		tier_borrow(params, to, from);
}
