/* policy_goodput.c - the allocation worth most, and nobody waits for ever.
 *
 * 1. claims.h: protected jobs keep their devices, overdue jobs start.
 * 2. worth.h: the worth of each number of devices to each job.
 * 3. allocation.h: the allocation that the claims allow with the largest sum of worth.
 *    If its jobs need more of the host's memory than there is: memory_allocate().
 * 4. goodput_line.h: whom the other jobs wait for.
 *
 * A decision that was carried out is not revised while nothing else changes. The chosen devices
 * gain at least as much as any others, since they need no further restart; and the jobs that were
 * launched have the claims by which they were launched.
 *
 * Why nobody starves (the bound in policy.h). Let W have waited for B, at its largest. A job V that
 * has waited longer began its wait earlier, when no more jobs had been submitted: V's own B is not
 * above W's, and V has waited for that. So all of them are overdue, and stay so, with W. Let X be
 * the first of them that does not fit: those before X start in this pass, and X is the first of all
 * in the next. X gathers: from now on nothing is launched or relaunched. What was launched so far
 * is protected for its slice, and what is about to end for CLAIMS_END_RESTARTS of its restarts
 * after the last of these slices. At the first pass after that nothing is protected and X starts. A
 * job that starts to wait now has not waited longer than X, so there are at most |A| + 1 such times
 * before W itself has started. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocation.h"
#include "curve.h"
#include "goodput_line.h"
#include "pollux/mem.h"

static double worth_to_job(const void *worths, const struct curve *c, int r)
{
	return worth_of(worths, c, r);
}

/* The values of a leaner way, with the curve of its goodput. The job has way 0 on the devices that
 * it holds, and without any. */
static void set_lean_values(const struct goodput_decision *d, int index, int way, double *value)
{
	const struct curves *curves = d->curves;
	struct curve *c = &curves->items[index];
	double *best = c->of;

	c->of = xcalloc((size_t)curves->n_devices + 1, sizeof(*c->of));
	for (int at = 0; at <= curves->n_devices; at++) {
		double goodput = offers_at(c->job, curve_kind_at(curves, at), way,
					   curve_devices_at(curves, at)).goodput;
		bool has = at && at != c->held && !isnan(best[at]) && goodput > 0;

		c->of[at] = has ? goodput / c->unit : (double)NAN;
	}
	if (c->held && c->held <= curves->n_devices)
		c->of[c->held] = best[c->held];
	allocation_values(curves, d->claims, index, worth_to_job, d->worths, value);
	value[0] = -HUGE_VAL;
	if (c->held && c->held <= curves->n_devices)
		value[c->held] = -HUGE_VAL;
	free(c->of);
	c->of = best;
}

/* Allocates again, so that the host's memory suffices. */
static void allocate_memory(const struct goodput_decision *d, const double *best)
{
	const struct curves *curves = d->curves;
	size_t n_jobs = (size_t)curves->in->n_jobs, width = (size_t)curves->n_devices + 1;
	autofree double *values = xcalloc(SCHED_WAYS * n_jobs * width, sizeof(*values));

	memcpy(values, best, n_jobs * width * sizeof(*values));
	for (size_t i = 0; i < n_jobs; i++)
		for (int way = 1; way < SCHED_WAYS; way++)
			set_lean_values(d, (int)i, way,
					&values[((size_t)way * n_jobs + i) * width]);
	memory_allocate(curves, d->claims, values, d->at, d->way);
}

static void tell_running(const struct goodput_decision *d, int index, struct verdict *v)
{
	const struct curve *c = &d->curves->items[index];

	verdict_add(v, fact_has_at(d->curves, c, d->at[index]));
	if (!c->job->preemptible)
		return;
	verdict_add_gain(v, d->curves, c, d->at[index]);
	if (d->reconfigure[index])
		verdict_add(v, (struct fact){
			FACT_RELAUNCHED, .gain.percent = 100 * (c->of[c->held] / c->now - 1),
		});
}

static void tell_choices(const struct goodput_decision *d)
{
	int n_jobs = d->curves->in->n_jobs;
	struct memory_use use = memory_use_of(d->curves, d->at, d->way);

	for (int i = 0; i < n_jobs; i++) {
		const struct curve *c = &d->curves->items[i];
		struct sched_choice *choice = goodput_choice(d, i);

		*choice = (struct sched_choice){
			.replicas = curve_devices_at(d->curves, d->at[i]),
			.kind = curve_kind_at(d->curves, d->at[i]),
			.reconfigure = d->reconfigure[i], .way = d->way[i],
			.next_start_s = (double)NAN,
			.overdue_s = c->held ? (double)NAN
					     : claims_overdue_s(d->curves, d->claims, c),
		};
		if (d->at[i])
			tell_running(d, i, &choice->verdict);
	}
	goodput_waits(d);
	for (int i = 0; i < n_jobs; i++)
		if (!d->at[i] && memory_explains(d->curves, &use, d->wanted, i,
						 &goodput_choice(d, i)->verdict))
			goodput_choice(d, i)->next_start_s = (double)NAN;
}

static void decide_by_goodput(const struct sched_input *in, struct sched_choice *choices)
{
	scoped(curves_release) struct curves curves = curves_of(in);
	scoped(worths_release) struct worths worths = worths_of(&curves);
	scoped(claims_release) struct claims claims = claims_of(&curves, &worths);
	struct goodput_decision d = {
		.curves = &curves, .claims = &claims, .worths = &worths, .choices = choices,
		.at = xcalloc((size_t)in->n_jobs, sizeof(*d.at)),
		.wanted = xcalloc((size_t)in->n_jobs, sizeof(*d.wanted)),
		.way = xcalloc((size_t)in->n_jobs, sizeof(*d.way)),
		.reconfigure = xcalloc((size_t)in->n_jobs, sizeof(*d.reconfigure)),
	};
	struct memory_use use;
	double *values = allocation_of_claims(&curves, &claims, worth_to_job, &worths, d.at);

	memcpy(d.wanted, d.at, (size_t)in->n_jobs * sizeof(*d.wanted));
	if (!memory_suffices(&curves, d.at))
		allocate_memory(&d, values);
	free(values);
	use = memory_use_of(&curves, d.at, d.way);
	for (int i = 0; i < in->n_jobs; i++)
		d.reconfigure[i] = d.at[i] && d.at[i] == d.curves->items[i].held &&
				   d.claims->gathering < 0 &&
				   worth_reconfiguring(d.curves, &d.curves->items[i]) &&
				   memory_lets_change(&curves, &use, i);
	tell_choices(&d);
	free(d.reconfigure);
	free(d.at);
	free(d.wanted);
	free(d.way);
}

const struct policy policy_goodput = {
	.name = "goodput", .summary = "the most goodput, short jobs first, in time slices",
	.models_goodput = true, .knows_kinds = true, .decide = decide_by_goodput,
};
