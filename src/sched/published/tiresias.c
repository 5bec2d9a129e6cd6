/* tiresias.c - two queues by attained service, each first in, first out.
 *
 * Gu et al., "Tiresias: A GPU Cluster Manager for Distributed Deep Learning", NSDI 2019:
 * discretised two-dimensional least attained service, with one threshold and without the promotion
 * of starved jobs, in the form that the published simulator of Qiao et al., "Pollux", OSDI 2021,
 * compares with. A job is in the first queue until it has had TIRESIAS_QUEUE_DEVICE_S of service
 * (times its weight), and then at the end of the second. In the order of the queues each job gets
 * the fewest devices that it asks for, if as many are left, and otherwise none. A job that does not
 * fit does not stop those behind it.
 *
 * There are no slices: a job of the second queue loses its devices as soon as a job of the first
 * needs them. Running jobs that are not preemptible come before all others and keep what they
 * hold. */
#include <math.h>
#include <stdlib.h>

#include "../curve.h"
#include "pollux/mem.h"
#include "pollux/policy.h"

enum queue { QUEUE_FIXED, QUEUE_FIRST, QUEUE_SECOND };

struct entry {
	const struct sched_job *job;
	int index;
	enum queue queue;
	double since_s;		/* when it came to the second queue */
	int demand;
};

static struct entry entry_of(const struct sched_input *in, int index)
{
	const struct sched_job *job = &in->jobs[index];
	double weight = job->weight > 0 && isfinite(job->weight) ? job->weight : 1;
	struct entry e = { .job = job, .index = index, .queue = QUEUE_FIRST, .since_s = -HUGE_VAL };

	e.demand = job->min_replicas > 1 ? job->min_replicas : 1;
	if (job->replicas > 0 && !job->preemptible) {
		e.queue = QUEUE_FIXED;
		e.demand = job->replicas;
	} else if (job->attained_service_device_s / weight >= TIRESIAS_QUEUE_DEVICE_S) {
		e.queue = QUEUE_SECOND;
		e.since_s = isnan(job->demoted_s) ? HUGE_VAL : job->demoted_s;
	}
	return e;
}

static int by_queue(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->since_s < y->since_s || x->since_s > y->since_s)
		return x->since_s < y->since_s ? -1 : 1;
	if (x->job->id != y->job->id)
		return x->job->id < y->job->id ? -1 : 1;
	return x->index - y->index;
}

static void explain_choice(const struct sched_input *in, const struct entry *e, int line,
			   struct verdict *v)
{
	if (e->queue != QUEUE_FIXED && e->demand > sched_devices(in)) {
		*v = verdict_of((struct fact){ FACT_TOO_FEW, .devices = e->demand,
					       .of = sched_devices(in) });
		return;
	}
	if (e->queue == QUEUE_FIXED && !line) {
		verdict_add(v, fact_has(e->job, e->demand));
		return;
	}
	if (line)
		verdict_add(v, (struct fact){ FACT_IN_LINE, .n = line });
	verdict_add(v, (struct fact){ line ? FACT_NEEDS : FACT_HAS, .devices = e->demand });
	if (e->queue != QUEUE_FIXED)
		verdict_add(v, (struct fact){ e->queue == QUEUE_FIRST ? FACT_FIRST_QUEUE
								      : FACT_SECOND_QUEUE,
					      .seconds = TIRESIAS_QUEUE_DEVICE_S });
}

static void decide_by_queue(const struct sched_input *in, struct sched_choice *choices)
{
	autofree struct entry *entries = xcalloc((size_t)in->n_jobs, sizeof(*entries));
	int left = sched_devices(in), line = 0;

	for (int i = 0; i < in->n_jobs; i++)
		entries[i] = entry_of(in, i);
	qsort(entries, (size_t)in->n_jobs, sizeof(*entries), by_queue);
	for (int i = 0; i < in->n_jobs; i++) {
		struct entry *e = &entries[i];
		struct sched_choice *choice = &choices[e->index];
		int least = e->job->min_replicas > 1 ? e->job->min_replicas : 1;
		bool fits;

		/* A job that is not preemptible keeps what is left when devices went away, but
		 * never fewer than its least number. */
		if (e->queue == QUEUE_FIXED && e->demand > left) {
			e->demand = left < e->job->max_replicas ? left : e->job->max_replicas;
			e->demand = e->demand > least ? e->demand : least;
		}
		fits = e->demand <= left;
		*choice = (struct sched_choice){ .replicas = fits ? e->demand : 0,
						 .next_start_s = (double)NAN };
		left -= choice->replicas;
		explain_choice(in, e, fits || e->demand > sched_devices(in) ? 0 : ++line,
			       &choice->verdict);
	}
}

const struct policy policy_tiresias = {
	.name = "tiresias", .summary = "two queues by attained service, devices as asked for",
	.decide = decide_by_queue,
};
