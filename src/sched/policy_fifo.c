/* policy_fifo.c - first in, first out.
 *
 * Running jobs keep what they hold to their end. The others start in the order of their ids (those
 * that were put first before the rest), each on its minimum; the first that does not fit stops the
 * line. If no job is left waiting, the jobs that start share the devices left: the first gets up to
 * its maximum, then the next. */
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "pollux/mem.h"
#include "pollux/policy.h"

struct queue {
	const struct sched_input *in;
	struct sched_choice *choices;
	const struct sched_job **jobs;	/* running, then put first, then by id */
	int left;			/* devices not given yet */
	int waiting;			/* jobs in line */
};

static int by_id(const void *a, const void *b)
{
	const struct sched_job *x = *(const struct sched_job *const *)a;
	const struct sched_job *y = *(const struct sched_job *const *)b;

	if ((x->replicas > 0) != (y->replicas > 0))
		return x->replicas > 0 ? -1 : 1;
	if (x->replicas <= 0 && x->first != y->first)
		return x->first > y->first ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static struct sched_choice *choice_of(const struct queue *q, const struct sched_job *job)
{
	return &q->choices[job - q->in->jobs];
}

static void give_replicas(struct queue *q, const struct sched_job *job, int replicas)
{
	choice_of(q, job)->replicas += replicas;
	q->left -= replicas;
}

static int least_of(const struct sched_job *job)
{
	return job->min_replicas > 1 ? job->min_replicas : 1;
}

static void start_or_wait(struct queue *q, const struct sched_job *job)
{
	struct verdict *v = &choice_of(q, job)->verdict;
	int wanted = job->replicas > 0 ? job->replicas : least_of(job);

	if (job->replicas > 0 && wanted > q->left) {	/* devices went away: fewer, or none */
		wanted = q->left < job->max_replicas ? q->left : job->max_replicas;
		wanted = wanted > least_of(job) ? wanted : least_of(job);
	}
	if (wanted <= q->left && (job->replicas > 0 || !q->waiting)) {
		give_replicas(q, job, wanted);
		return;
	}
	if (least_of(job) > sched_devices(q->in)) {
		*v = verdict_of((struct fact){ FACT_TOO_FEW, .devices = least_of(job),
					       .of = sched_devices(q->in) });
		return;
	}
	verdict_add(v, (struct fact){
		job->first ? FACT_IN_LINE_PUT_FIRST : FACT_IN_LINE_BY_ARRIVAL, .n = ++q->waiting,
	});
	verdict_add(v, (struct fact){ FACT_NEEDS, .devices = least_of(job) });
}

static void decide_by_arrival(const struct sched_input *in, struct sched_choice *choices)
{
	struct queue q = {
		.in = in, .choices = choices,
		.jobs = xcalloc((size_t)in->n_jobs, sizeof(const struct sched_job *)),
		.left = sched_devices(in),
	};

	for (int i = 0; i < in->n_jobs; i++) {
		choices[i] = (struct sched_choice){ .next_start_s = (double)NAN };
		q.jobs[i] = &in->jobs[i];
	}
	qsort(q.jobs, (size_t)in->n_jobs, sizeof(const struct sched_job *), by_id);
	for (int i = 0; i < in->n_jobs; i++)
		start_or_wait(&q, q.jobs[i]);
	for (int i = 0; !q.waiting && i < in->n_jobs && q.left > 0; i++) {
		const struct sched_job *job = q.jobs[i];
		int room = job->max_replicas - choice_of(&q, job)->replicas;

		if (job->replicas <= 0 && choice_of(&q, job)->replicas > 0 && room > 0)
			give_replicas(&q, job, room < q.left ? room : q.left);
	}
	for (int i = 0; i < in->n_jobs; i++) {
		struct fact has = fact_has_asked(&in->jobs[i], choices[i].replicas);

		if (!choices[i].replicas)
			continue;
		has.kind = FACT_HAS;
		verdict_add(&choices[i].verdict, has);
		verdict_say(&choices[i].verdict, FACT_FIRST_IN_FIRST_OUT);
	}
	free(q.jobs);
}

const struct policy policy_fifo = {
	.name = "fifo", .summary = "first in, first out, to the end", .never_preempts = true,
	.decide = decide_by_arrival,
};
