/* time_ratio.h - how much longer a workload's steps take on another kind of device, under another
 * plan, with other numbers of cores, and on devices that are joined worse.
 *
 * Between kinds of device, the logarithm of the ratio has a normal prior around the ratio of the
 * products of the two kinds (device_measurement_quotient()), with the standard deviation
 * KIND_RATIO_PRIOR_SPREAD. Each local batch size that one device of both kinds was measured at
 * gives a difference of logarithms of step times, with the deviation KIND_RATIO_SIZE_SPREAD. The
 * result is the posterior mean: it shrinks from the prior to the mean of the differences as the
 * common sizes become more. With no common size there is one difference, of the step time per
 * sample at the largest size of each kind (S. Jayaram Subramanya et al., "Sia:
 * Heterogeneity-aware, goodput-optimized ML-cluster scheduling", SOSP 2023); a large batch uses
 * another device better, so its deviation is KIND_RATIO_FAR_SPREAD.
 *
 * The ratio under one execution plan is also told by the other plans of the workload that were
 * measured on both kinds: each gives the mean of its differences once, with the deviation
 * KIND_RATIO_PLAN_SPREAD, since plans use devices differently.
 *
 * Pure functions. */
#ifndef POLLUX_TIME_RATIO_H
#define POLLUX_TIME_RATIO_H

#include <stdbool.h>

#include "pollux/device_measurement.h"
#include "pollux/fit.h"
#include "pollux/observation.h"
#include "pollux/residuals.h"

#define KIND_RATIO_PRIOR_SPREAD 0.35
#define KIND_RATIO_UNKNOWN_SPREAD 1.0	/* of a prior ratio of 1, where no products were measured */
#define KIND_RATIO_SIZE_SPREAD 0.1
#define KIND_RATIO_FAR_SPREAD 0.35
#define KIND_RATIO_PLAN_SPREAD 0.2

/* The step times of a workload under one plan on both kinds. Those of one device and one pass
 * count, with one entry for each configuration. */
struct kind_times {
	const struct observation_list *to, *from;
};
/* The step time on kind `to` over the step time on kind `from`, heeding n_others other plans.
 * prior: that of the products; NaN or not positive: unknown. The spread is the standard deviation
 * of the logarithm. */
struct fit_expectation kind_ratio_of_plan(const struct kind_times *own,
					  const struct kind_times *others, int n_others,
					  double prior);

/* Fills the synchronisation times that the fit on kind `to` tied, because nothing was measured
 * there, with those of kind `from`, multiplied by the ratio, and then takes its gamma, which only
 * observations of several replicas show, and its factors of tiers (tier_borrow()). Times that
 * `from` does not know by observations stay. */
void kind_ratio_fill_sync(struct throughput_params *params, const struct fit_result *to,
			  const struct fit_result *from, double ratio);

/* ---- between plans ---- */

/* How much longer a workload's steps take under one plan than under another.
 *
 * The logarithm of the ratio rho has a normal prior around the quotient of what the names of the
 * plans are known for (plan_usual_time()), with the standard deviation PLAN_RATIO_PRIOR_SPREAD, or
 * PLAN_RATIO_UNKNOWN_SPREAD if one of the names is not known. Each configuration that was measured
 * under plan `to` gives a difference of logarithms of step times: to the time measured under plan
 * `from` in the same configuration (PLAN_RATIO_COMMON_SPREAD), else to the time that the model of
 * that plan and its residuals tell (PLAN_RATIO_MODEL_SPREAD). The result is the posterior mean.
 *
 * Pure functions. */

#define PLAN_RATIO_PRIOR_SPREAD 0.35
#define PLAN_RATIO_UNKNOWN_SPREAD 0.7
#define PLAN_RATIO_COMMON_SPREAD 0.1
#define PLAN_RATIO_MODEL_SPREAD 0.2

/* What is known of a workload under a plan. */
struct plan_times {
	const char *name;			/* of the plan */
	const struct observation *seen;	/* one for each configuration */
	int n_seen;
	const struct fit_result *fit;
	const struct residuals *residuals;
};

/* The step time of a plan over that of plain data parallelism, by the plan's name: gc 1.33, zero2
 * 1.05, zero3 1.3, offload 1.6, others 1. *known is false for a name of which nothing is known. */
double plan_usual_time(const char *name, bool *known);

/* The step time under plan `to` over the step time under plan `from`. The spread is the standard
 * deviation of the logarithm. */
struct fit_expectation plan_ratio(const struct plan_times *to, const struct plan_times *from);

/* True if the observations do not tell the time of a pass at other sizes: they are fewer than three
 * or have one local batch size. */
bool plan_is_hardly_measured(const struct observation *seen, int n);

/* Parameters for plan `to`, where its own observations leave times open: those of plan `from`,
 * multiplied by the ratio. *pass and *sync tell whether the times of a pass and those of the
 * synchronisation, or factors of tiers on these, were borrowed. A time that was not observed under
 * plan `from` is not borrowed. */
struct throughput_params plan_borrow(const struct plan_times *to, const struct plan_times *from,
				     double ratio, bool *pass, bool *sync);

/* ---- between numbers of cores ---- */

/* How much of a step's time falls with the number of cores, by step times that were measured with
 * different numbers.
 *
 *	T(c) = T(base) * core_speed_factor(&speed, c),	factor(c) = 1 + part * (base / c - 1)
 *
 * c is the number of cores for each device. part is the part of the step, at the base, that the
 * cores compute: 1 if all of it does, 0 if cores make no difference. This is T + k P / c of Rubick
 * (MLSys 2025) for the optimizer on the processor, without its number of parameters, which is the
 * same for all steps of a workload. part minimises the sum of squares of errors of logarithms, over
 * step times of one configuration with different numbers of cores. Pure functions. */

struct core_speed {
	bool known;			/* a configuration was measured with two numbers */
	double part;			/* 0 to 1 */
	int base;			/* with which most steps were measured; 0: none */
};

/* A time without cores or without steps is ignored. */
struct core_speed core_speed_fit(const struct observation *times, int n);
/* 1 where nothing is known of the speed or of the cores. */
double core_speed_factor(const struct core_speed *speed, double cores);

/* ---- between tiers of links ---- */

/* How much longer replicas synchronise on devices that are joined worse: pollux-goodput(7), Tiers.
 * The base is the best tier that was seen. Pure functions. */

#define TIER_PRIOR 1.5
#define TIER_SPREAD 0.5

/* The best tier that was seen on several devices of one node; TIER_UNKNOWN: none was told. */
enum configuration_tier tier_base(const struct observation *seen, int n);
/* True if this tier was seen on several devices of one node. */
bool tier_was_seen(const struct observation *seen, int n, enum configuration_tier tier);

/* Sets time_s to the time of an exchange of so many bytes between two devices of each tier; NaN:
 * not measured. */
void tier_prior(const struct device_measurement_list *measured, double bytes,
		double time_s[CONFIGURATION_TIERS]);
/* The variant of the measurement of exchanges that belongs to a tier: "numa", "peer numa". */
void tier_variant(enum configuration_tier tier, bool copies, char variant[MEASURED_VARIANT_SIZE]);

/* time_s: as by tier_prior(); NULL: nothing was measured. */
struct fit_result fit_by_tier(const struct observation *seen, int n,
			      const struct fit_options *options, const double *time_s);

/* What one fit takes from another of the same workload, on another kind of device or under another
 * plan. `to` has times of synchronisation at its base, or none on several devices at all.
 *
 * Sets the factors that `to` does not know by observations to those that `from` knows by
 * observations, both counted from the base of `to`. If `to` knows no tier, all its factors become
 * those of `from`: with synchronisation times of `from`. Returns true if some factor was set. */
bool tier_borrow(struct throughput_params *params, const struct fit_result *to,
		 const struct fit_result *from);
/* The factor from synchronisation times of `from` to those at the base of `to`. */
double tier_borrowed_sync(const struct fit_result *to, const struct fit_result *from);

#endif
