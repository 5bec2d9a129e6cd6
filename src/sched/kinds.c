/* kinds.c - decisions of policies that know no kinds of device, on devices of several kinds. */
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/pack_nodes.h"
#include "pollux/policy.h"
#include "reason.h"

struct filling {
	const struct sched_input *in;
	struct sched_choice *choices;
	int left[SCHED_KINDS];
};

static bool may_have(const struct sched_job *job, int kind)
{
	return !(job->barred_kinds & 1U << kind);
}

/* The largest number of devices of a kind, at most `count`, that the job can get; 0: none. */
static int most_on(const struct filling *f, const struct sched_job *job, int kind, int count)
{
	const struct sched_kind *k = &f->in->kinds[kind];
	int n = count < f->left[kind] ? count : f->left[kind];

	while (n > 0 && !place_is_regular(k->n_devices, k->devices_per_node, n))
		n--;
	return may_have(job, kind) && n >= job->min_replicas ? n : 0;
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
	if (job->replicas && most < wanted && may_have(job, job->kind) &&
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
	choice->reconfigure = false;
	choice->reason[0] = '\0';
	reason_add(choice->reason, "needs ");
	reason_add_devices(choice->reason, job->min_replicas);
	reason_add(choice->reason, " of one kind; other jobs have all");
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

static void decide_blindly(const struct policy *policy, const struct sched_input *in,
			   struct sched_choice *choices)
{
	struct filling f = { .in = in, .choices = choices };
	struct sched_job *jobs = xcalloc((size_t)in->n_jobs, sizeof(*jobs));
	struct sched_input one = *in;
	int largest = 0;

	one.devices_per_node = in->kinds[0].devices_per_node;
	for (int k = 0; k < in->n_kinds; k++) {
		f.left[k] = in->kinds[k].n_devices;
		if (f.left[k] > largest)
			largest = f.left[k];
		if (in->kinds[k].devices_per_node < one.devices_per_node)
			one.devices_per_node = in->kinds[k].devices_per_node;
	}
	memcpy(jobs, in->jobs, (size_t)in->n_jobs * sizeof(*jobs));
	for (int j = 0; j < in->n_jobs; j++)
		if (jobs[j].max_replicas > largest && jobs[j].min_replicas <= largest)
			jobs[j].max_replicas = largest;
	one.n_kinds = 0;
	one.jobs = jobs;
	policy->decide(&one, choices);
	for (int j = 0; j < in->n_jobs; j++)
		choices[j].kind = -1;
	fill_all(&f);
	for (int j = 0; j < in->n_jobs; j++)
		if (choices[j].kind < 0)
			choices[j].kind = 0;
	free(jobs);
}

void policy_decide(const struct policy *policy, const struct sched_input *in, bool blind,
		   struct sched_choice *choices)
{
	if (in->n_kinds > 1 && (blind || !policy->knows_kinds))
		decide_blindly(policy, in, choices);
	else
		policy->decide(in, choices);
}
