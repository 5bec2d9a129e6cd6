/* sia.c - the program of Sia.
 *
 * Jayaram Subramanya et al., "Sia: Heterogeneity-aware, goodput-optimized ML-cluster scheduling",
 * SOSP 2023, section 3, with the constants of its artifact:
 *
 *	minimise	sum over jobs with devices of (speedup_j * f_j)^-0.5  +  1.1 * jobs without
 *	speedup_j(r)	goodput_j(r) in units of a device at the job's least number, on its slowest
 *			kind
 *	f_j		max(age - restarts * restart, 0) / (age + restart) for a running job on
 *			another kind or number than it holds, once its age is a restart;
 *			otherwise 1. Where the kinds are told by name, also for a job that
 *			waits, as in the artifact
 *
 * The published program goes to a solver of integer programs, with terms rounded to hundredths and
 * clipped at 3000. Here it is a knapsack with a capacity for each kind, solved by allocation.h.
 * Weights multiply the terms. As published there are no slices. Running jobs that are not
 * preemptible keep what they hold. */
#include <math.h>
#include <stdlib.h>

#include "../allocation.h"
#include "../curve.h"
#include "pollux/mem.h"

#define POWER (-0.5)
#define LAMBDA 1.1
#define TERM_MAX 3000.0

/* The worth of r devices to a job, as the difference from its term without devices. */
static double worth_of_devices(const void *policy, const struct curve *c, int r)
{
	const struct sched_input *in = policy;
	double age_s = in->now_s - c->job->submitted_s, speedup = c->of[r];
	double kept_s = fmax(age_s - c->job->restarts * c->restart_s, 0);

	if (!r)
		return 0;
	if (r != c->held && (c->held || in->kinds[0].name) && age_s >= c->restart_s)
		speedup *= kept_s > 0 ? kept_s / (age_s + c->restart_s) : 0;
	return c->weight * (LAMBDA - fmin(speedup > 0 ? pow(speedup, POWER) : TERM_MAX, TERM_MAX));
}

static void decide_by_sum(const struct sched_input *in, struct sched_choice *choices)
{
	scoped(curves_release) struct curves curves = curves_of(in);
	scoped(claims_release) struct claims claims = claims_of_fixed(&curves);
	autofree int *at = xcalloc((size_t)in->n_jobs, sizeof(*at));

	free(allocation_of_claims(&curves, &claims, worth_of_devices, in, at));
	choices_of(&curves, at, FACT_ADDS_TO_SUM, choices);
}

const struct policy policy_sia = {
	.name = "sia", .summary = "the least sum of speedup^-0.5", .models_goodput = true,
	.knows_kinds = true, .decide = decide_by_sum,
};
