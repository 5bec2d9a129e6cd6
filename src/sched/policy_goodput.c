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

#include "allocation_of_curves.h"
#include "goodput_line.h"
#include "host_memory.h"
#include "pollux/mem.h"
#include "reason_goodput.h"

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

static void allocate(const struct goodput_decision *d)
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
		memory_allocate(curves, d->claims, jobs, values, d->at);
	free(jobs);
	free(values);
}

static struct sched_choice *choice_of(const struct goodput_decision *d,
				      struct sched_choice *choices, int index)
{
	return &choices[d->curves->items[index].job - d->curves->in->jobs];
}

static void tell(const struct goodput_decision *d, struct sched_choice *choices)
{
	int n_jobs = d->curves->in->n_jobs, n_waits;
	struct wait *waits = xcalloc((size_t)n_jobs, sizeof(*waits));
	struct memory_use use = memory_use_of(d->curves, d->at);

	for (int i = 0; i < n_jobs; i++) {
		struct sched_choice *choice = choice_of(d, choices, i);

		*choice = (struct sched_choice){
			.replicas = curve_devices_at(d->curves, d->at[i]),
			.kind = curve_kind_at(d->curves, d->at[i]),
			.reconfigure = d->reconfigure[i],
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
		.reconfigure = xcalloc((size_t)in->n_jobs, sizeof(*d.reconfigure)),
	};

	allocate(&d);
	for (int i = 0; i < in->n_jobs; i++)
		d.reconfigure[i] = d.at[i] && d.at[i] == d.curves->items[i].held &&
				   d.claims->gathering < 0 &&
				   worth_reconfiguring(d.curves, &d.curves->items[i]);
	tell(&d, choices);
	free(d.reconfigure);
	free(d.at);
	free(d.wanted);
	worths_release(&worths);
	claims_release(&claims);
	curves_release(&curves);
}

const struct policy policy_goodput = {
	.name = "goodput", .summary = "the most goodput, short jobs first, in time slices",
	.models_goodput = true, .knows_kinds = true, .decide = decide_by_goodput,
};
