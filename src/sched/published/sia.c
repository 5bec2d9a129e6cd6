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
#include "../claims.h"
#include "../curve.h"
#include "../reason_curve.h"
#include "pollux/mem.h"

#define POWER (-0.5)
#define LAMBDA 1.1
#define TERM_MAX 3000.0

static double restart_factor(const struct curves *curves, const struct curve *c)
{
	double age_s = curves->in->now_s - c->job->submitted_s;
	double kept_s = fmax(age_s - c->job->restarts * c->restart_s, 0);

	if ((!c->held && !curves->in->kinds[0].name) || !(age_s >= c->restart_s))
		return 1;
	return kept_s > 0 ? kept_s / (age_s + c->restart_s) : 0;
}

/* The worth of r devices to a job, as the difference from its term without devices. */
static double worth_of_devices(const struct curves *curves, const struct curve *c, int r)
{
	double speedup = c->of[r];

	if (!r)
		return 0;
	if (r != c->held)
		speedup *= restart_factor(curves, c);
	return c->weight * (LAMBDA - fmin(speedup > 0 ? pow(speedup, POWER) : TERM_MAX, TERM_MAX));
}

static void allocate_devices(const struct curves *curves, const struct claims *claims, int *at)
{
	size_t n_jobs = (size_t)curves->in->n_jobs, width = (size_t)curves->n_devices + 1;
	double *values = xcalloc(n_jobs * width, sizeof(*values));
	struct allocation_job *jobs = xcalloc(n_jobs, sizeof(*jobs));

	for (size_t i = 0; i < n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		double *value = &values[i * width];

		for (int r = 0; r <= curves->n_devices; r++) {
			bool may = !isnan(c->of[r]) && claim_allows(&claims->items[i], r);

			value[r] = may ? fmax(-1e300, fmin(worth_of_devices(curves, c, r), 1e300))
				       : -HUGE_VAL;
		}
		jobs[i] = (struct allocation_job){ .held = c->held, .value = value };
	}
	allocation_of_curves(curves, jobs, at);
	free(jobs);
	free(values);
}

static void decide_by_sum(const struct sched_input *in, struct sched_choice *choices)
{
	struct curves curves = curves_of(in);
	struct claims claims = claims_of_fixed(&curves);
	int *at = xcalloc((size_t)in->n_jobs, sizeof(*at));

	allocate_devices(&curves, &claims, at);
	for (int i = 0; i < in->n_jobs; i++) {
		const struct curve *c = &curves.items[i];
		struct sched_choice *choice = &choices[c->job - in->jobs];

		*choice = (struct sched_choice){
			.replicas = curve_devices_at(&curves, at[i]),
			.kind = curve_kind_at(&curves, at[i]), .next_start_s = (double)NAN,
		};
		reason_add_choice(&curves, c, at[i], "; adds more to the sum elsewhere",
				     choice->reason);
	}
	free(at);
	claims_release(&claims);
	curves_release(&curves);
}

const struct policy policy_sia = {
	.name = "sia", .summary = "the least sum of speedup^-0.5", .models_goodput = true,
	.knows_kinds = true, .decide = decide_by_sum,
};
