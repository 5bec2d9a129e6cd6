/* plan_ratio.h - how much longer a workload's steps take under one plan than under another.
 *
 *	struct fit_expectation ratio = plan_ratio(&to, &from);
 *	if (plan_is_hardly_measured(seen, n)) params = plan_times(...);
 *
 * The logarithm of the ratio rho has a normal prior around the quotient of what the names of the
 * plans are known for (plan_usual_time()), with the standard deviation PLAN_RATIO_PRIOR_SPREAD, or
 * PLAN_RATIO_UNKNOWN_SPREAD if one of the names is not known. Each configuration that was measured
 * under plan `to` gives a difference of logarithms of step times: to the time measured under plan
 * `from` in the same configuration (PLAN_RATIO_COMMON_SPREAD), else to the time that the model of
 * that plan and its residuals tell (PLAN_RATIO_MODEL_SPREAD). The result is the posterior mean.
 *
 * Pure functions. */
#ifndef POLLUX_PLAN_RATIO_H
#define POLLUX_PLAN_RATIO_H

#include "pollux/residuals.h"

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

#endif
