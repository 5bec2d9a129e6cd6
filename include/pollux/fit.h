/* fit.h - the seven parameters of the throughput model from measured times: pollux-goodput(7).
 *
 *	struct fit_observation seen[] = {
 *		{ .configuration = configuration_make(2, 64, 1),
 *		  .step_time_s = 0.21, .sync_time_s = 0.04, .weight = 1 }, ...
 *	};
 *	struct fit_result fit = fit_throughput(seen, n, &FIT_OPTIONS_DEFAULT);
 *
 * Minimised is the published objective (Qiao et al., OSDI 2021, section 3.2 and its code),
 *
 *	RMSE(ln T_grad) + RMSE(ln T_update) + 1e-3 (gamma - 1)^2
 *		+ 1e-2 ((beta_sync_local / alpha_sync_local)^2 + (beta_sync_node / alpha_sync_node)^2)
 *
 * with every alpha and beta at least THROUGHPUT_TIME_MIN_S and gamma in [1, 10]. An observation whose
 * synchronisation time is not known takes part by its whole step time: ln T_step joins the second
 * mean, and nothing of it the first. What nothing was seen of is tied:
 *
 *	all of one local batch size	alpha_grad = mean(T_grad) / 2
 *	nothing of one node, R >= 2	alpha_sync_local = beta_sync_local = THROUGHPUT_TIME_MIN_S
 *	nothing of several nodes	alpha_sync_node = beta_sync_node = THROUGHPUT_TIME_MIN_S, and after
 *					the fit at least 1.1 times those of one node
 *	nothing of R > 2		beta_sync_local = beta_sync_node = THROUGHPUT_TIME_MIN_S
 *
 * so that what is unknown is taken to be free, and gets tried.
 *
 * With a prior (which the published fit has not), what it has an expectation of is not tied but enters the
 * objective, as
 *
 *	prior_weight ((ln x - ln expected) / spread)^2
 *
 * and for beta_sync_local takes the place of the growth penalty. The weight is so small, and the root mean
 * squares so steep near their minimum, that it decides only what the observations leave open: an
 * expectation missed by a whole spread costs as much as errors of 0.1 % in all times.
 *
 * Pure functions, the same on every call. */
#ifndef POLLUX_FIT_H
#define POLLUX_FIT_H

#include <stdint.h>

#include "pollux/throughput.h"

/* Times outside of this range are taken for errors. */
#define FIT_TIME_MIN_S 1e-9
#define FIT_TIME_MAX_S 1e9

/* What was measured of one configuration. */
struct fit_observation {
	struct configuration configuration;
	double step_time_s;		/* of a whole update */
	double sync_time_s;		/* its part spent synchronising, within [0, step); NaN: not known */
	double weight;			/* in the means of squares: fit_weight(), or 1 */
};

/* An observation of weight 1, without times. */
static inline struct fit_observation fit_observation_at(struct throughput_place place,
							int64_t local_batch_size, int passes)
{
	return (struct fit_observation){
		.configuration = configuration_at(place, local_batch_size, passes), .weight = 1,
	};
}

static inline struct throughput_place fit_observation_place(const struct fit_observation *o)
{
	return configuration_place(&o->configuration);
}

/* How much an observation is worth: 1 for one without noise, 1/2 where the standard error of its time
 * is as large as the errors of the model itself, taken to be FIT_MODEL_ERROR of the time. Few windows
 * say little of how much windows differ, and two may be alike by chance: the deviation is taken together
 * with one of FIT_DEVIATION of the time, as if of FIT_DEVIATION_WINDOWS + 1 windows more (NaN, of fewer than
 * two windows: that one alone). 0 where nothing was seen. */
#define FIT_MODEL_ERROR 0.05
#define FIT_DEVIATION 0.1
#define FIT_DEVIATION_WINDOWS 2
double fit_weight(double step_time_s, double step_time_sd_s, int64_t n);

/* Of a quantity: its logarithm is expected at ln(value), with this standard deviation. value NaN or not
 * positive: nothing is expected. */
struct fit_expectation {
	double value, spread;
};

/* See pollux/prior.h. */
struct fit_prior {
	struct fit_expectation grad_ratio;	/* alpha_grad / beta_grad, samples */
	struct fit_expectation sync_time;	/* alpha_sync_local, s */
	struct fit_expectation sync_growth;	/* beta_sync_local / alpha_sync_local */
};

struct fit_options {
	double overlap_penalty, growth_penalty;		/* 1e-3 and 1e-2 above */
	int max_evaluations;				/* of the objective, over all starts */
	double prior_weight;
	const struct fit_prior *prior;			/* NULL: none; the fit is then as published */
};
#define FIT_PRIOR_WEIGHT 1e-3
#define FIT_MAX_EVALUATIONS 2000
extern const struct fit_options FIT_OPTIONS_DEFAULT;

/* What a parameter's value rests on. */
enum fit_basis {
	FIT_FROM_DATA,			/* the observations determine it */
	FIT_FROM_PENALTY,		/* they leave it open, and the penalties choose */
	FIT_TIED,			/* held where it is: see above */
	FIT_FROM_PRIOR,			/* it would be one of the last two, were nothing expected of it */
};

/* Why the fit ended. */
enum fit_stop {
	FIT_NOTHING,			/* no observation can be used: every parameter is tied */
	FIT_CONVERGED,			/* nothing more to gain, within rounding */
	FIT_MAX_REACHED,		/* max_evaluations were not enough */
};

struct fit_result {
	struct throughput_params params;
	enum fit_basis basis[N_THROUGHPUT_PARAMS];
	enum fit_stop stop;
	double objective;		/* before the last of the ties above */
	double rmse_grad, rmse_step;	/* of logarithms; 0 without observations of that sort */
	int evaluations;
	int n_observations, n_ignored;	/* ignored: not finite, not positive, or otherwise impossible */
};

struct fit_result fit_throughput(const struct fit_observation *seen, int n,
				 const struct fit_options *options);

/* Short names, for people: "alpha_grad"; "data", "penalty", "tied", "prior"; "converged", ... */
const char *throughput_param_name(enum throughput_param i);
const char *fit_basis_name(enum fit_basis basis);
const char *fit_stop_name(enum fit_stop stop);

#endif
