/* policy_goodput.c - the allocation worth most, and nobody waits for ever.
 *
 * 1. claims.h: protected jobs keep their devices, overdue jobs start.
 * 2. worth.h: the worth of each number of devices to each job.
 * 3. allocation.h: the allocation that the claims allow with the largest sum of worth.
 *    If its jobs need more of the host's memory than there is: host_memory.h.
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
#include "goodput_line.h"
#include "host_memory.h"
#include "pollux/mem.h"

static void set_values(const struct goodput_decision *d, int index, double *value)
{
	const struct curves *curves = d->curves;
	const struct curve *c = &curves->items[index];

	for (int r = 0; r <= curves->n_devices; r++) {
		bool may = !isnan(c->of[r]) && claim_allows(&d->claims->items[index], r);

		/* The bounds keep the value finite, whatever the input is. */
		value[r] = may ? fmax(-1e300, fmin(worth_of(d->worths, c, r), 1e300)) : -HUGE_VAL;
	}
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
	set_values(d, index, value);
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
	double *values = xcalloc(SCHED_WAYS * n_jobs * width, sizeof(*values));
	struct allocation_job *jobs = xcalloc(n_jobs, sizeof(*jobs));

	memcpy(values, best, n_jobs * width * sizeof(*values));
	for (size_t i = 0; i < n_jobs; i++) {
		jobs[i] = (struct allocation_job){ .held = curves->items[i].held,
						   .value = &values[i * width] };
		for (int way = 1; way < SCHED_WAYS; way++)
			set_lean_values(d, (int)i, way,
					&values[((size_t)way * n_jobs + i) * width]);
	}
	memory_allocate(curves, d->claims, jobs, values, d->at, d->way);
	free(jobs);
	free(values);
}

static void allocate_devices(const struct goodput_decision *d)
{
	const struct curves *curves = d->curves;
	int n_jobs = curves->in->n_jobs, width = curves->n_devices + 1;
	double *values = xcalloc((size_t)n_jobs * (size_t)width, sizeof(*values));
	struct allocation_job *jobs = xcalloc((size_t)n_jobs, sizeof(*jobs));

	for (int i = 0; i < n_jobs; i++) {
		double *value = &values[(size_t)i * (size_t)width];

		set_values(d, i, value);
		jobs[i] = (struct allocation_job){ .held = curves->items[i].held, .value = value };
	}
	allocation_of_curves(curves, jobs, d->at);
	memcpy(d->wanted, d->at, (size_t)n_jobs * sizeof(*d->wanted));
	if (!memory_suffices(curves, d->at))
		allocate_memory(d, values);
	free(jobs);
	free(values);
}

static struct sched_choice *choice_of(const struct goodput_decision *d,
				      struct sched_choice *choices, int index)
{
	return &choices[d->curves->items[index].job - d->curves->in->jobs];
}

static void tell_choices(const struct goodput_decision *d, struct sched_choice *choices)
{
	int n_jobs = d->curves->in->n_jobs, n_waits;
	struct wait *waits = xcalloc((size_t)n_jobs, sizeof(*waits));
	struct memory_use use = memory_use_of(d->curves, d->at, d->way);

	for (int i = 0; i < n_jobs; i++) {
		struct sched_choice *choice = choice_of(d, choices, i);

		*choice = (struct sched_choice){
			.replicas = curve_devices_at(d->curves, d->at[i]),
			.kind = curve_kind_at(d->curves, d->at[i]),
			.reconfigure = d->reconfigure[i], .way = d->way[i],
			.next_start_s = (double)NAN,
			.overdue_s = d->curves->items[i].held ? (double)NAN
				: claims_overdue_s(d->curves, d->claims, &d->curves->items[i]),
		};
		if (d->at[i])
			reason_goodput_runs(d, i, choice->reason);
	}
	n_waits = goodput_waits(d, waits);
	for (int i = 0; i < n_waits; i++) {
		struct sched_choice *choice = choice_of(d, choices, waits[i].index);

		choice->next_start_s = waits[i].start_s;
		if (memory_explains(d->curves, &use, d->wanted, waits[i].index,
				    choice->reason))
			choice->next_start_s = (double)NAN;
		else
			reason_goodput_waits(d, &waits[i], choice->reason);
	}
	free(waits);
}

static void decide_by_goodput(const struct sched_input *in, struct sched_choice *choices)
{
	struct curves curves = curves_of(in);
	struct claims claims = claims_of(&curves);
	struct worths worths = worths_of(&curves);
	struct goodput_decision d = {
		.curves = &curves, .claims = &claims, .worths = &worths,
		.at = xcalloc((size_t)in->n_jobs, sizeof(*d.at)),
		.wanted = xcalloc((size_t)in->n_jobs, sizeof(*d.wanted)),
		.way = xcalloc((size_t)in->n_jobs, sizeof(*d.way)),
		.reconfigure = xcalloc((size_t)in->n_jobs, sizeof(*d.reconfigure)),
	};
	struct memory_use use;

	allocate_devices(&d);
	use = memory_use_of(&curves, d.at, d.way);
	for (int i = 0; i < in->n_jobs; i++)
		d.reconfigure[i] = d.at[i] && d.at[i] == d.curves->items[i].held &&
				   d.claims->gathering < 0 &&
				   worth_reconfiguring(d.curves, &d.curves->items[i]) &&
				   memory_lets_change(&curves, &use, i);
	tell_choices(&d, choices);
	free(d.reconfigure);
	free(d.at);
	free(d.wanted);
	free(d.way);
	worths_release(&worths);
	claims_release(&claims);
	curves_release(&curves);
}

const struct policy policy_goodput = {
	.name = "goodput", .summary = "the most goodput, short jobs first, in time slices",
	.models_goodput = true, .knows_kinds = true, .decide = decide_by_goodput,
};
