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

#include "curve.h"
#include "pollux/mem.h"
#include "pollux/policy.h"

enum las_rank { RANK_NOT_PREEMPTIBLE, RANK_IN_SLICE, RANK_BY_SERVICE };

struct las_job {
	const struct sched_job *job;
	int index;		/* in the input */
	int min, held;
	double weight, key;	/* key: service / weight, seconds */
	enum las_rank rank;
	int first;		/* put first, and waits; the largest is the next */
	int replicas;		/* decided so far */
	const struct las_job *evictor;	/* the last in line that was to take its devices */
};

/* A device as waiting jobs see it: who has it, and from when on they may take it. */
struct las_unit {
	struct las_job *owner;		/* NULL: free */
	double free_s;			/* the owner's slice is over; INFINITY: never */
	bool minimum;			/* the owner gives it up only to jobs before it */
	double since_s, pace;		/* owner's key at t: key + (t - since_s) * pace */
	double available_s;		/* to the job in question */
};

struct las {
	const struct sched_input *in;
	struct las_job *jobs;	/* in->n_jobs of them, in order of precedence */
	int *holders;		/* which jobs have devices by this decision, in order */
	int n_holders;		/* at most n_devices */
	int n_waiting;		/* of the jobs that n_devices suffice for */
	int left;		/* devices not given yet */
	bool blocked;		/* a job did not fit */
	bool gathering;		/* a job that did not fit starts within a slice */
	struct las_unit *units;	/* n_units devices */
	int n_units;
};

/* True if the job keeps its devices however much service it has had. */
static bool is_locked(const struct las_job *e)
{
	return e->rank != RANK_BY_SERVICE;
}

static bool is_possible(const struct las *las, const struct las_job *e)
{
	return e->min <= las->n_units;
}

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

/* --- when devices come free --- */

/* final: all devices have been given. Before that, unprotected running jobs may still keep what
 * they hold. */
static void set_units(struct las *las, bool final)
{
	const struct sched_input *in = las->in;
	int n = 0;

	for (int i = 0; i < las->n_holders; i++) {
		struct las_job *e = &las->jobs[las->holders[i]];
		bool launched = !e->held || (e->replicas != e->held && (final || is_locked(e)));
		double start_s = launched ? in->now_s : e->job->launched_s;

		for (int k = 0; k < e->replicas; k++)
			las->units[n++] = (struct las_unit){
				.owner = e, .minimum = k < e->min, .since_s = in->now_s,
				.free_s = e->job->preemptible ? start_s + in->slice_s : HUGE_VAL,
				.pace = (launched ? e->replicas : e->held) / e->weight,
			};
	}
	while (n < las->n_units)
		las->units[n++] = (struct las_unit){ .free_s = in->now_s };
}

static int sooner(const void *a, const void *b)
{
	const struct las_unit *x = a, *y = b;
	int64_t i = x->owner ? x->owner->job->id : INT64_MIN;
	int64_t j = y->owner ? y->owner->job->id : INT64_MIN;

	if (x->available_s < y->available_s || x->available_s > y->available_s)
		return x->available_s < y->available_s ? -1 : 1;
	return (i > j) - (i < j);
}

/* The time at which the job has its minimum. The first units are then the devices that the job will
 * have. */
static double start_by_units(struct las *las, const struct las_job *e)
{
	for (struct las_unit *u = las->units; u < las->units + las->n_units; u++) {
		u->available_s = fmax(u->free_s, las->in->now_s);
		/* The owner comes first until it has had as much service as this job. */
		if (u->minimum && !e->first && u->owner->key <= e->key)
			u->available_s = fmax(u->available_s,
					      u->since_s + (e->key - u->owner->key) / u->pace);
	}
	qsort(las->units, (size_t)las->n_units, sizeof(*las->units), sooner);
	return e->min <= las->n_units ? las->units[e->min - 1].available_s : HUGE_VAL;
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
	int replicas = is_locked(e) || (e->held && las->gathering) ? e->held : e->min;
	bool may = e->held || (!las->gathering && (e->job->preemptible || !las->blocked));

	if (is_locked(e) && e->held > las->left) {	/* devices went away: fewer, or none */
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
	set_units(las, false);
	if (!(start_by_units(las, e) < las->in->now_s + las->in->slice_s))
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

static struct las_job *neediest(const struct las *las)
{
	struct las_job *best = NULL;
	double least = 0, has;

	for (int i = 0; i < las->n_holders; i++) {
		struct las_job *e = &las->jobs[las->holders[i]];

		if (is_locked(e) || e->replicas >= e->job->max_replicas)
			continue;
		if (!e->job->preemptible && las->blocked)
			continue;	/* the job would keep the devices from the job that waits */
		/* Of two jobs with as much for their weights, the one that held more before; else
		 * the one that comes first by service. */
		has = e->replicas / e->weight;
		if (!best || has < least || (!(has > least) && e->replicas < e->held &&
					     best->replicas >= best->held)) {
			best = e;
			least = has;
		}
	}
	return best;
}

/* --- why each job runs or waits --- */

/* The job starts at start_s on the first of the units. A job that loses one of its minimum then
 * stops, and leaves its other devices too. */
static void reserve(struct las *las, struct las_job *e, double start_s)
{
	for (int i = 0; i < las->n_units; i++) {
		struct las_unit *unit = &las->units[i];

		if (i >= e->min && unit->owner && unit->owner->evictor == e)
			*unit = (struct las_unit){ .free_s = start_s };
		if (i >= e->min)
			continue;
		if (unit->minimum)
			unit->owner->evictor = e;
		*unit = (struct las_unit){
			.owner = e, .minimum = true, .since_s = start_s,
			.free_s = e->job->preemptible ? start_s + las->in->slice_s : HUGE_VAL,
			.pace = e->min / e->weight,
		};
	}
}

/* The walk through the waiting jobs in their order. */
struct line {
	struct las *las;
	int64_t *ids;			/* scratch, n_units */
	const struct las_job *first, *last;	/* in line, so far */
	const struct las_job *stuck;	/* the last that waits for jobs that are not preemptible */
	int length;
};

static void tell_running(const struct line *line, const struct las_job *e, struct verdict *v)
{
	const struct las_job *first = line->first;

	verdict_add(v, fact_has_asked(e->job, e->replicas));
	if (!e->job->preemptible)
		return;
	if (is_locked(e) || e->replicas != e->held)
		verdict_add(v, (struct fact){ FACT_FOR_A_SLICE,
					      .seconds = line->las->in->slice_s });
	else if (first && (first->first || first->key < e->key))
		verdict_add(v, (struct fact){
			first->first ? FACT_UNTIL_PUT_FIRST : FACT_UNTIL_SERVED_LESS,
			.job = first->job->id, .n = first->min,
		});
	else
		verdict_say(v, line->las->n_waiting ? FACT_LEAST_SERVED : FACT_ALONE);
}

/* Tells what the first job in line waits for: the devices of its minimum that others still have. */
static void tell_first(const struct line *line, const struct las_job *e, struct verdict *v)
{
	bool slices = false, service = false;
	struct job_names jobs;
	int n = 0;

	for (int i = 0; i < e->min; i++) {
		const struct las_unit *unit = &line->las->units[i];

		if (!unit->owner || unit->available_s <= line->las->in->now_s)
			continue;
		line->ids[n++] = unit->owner->job->id;
		service |= unit->available_s > unit->free_s;
		slices |= !(unit->available_s > unit->free_s);
	}
	jobs = job_names_of(line->ids, n);
	if (jobs.n)
		verdict_add(v, (struct fact){
			slices && service ? FACT_WAITS_FOR_BOTH
			: slices ? FACT_WAITS_FOR_SLICES : FACT_WAITS_FOR_SERVICE, .jobs = jobs,
		});
}

static void tell_stuck(const struct line *line, const struct las_job *e, struct verdict *v)
{
	const struct las *las = line->las;
	int n = 0;

	for (int i = 0; i < las->n_units; i++)
		if (isinf(las->units[i].free_s))
			line->ids[n++] = las->units[i].owner->job->id;
	verdict_add(v, (struct fact){ FACT_NEEDS_OF, .devices = e->min, .of = las->n_units });
	if (las->n_units - n >= e->min && line->stuck)
		verdict_add(v, (struct fact){ FACT_NOT_BEFORE, .job = line->stuck->job->id });
	else
		verdict_add(v, (struct fact){ FACT_KEPT_BY, .n = n,
					      .jobs = job_names_of(line->ids, n) });
}

/* Returns when the job starts; NaN: that cannot be told. Each job takes the devices that are free
 * soonest, so no job later in line starts sooner. */
static double tell_waiting(struct line *line, struct las_job *e, struct verdict *v)
{
	double start_s = start_by_units(line->las, e);
	double service_s = e->job->attained_service_device_s;

	if (isinf(start_s) || (line->stuck && !e->job->preemptible)) {
		tell_stuck(line, e, v);
		line->stuck = e;
		return (double)NAN;
	}
	verdict_add(v, (struct fact){ e->first ? FACT_IN_LINE_PUT_FIRST : FACT_IN_LINE,
				      .n = ++line->length });
	if (line->last)
		verdict_add(v, (struct fact){ FACT_BEHIND, .job = line->last->job->id });
	verdict_add(v, (struct fact){ FACT_NEEDS, .devices = e->min });
	if (!line->last)
		tell_first(line, e, v);
	else if (service_s > 0)
		verdict_add(v, (struct fact){ FACT_HAS_HAD, .seconds = service_s });
	reserve(line->las, e, start_s);
	if (!line->first)
		line->first = e;
	line->last = e;
	return start_s;
}

/* Makes the choices when all devices have been given. */
static void tell_choices(struct las *las, struct sched_choice *choices)
{
	struct line line = { .las = las, .ids = xcalloc((size_t)las->n_units, sizeof(*line.ids)) };

	set_units(las, true);
	for (int i = 0; i < las->in->n_jobs; i++) {
		struct las_job *e = &las->jobs[i];
		struct sched_choice *choice = &choices[e->index];

		*choice = (struct sched_choice){
			.replicas = e->replicas, .next_start_s = (double)NAN,
		};
		if (e->replicas)
			tell_running(&line, e, &choice->verdict);
		else if (is_possible(las, e))
			choice->next_start_s = tell_waiting(&line, e, &choice->verdict);
		else
			choice->verdict = verdict_of((struct fact){
				FACT_TOO_FEW, .devices = e->min, .of = las->n_units,
			});
	}
	free(line.ids);
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
		if (is_possible(&las, &las.jobs[i]))
			give_minimum(&las, &las.jobs[i]);
	while (!las.gathering && las.left > 0 && (next = neediest(&las)))
		give_replicas(&las, next, 1);
	tell_choices(&las, choices);
	free(las.units);
	free(las.holders);
	free(las.jobs);
}

const struct policy policy_las = {
	.name = "las", .summary = "least attained service first, in time slices",
	.decide = decide_by_service,
};
