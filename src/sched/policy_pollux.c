/* policy_pollux.c - the published fitness, at its exact maximum.
 *
 * Qiao et al., "Pollux", OSDI 2021, and its published simulator (where the constants are from):
 *
 *	fitness = (1/J * sum_j (s_j + 1e-3)^-1)^-1
 *	s_j     = speedup_j * nodes / devices
 *	speedup_j(r) = goodput_j(r) / goodput_j(fair share),	fair share = ceil(devices / J)
 *
 * for J jobs that the machine is large enough for. s_j of a job that starts, or whose number of
 * devices changes, is multiplied by max(age - restarts * restart, 0) / (age + restart). The maximum
 * is also that of the sum of -1 / (s_j + 1e-3), which the published genetic algorithm searches for.
 * Weights multiply the terms of this sum; no weights are published.
 *
 * If the goodput on the fair share is unknown, it is taken from the nearest known number below,
 * else above, in proportion to the devices. So a job of which nothing is known has a speedup of r /
 * fair share, as published.
 *
 * As published, there are no time slices, running jobs may be stopped at any pass, and a job may
 * wait for ever; a job of age 0 starts at the next pass. Unlike published, jobs that are not
 * preemptible keep their devices, waiting jobs that were put first get theirs, and each job has a
 * least and a most number of devices. */
#include <math.h>
#include <stdlib.h>

#include "allocation.h"
#include "claims.h"
#include "curve.h"
#include "pollux/mem.h"

#define SPEEDUP_FLOOR 1e-3

struct fairness {
	const struct curves *curves;
	int share;
	double scale;		/* nodes / devices */
};

static struct fairness fairness_of(const struct curves *curves)
{
	struct fairness f = { .curves = curves, .share = 1, .scale = 1 };
	int node = curves->in->kinds[0].devices_per_node, n = curves->n_devices, jobs = 0;

	for (int i = 0; i < curves->in->n_jobs; i++)
		jobs += curves->items[i].least > 0;
	if (!n)
		f.share = 0;
	else if (jobs)
		f.share = (n + jobs - 1) / jobs;
	if (n)
		f.scale = (node > 0 ? (n + node - 1) / node : 1) / (double)n;
	return f;
}

static double fair_rate(const struct fairness *f, const struct curve *c)
{
	for (int r = f->share; r > 0; r--)
		if (!isnan(c->of[r]))
			return c->of[r] / r * f->share;
	for (int r = f->share + 1; r <= f->curves->n_devices; r++)
		if (!isnan(c->of[r]))
			return c->of[r] / r * f->share;
	return 1;		/* it has none: nothing to compare with */
}

static double fitness_term(const void *policy, const struct curve *c, int r)
{
	const struct fairness *f = policy;
	double fair = fair_rate(f, c);		/* 0 where a rate is below the least number */
	double speedup = fair > 0 ? c->of[r] / fair * f->scale : 0;
	double age_s = f->curves->in->now_s - c->job->submitted_s;
	double kept_s = fmax(age_s - c->job->restarts * c->restart_s, 0);

	if (r != c->held)
		speedup *= kept_s > 0 ? kept_s / (age_s + c->restart_s) : 0;
	return fmax(-c->weight / (speedup + SPEEDUP_FLOOR), -1e300);	/* whatever the input is */
}

static void explain_choice(const struct fairness *f, const struct curve *c,
			   struct sched_choice *choice)
{
	struct verdict *v = &choice->verdict;
	bool put_first = claims_first_rank(c) > 0;

	*v = (struct verdict){ .n = 0 };
	if (choice->replicas) {
		verdict_add(v, fact_has(c->job, choice->replicas));
		if (!c->job->preemptible)
			return;
		verdict_add_gain(v, f->curves, c, choice->replicas);
		verdict_add(v, (struct fact){ FACT_FAIR_SHARE, .n = f->share });
	} else if (c->least) {
		if (put_first)
			verdict_say(v, FACT_PUT_FIRST);
		verdict_add(v, (struct fact){ FACT_NEEDS, .devices = c->least });
		verdict_say(v, put_first ? FACT_WAITS_FOR_FIXED : FACT_ADDS_TO_SPEEDUP);
	} else {
		*v = verdict_unfit(f->curves, c);
	}
}

static void decide_by_fitness(const struct sched_input *in, struct sched_choice *choices)
{
	scoped(curves_release) struct curves curves = curves_of(in);
	scoped(claims_release) struct claims claims = claims_of_fixed(&curves);
	struct fairness f = fairness_of(&curves);
	autofree int *count = xcalloc((size_t)in->n_jobs, sizeof(*count));

	claims_add_first(&curves, &claims);
	free(allocation_of_claims(&curves, &claims, fitness_term, &f, count));
	for (int i = 0; i < in->n_jobs; i++) {
		const struct curve *c = &curves.items[i];
		struct sched_choice *choice = &choices[c->job - in->jobs];

		*choice =
			(struct sched_choice){ .replicas = count[i], .next_start_s = (double)NAN };
		explain_choice(&f, c, choice);
	}
}

/* A number that has no goodput keeps the verdict that it has. */
static void tell_shares(const struct sched_input *in, struct sched_choice *choices)
{
	scoped(curves_release) struct curves curves = curves_of(in);
	struct fairness f = fairness_of(&curves);

	for (int i = 0; i < in->n_jobs; i++) {
		const struct curve *c = &curves.items[i];
		struct sched_choice *choice = &choices[c->job - in->jobs];

		if (!choice->replicas || isnan(c->of[choice->replicas]))
			continue;
		explain_choice(&f, c, choice);
	}
}

const struct policy policy_pollux = {
	.name = "pollux", .summary = "the published fitness: the harmonic mean of speedups",
	.models_goodput = true, .decide = decide_by_fitness, .tell = tell_shares,
};
