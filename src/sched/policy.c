/* policy.c - decisions of policies that know no kinds of device, on devices of several kinds.
 *
 * The policy first decides as if all devices were of one kind, and the jobs are then put on kinds.
 * That can go wrong where a job may not have each kind: a job for which there is no room keeps
 * others from devices that it may not have. Such a kind is decided anew, alone, among the jobs that
 * are on it and those that wait and may have it.
 *
 * At the end, a second look at what was decided: whether it keeps the guarantees. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "pollux/assign.h"
#include "pollux/mem.h"
#include "pollux/policy.h"

double sched_remaining(double total, double done)
{
	if (isnan(total) || done > total * (1 + SCHED_OVERTIME))
		return (double)NAN;
	return fmax(total - done, 0);
}

/* --- devices of several kinds --- */

struct filling {
	const struct sched_input *in;
	struct sched_choice *choices;
	int left[SCHED_KINDS];
	bool *unplaced;			/* by job: it was given devices that no kind has left */
};

/* --- one kind --- */

/* The job where all devices are of this kind: what it makes of the kind, or else of its own, or of
 * any. */
static struct sched_job job_on(const struct sched_input *in, const struct sched_job *job, int kind)
{
	struct sched_job one = *job;
	int like = job->offers[kind].goodput[0] ? kind : job->kind;

	for (int k = 0; k < in->n_kinds && !job->offers[like].goodput[0]; k++)
		like = job->offers[k].goodput[0] ? k : like;
	one.kind = 0;
	one.offers[0] = job->offers[like];
	one.offers[0].barred = false;
	return one;
}

struct sched_input sched_merge_kinds(const struct sched_input *in, struct sched_job *jobs)
{
	struct sched_input one = *in;

	one.jobs = jobs;
	one.n_kinds = 1;
	one.kinds[0].n_devices = sched_devices(in);
	one.kinds[0].name = NULL;
	for (int k = 1; k < in->n_kinds; k++)
		if (in->kinds[k].devices_per_node < one.kinds[0].devices_per_node)
			one.kinds[0].devices_per_node = in->kinds[k].devices_per_node;
	for (int j = 0; j < in->n_jobs; j++) {
		bool barred = true;

		for (int k = 0; k < in->n_kinds; k++)
			barred &= in->jobs[j].offers[k].barred;
		jobs[j] = job_on(in, &in->jobs[j], in->jobs[j].kind);
		jobs[j].offers[0].barred = barred;
	}
	return one;
}

/* --- which kind --- */

/* The largest number of devices of a kind, at most `count`, that the job can get; 0: none. */
static int most_on(const struct filling *f, const struct sched_job *job, int kind, int count)
{
	const struct sched_kind *k = &f->in->kinds[kind];
	int n = count < f->left[kind] ? count : f->left[kind];

	while (n > 0 && !place_is_regular(k->n_devices, k->devices_per_node, n))
		n--;
	return !job->offers[kind].barred && n >= job->min_replicas ? n : 0;
}

static void fill_choice(struct filling *f, int j)
{
	const struct sched_job *job = &f->in->jobs[j];
	struct sched_choice *choice = &f->choices[j];
	int wanted = choice->replicas, best = -1, most = 0;

	for (int k = 0; k < f->in->n_kinds; k++) {
		int n = most_on(f, job, k, wanted);

		if (n > most || (n && n == most && f->left[k] > f->left[best])) {
			best = k;
			most = n;
		}
	}
	/* Fewer devices on another kind are not worth a restart. */
	if (job->replicas && most < wanted && !job->offers[job->kind].barred &&
	    job->replicas <= f->left[job->kind]) {
		best = job->kind;
		most = job->replicas;
	}
	choice->replicas = most;
	choice->kind = best < 0 ? 0 : best;
	if (best >= 0) {
		f->left[best] -= most;
		return;
	}
	f->unplaced[j] = true;
	choice->reconfigure = false;
	choice->verdict = verdict_of((struct fact){ FACT_NEEDS_ONE_KIND,
						    .devices = job->min_replicas });
}

/* Fills jobs that go on unchanged first, then those that need most devices. */
static void fill_all(struct filling *f)
{
	int most = 0;

	for (int j = 0; j < f->in->n_jobs; j++) {
		const struct sched_job *job = &f->in->jobs[j];

		if (job->replicas && f->choices[j].replicas == job->replicas) {
			f->choices[j].kind = job->kind;
			f->left[job->kind] -= job->replicas;
		} else if (f->choices[j].replicas > most) {
			most = f->choices[j].replicas;
		}
	}
	for (int n = most; n > 0; n--)
		for (int j = 0; j < f->in->n_jobs; j++)
			if (f->choices[j].replicas == n && f->in->jobs[j].replicas != n &&
			    f->choices[j].kind < 0)
				fill_choice(f, j);
}

/* The verdicts on jobs with devices are about the kind that each has, and count no more devices
 * than there are of that kind. A job that is not known to work on so many of them keeps the offers
 * by which it was judged. one: what the policy decided on; jobs: its jobs. */
static void tell_on_kinds(const struct filling *f, const struct policy *policy,
			  const struct sched_input *one, struct sched_job *jobs)
{
	for (int j = 0; j < f->in->n_jobs; j++) {
		const struct sched_choice *choice = &f->choices[j];
		const struct sched_job *job = &f->in->jobs[j];
		int most = f->in->kinds[choice->kind].n_devices;
		struct sched_job there = job_on(f->in, job, choice->kind);

		if (!choice->replicas)
			continue;
		if (offers_at(&there, 0, 0, choice->replicas).goodput > 0)
			jobs[j].offers[0] = there.offers[0];
		if (job->kind != choice->kind)
			jobs[j].replicas = 0;
		if (jobs[j].max_replicas > most && jobs[j].min_replicas <= most)
			jobs[j].max_replicas = most;
	}
	policy->tell(one, f->choices);
}

/* --- a kind by itself --- */

/* True if the job waits, and the kind has as many devices as it needs, held or free. */
static bool waits_for(const struct filling *f, int j, int kind)
{
	const struct sched_job *job = &f->in->jobs[j];

	return f->choices[j].replicas == 0 && !job->offers[kind].barred &&
	       job->min_replicas <= f->in->kinds[kind].n_devices;
}

/* True if a job waits for the kind that was to run, or that would find enough devices there. */
static bool is_decided_wrong(const struct filling *f, int kind)
{
	for (int j = 0; j < f->in->n_jobs; j++)
		if (waits_for(f, j, kind) &&
		    (f->unplaced[j] || most_on(f, &f->in->jobs[j], kind, f->left[kind]) > 0))
			return true;
	return false;
}

/* A job that goes on waiting keeps the verdict that it has. */
static void take_choice(struct filling *f, int j, int kind, const struct sched_choice *made)
{
	struct sched_choice *choice = &f->choices[j];
	const struct sched_job *job = &f->in->jobs[j];
	int n = made->replicas;

	if (choice->replicas == 0 && n == 0)
		return;
	if (job->kind != kind || n != job->replicas)
		n = most_on(f, job, kind, n);
	*choice = *made;
	choice->replicas = n;
	choice->kind = n ? kind : 0;
	f->unplaced[j] = false;
	f->left[kind] -= n;
}

static void decide_kind(struct filling *f, const struct policy *policy, int kind)
{
	size_t n = (size_t)f->in->n_jobs;
	autofree struct sched_choice *choices = xcalloc(n, sizeof(*choices));
	autofree struct sched_job *jobs = xcalloc(n, sizeof(*jobs));
	autofree int *of = xcalloc(n, sizeof(*of));
	struct sched_input one = *f->in;

	one.jobs = jobs;
	one.n_jobs = 0;
	one.n_kinds = 1;
	one.kinds[0] = f->in->kinds[kind];
	one.kinds[0].name = NULL;
	f->left[kind] = one.kinds[0].n_devices;
	for (int j = 0; j < f->in->n_jobs; j++)
		if (waits_for(f, j, kind) ||
		    (f->choices[j].replicas > 0 && f->choices[j].kind == kind)) {
			struct sched_job *job = &jobs[one.n_jobs];

			*job = job_on(f->in, &f->in->jobs[j], kind);
			if (f->in->jobs[j].kind != kind)
				job->replicas = 0;
			of[one.n_jobs++] = j;
		}
	policy->decide(&one, choices);
	for (int i = 0; i < one.n_jobs; i++)
		take_choice(f, of[i], kind, &choices[i]);
}

/* Decides each kind anew at most once, those first of which most devices are free. */
static void decide_wrong_kinds(struct filling *f, const struct policy *policy)
{
	bool anew[SCHED_KINDS] = { false };
	int kind;

	do {
		kind = -1;
		for (int k = 0; k < f->in->n_kinds; k++)
			if (!anew[k] && (kind < 0 || f->left[k] > f->left[kind]) &&
			    is_decided_wrong(f, k))
				kind = k;
		if (kind >= 0) {
			decide_kind(f, policy, kind);
			anew[kind] = true;
		}
	} while (kind >= 0);
}

/* --- all --- */

static void decide_blindly(const struct policy *policy, const struct sched_input *in,
			   struct sched_choice *choices)
{
	struct filling f = { .in = in, .choices = choices };
	autofree struct sched_job *jobs = xcalloc((size_t)in->n_jobs, sizeof(*jobs));
	struct sched_input one = sched_merge_kinds(in, jobs);
	int largest = 0;

	f.unplaced = xcalloc((size_t)in->n_jobs, sizeof(*f.unplaced));
	for (int k = 0; k < in->n_kinds; k++) {
		f.left[k] = in->kinds[k].n_devices;
		if (f.left[k] > largest)
			largest = f.left[k];
	}
	for (int j = 0; j < in->n_jobs; j++)
		if (jobs[j].max_replicas > largest && jobs[j].min_replicas <= largest)
			jobs[j].max_replicas = largest;
	policy->decide(&one, choices);
	for (int j = 0; j < in->n_jobs; j++)
		choices[j].kind = -1;
	fill_all(&f);
	for (int j = 0; j < in->n_jobs; j++)
		if (choices[j].kind < 0)
			choices[j].kind = 0;
	if (policy->tell)
		tell_on_kinds(&f, policy, &one, jobs);
	decide_wrong_kinds(&f, policy);
	/* The policy took such a job for one that waits for others. */
	for (int j = 0; j < in->n_jobs; j++)
		if (!choices[j].replicas &&
		    kinds_are_too_small(in, &in->jobs[j], &choices[j].verdict))
			choices[j].next_start_s = (double)NAN;
	free(f.unplaced);
}

void policy_decide(const struct policy *policy, const struct sched_input *in, bool blind,
		   struct sched_choice *choices)
{
	if (in->n_kinds > 1 && (blind || !policy->knows_kinds))
		decide_blindly(policy, in, choices);
	else
		policy->decide(in, choices);
}

/* --- guarantees --- */

#define ROUNDING 1e-9

static double goodput_of(const struct sched_input *in, int j, int replicas, int kind)
{
	const struct sched_job *job = &in->jobs[j];
	return replicas <= job->max_replicas ? offers_at(job, kind, 0, replicas).goodput
					     : (double)NAN;
}

/* The least number of devices on which the job is as fast as promised; 0: no number. */
static int least_of(const struct sched_input *in, int j, double floor)
{
	for (int r = 1; r <= in->jobs[j].max_replicas && r <= sched_devices(in); r++)
		for (int k = 0; k < in->n_kinds; k++)
			if (goodput_of(in, j, r, k) >= floor * (1 - ROUNDING))
				return r;
	return 0;
}

int guarantee_check(const struct sched_input *in, const struct sched_choice *choices,
		    const double *floor, struct fact *why)
{
	int devices = 0;

	/* Not all guarantees can be kept where devices went away, or where new measurements raised
	 * the number of devices that a guarantee needs. */
	for (int j = 0; j < in->n_jobs; j++) {
		const struct sched_job *job = &in->jobs[j];

		if (job->replicas > 0 && !job->preemptible)
			devices += job->replicas;
		else if (job->replicas > 0 && floor[j] > 0)
			devices += least_of(in, j, floor[j]);
	}
	if (devices > sched_devices(in))
		return -1;
	for (int j = 0; j < in->n_jobs; j++) {
		const struct sched_job *job = &in->jobs[j];
		const struct sched_choice *c = &choices[j];
		double goodput = goodput_of(in, j, c->replicas, c->kind);

		if (!(floor[j] > 0) || !least_of(in, j, floor[j]))
			continue;
		if (c->replicas == 0 && job->replicas > 0) {
			*why = (struct fact){ FACT_GUARANTEE_LOST, .n = job->replicas };
			return j;
		}
		if (c->replicas > 0 && job->preemptible &&
		    !(goodput >= floor[j] * (1 - ROUNDING))) {
			*why = (struct fact){ FACT_GUARANTEE_SLOW, .n = c->replicas,
					      .goodput = { goodput, floor[j] } };
			return j;
		}
	}
	return -1;
}
