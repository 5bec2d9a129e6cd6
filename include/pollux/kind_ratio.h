/* kind_ratio.h - how much longer a workload's steps take on one kind of device than on another.
 *
 * The logarithm of the ratio has a normal prior around the ratio of the products of the two kinds
 * (device_measurement_quotient()), with the standard deviation KIND_RATIO_PRIOR_SPREAD. Each local
 * batch size that one device of both kinds was measured at gives a difference of logarithms of step
 * times, with the deviation KIND_RATIO_SIZE_SPREAD. The result is the posterior mean: it shrinks
 * from the prior to the mean of the differences as the common sizes become more. With no common
 * size there is one difference, of the step time per sample at the largest size of each kind (S.
 * Jayaram Subramanya et al., "Sia: Heterogeneity-aware, goodput-optimized ML-cluster scheduling",
 * SOSP 2023); a large batch uses another device better, so its deviation is KIND_RATIO_FAR_SPREAD.
 *
 * The ratio under one execution plan is also told by the other plans of the workload that were
 * measured on both kinds: each gives the mean of its differences once, with the deviation
 * KIND_RATIO_PLAN_SPREAD, since plans use devices differently.
 *
 * Pure functions. */
#ifndef POLLUX_KIND_RATIO_H
#define POLLUX_KIND_RATIO_H

#include "pollux/fit.h"

#define KIND_RATIO_PRIOR_SPREAD 0.35
#define KIND_RATIO_UNKNOWN_SPREAD 1.0	/* of a prior ratio of 1, where no products were measured */
#define KIND_RATIO_SIZE_SPREAD 0.1
#define KIND_RATIO_FAR_SPREAD 0.35
#define KIND_RATIO_PLAN_SPREAD 0.2

/* Those of one device and one pass count, with one entry for each configuration.
 *
 * The step time on kind `to` over the step time on kind `from`. prior: that of the products; NaN or
 * not positive: unknown. The spread is the standard deviation of the logarithm. */
struct fit_expectation kind_ratio(const struct observation_list *to,
				  const struct observation_list *from, double prior);

/* The step times of a workload under one plan on both kinds. */
struct kind_times {
	const struct observation_list *to, *from;
};
/* As kind_ratio(), with n_others other plans. */
struct fit_expectation kind_ratio_of_plan(const struct kind_times *own,
					  const struct kind_times *others, int n_others,
					  double prior);

/* Fills the synchronisation times that the fit on kind `to` tied, because nothing was measured
 * there, with those of kind `from`, multiplied by the ratio, and then takes its gamma, which only
 * observations of several replicas show, and its factors of tiers (tier_borrow()). Times that
 * `from` does not know by observations stay. */
void kind_ratio_fill_sync(struct throughput_params *params, const struct fit_result *to,
			  const struct fit_result *from, double ratio);

#endif
