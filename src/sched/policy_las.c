/* policy_las.c - least attained service with a time slice.
 *
 * The order of precedence: running jobs that are not preemptible; jobs within their slice; waiting
 * jobs that were put first; all others by attained service / weight. Among equals, running jobs
 * come before waiting ones, then smaller ids first. So a running job is replaced only after its
 * slice, by a job that has had strictly less, or was put first.
 *
 * 1. In that order each job gets its minimum, or what it holds where it is protected (the first
 *    two kinds), while it fits.
 * 2. The first job that does not fit gathers devices. Unprotected jobs behind it may run on with
 *    what they hold, but nothing is launched behind it, not even a running job on fewer devices:
 *    its new slice would count again, and a job of 2 devices would starve behind jobs of 1 whose
 *    slices end at different times. Exception: if the gathering job cannot start for a whole slice,
 *    jobs launched now do not delay it. (This is backfilling, as in D. A. Lifka, "The ANL/IBM SP
 *    scheduling system", 1995, but exact, since slices are known.) Without the exception one long
 *    job that is not preemptible would idle all other devices behind a wide job. Jobs that are not
 *    preemptible are not launched by the exception, since they would keep the devices.
 * 3. Devices left over are shared evenly among the unprotected and the new jobs (by weight, one at
 *    a time, up to each maximum). They do not all go to the least served job: the second device of
 *    a job adds more than its third, and an even split stays as it is when slices end. A running
 *    job gives up devices only if another gains; on a tie it keeps them. While a job gathers
 *    devices, nothing is shared out: a running job keeps what it holds or, if devices went away,
 *    has its minimum.
 *
 * Why nobody starves (the bound in policy.h). Let W wait and A be the jobs that come before it.
 * While any job of A runs, the sum over A of the service that each lacks to W's service/weight
 * falls by at least a device-second a second. While none runs, the first of A, and W once A is
 * empty, waits only for slices of jobs behind it: by rule 2 all of these are over within one slice,
 * and it starts. Such a period begins only when a job has left A, so there are at most |A| + 1 of
 * them. */
#include <math.h>
#include <stdlib.h>

#include "las.h"
#include "pollux/mem.h"

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* --- the order --- */

static struct las_job job_of(const struct sched_input *in, int index)
{
	const struct sched_job *job = &in->jobs[index];
	double service = job->attained_service_device_s, age_s = in->now_s - job->launched_s;
	double weight = job->weight > 0 && isfinite(job->weight) ? job->weight : 1;
	struct las_job e = {
		.job = job, .index = index, .min = larger(job->min_replicas, 1),
		.held = larger(job->replicas, 0), .weight = weight, .rank = RANK_BY_SERVICE,
		.key = service > 0 ? service / weight : 0,
		.first = job->replicas > 0 ? 0 : job->first,
	};

	if (e.held && !job->preemptible)
		e.rank = RANK_NOT_PREEMPTIBLE;
	/* A launch in the future means that a clock was set back: the slice is cut short, or it
	 * would not end. */
	else if (e.held && age_s >= 0 && age_s < in->slice_s)
		e.rank = RANK_IN_SLICE;
	return e;
}

static int precedence(const void *a, const void *b)
{
	const struct las_job *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	if (x->key < y->key || x->key > y->key)
		return x->key < y->key ? -1 : 1;
	if (!x->held != !y->held)
		return x->held ? -1 : 1;
	if (x->job->id != y->job->id)
		return x->job->id < y->job->id ? -1 : 1;
	return x->index - y->index;
}

/* --- rule 1 and 2: minimums --- */

static void give_replicas(struct las *las, struct las_job *e, int replicas)
{
	if (!e->replicas)
		las->holders[las->n_holders++] = (int)(e - las->jobs);
	e->replicas += replicas;
	las->left -= replicas;
}

static void give_minimum(struct las *las, struct las_job *e)
{
	int replicas = las_is_locked(e) || (e->held && las->gathering) ? e->held : e->min;
	bool may = e->held || (!las->gathering && (e->job->preemptible || !las->blocked));

	if (las_is_locked(e) && e->held > las->left) {	/* devices went away: fewer, or none */
		replicas = las->left < e->job->max_replicas ? las->left : e->job->max_replicas;
		replicas = larger(replicas, e->min);
	}
	if (replicas <= las->left && may) {
		give_replicas(las, e, replicas);
		return;
	}
	las->n_waiting++;
	if (!may || las->gathering)
		return;
	las->blocked = true;
	if (!(las_start_s(las, e) < las->in->now_s + las->in->slice_s))
		return;
	las->gathering = true;
	/* Running jobs before this one get back what they hold, if that is left. */
	for (int i = 0; i < las->n_holders; i++) {
		struct las_job *holder = &las->jobs[las->holders[i]];
		int more = holder->held - holder->replicas;

		if (more > 0 && more <= las->left)
			give_replicas(las, holder, more);
	}
}

/* --- rule 3: what is left over --- */

/* True if a should get the next device rather than b, which comes first by service. */
static bool needs_more(const struct las_job *a, const struct las_job *b)
{
	double x = a->replicas / a->weight, y = b->replicas / b->weight;

	if (x < y || x > y)
		return x < y;
	return a->replicas < a->held && b->replicas >= b->held;
}

static struct las_job *neediest(const struct las *las)
{
	struct las_job *best = NULL;

	for (int i = 0; i < las->n_holders; i++) {
		struct las_job *e = &las->jobs[las->holders[i]];

		if (las_is_locked(e) || e->replicas >= e->job->max_replicas)
			continue;
		if (!e->job->preemptible && las->blocked)
			continue;	/* the job would keep the devices from the job that waits */
		if (!best || needs_more(e, best))
			best = e;
	}
	return best;
}

static void decide_by_service(const struct sched_input *in, struct sched_choice *choices)
{
	size_t n_jobs = (size_t)in->n_jobs, n_devices = (size_t)larger(sched_devices(in), 0);
	struct las_job *next;
	struct las las = {
		.in = in, .jobs = xcalloc(n_jobs, sizeof(*las.jobs)),
		.holders = xcalloc(n_devices, sizeof(*las.holders)), .left = (int)n_devices,
		.units = xcalloc(n_devices, sizeof(*las.units)), .n_units = (int)n_devices,
	};

	for (int i = 0; i < in->n_jobs; i++)
		las.jobs[i] = job_of(in, i);
	qsort(las.jobs, n_jobs, sizeof(*las.jobs), precedence);
	for (int i = 0; i < in->n_jobs; i++)
		if (las_is_possible(&las, &las.jobs[i]))
			give_minimum(&las, &las.jobs[i]);
	while (!las.gathering && las.left > 0 && (next = neediest(&las)))
		give_replicas(&las, next, 1);
	las_tell(&las, choices);
	free(las.units);
	free(las.holders);
	free(las.jobs);
}

const struct policy policy_las = {
	.name = "las", .summary = "least attained service first, in time slices",
	.decide = decide_by_service,
};
