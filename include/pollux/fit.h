/* fit.h - fits the seven parameters of the throughput model to measured times. The objective of the
 * fit (Qiao et al., OSDI 2021, section 3.2 and its code), what ties parameters without observations
 * and what a prior adds: pollux-goodput(7), Fit and The prior. Pure functions, the same on every
 * call. */
#ifndef POLLUX_FIT_H
#define POLLUX_FIT_H

#include <stdint.h>

#include "pollux/field.h"
#include "pollux/observation.h"
#include "pollux/throughput.h"

/* Times outside of this range are ignored as errors. */
#define FIT_TIME_MIN_S 1e-9
#define FIT_TIME_MAX_S 1e9

/* The weight of an observation. It is 1 for a time without noise, and 1/2 if the standard error of
 * the time is as large as the error of the model itself, which is taken to be FIT_MODEL_ERROR of
 * the time. It is 0 if n is 0. Few windows do not determine their standard deviation, and two may
 * be alike by chance. The deviation is therefore averaged with FIT_DEVIATION of the time, which
 * counts as FIT_DEVIATION_WINDOWS windows. With fewer than two windows the deviation is NaN, and
 * FIT_DEVIATION alone is used. */
#define FIT_MODEL_ERROR 0.05
#define FIT_DEVIATION 0.1
#define FIT_DEVIATION_WINDOWS 2
double fit_weight(double step_time_s, double step_time_sd_s, int64_t n);

/* The expected value of a quantity: its logarithm is normal around ln(value), with the standard
 * deviation spread. A value that is NaN or not positive: nothing is expected. */
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
	double overlap_penalty, growth_penalty;		/* of gamma - 1, and of beta / alpha */
	int max_evaluations;				/* limit for all starts together */
	double prior_weight;
	const struct fit_prior *prior;			/* NULL: none, as in the published fit */
};
#define FIT_PRIOR_WEIGHT 1e-3
#define FIT_MAX_EVALUATIONS 2000
extern const struct fit_options FIT_OPTIONS_DEFAULT;

/* The source of a parameter's value. */
enum fit_basis {
	FIT_FROM_DATA,			/* determined by the observations */
	FIT_FROM_PENALTY,		/* left open by the observations, chosen by the penalties */
	FIT_TIED,			/* held at the value that stands for no observation */
	FIT_FROM_PRIOR,			/* without the prior it would be one of the two above */
};

/* The reason why the fit ended. */
enum fit_stop {
	FIT_NOTHING,			/* no observation is usable: every parameter is tied */
	FIT_CONVERGED,			/* no further gain beyond rounding */
	FIT_MAX_REACHED,		/* stopped by max_evaluations */
};

struct fit_result {
	struct throughput_params params;
	enum fit_basis basis[N_THROUGHPUT_PARAMS];
	/* What each params.ln_tier rests on: data, the prior, or tied to 0; see fit_by_tier(). */
	enum fit_basis tier_basis[CONFIGURATION_TIERS];
	enum fit_stop stop;
	double objective;		/* before several nodes get 1.1 times the times of one */
	double rmse_grad, rmse_step;	/* of logarithms; 0 without such observations */
	int evaluations;
	int n_observations, n_ignored;	/* ignored: not finite, not positive or impossible */
};

struct fit_result fit_throughput(const struct observation *seen, int n,
				 const struct fit_options *options);

/* Short names for users: "alpha_grad"; "data", "penalty", "tied", "prior"; "converged", ... */
const char *throughput_param_name(enum throughput_param i);
const char *fit_basis_name(enum fit_basis basis);
extern const struct field_names fit_stop_names;

#endif
