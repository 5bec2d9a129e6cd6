/* policy_las.c - least attained service with a time slice.
 *
 * The order of precedence: jobs that are not preemptible and run; jobs within their slice; all
 * others by attained service / weight, equal ones running before waiting, then by id. A job that
 * runs is thus replaced only by one that has had strictly less, and has always had its slice.
 *
 * 1. In that order each job gets its minimum, or what it holds where it is protected (the first
 *    two kinds), while it fits.
 * 2. The first job that does not fit gathers devices: unprotected jobs behind it may run on with
 *    what they hold, but nothing is launched behind it, not even a running job on fewer devices:
 *    its new slice would count again, and a job of 2 devices would starve behind jobs of 1 whose
 *    slices end at different times. Exception: if it cannot start for a whole slice anyway, what is
 *    launched now delays it by nothing (backfilling against a reservation, as in D. A. Lifka, "The
 *    ANL/IBM SP scheduling system", 1995, but exact, as slices are known). Without the exception
 *    one long job that is not preemptible would idle all other devices behind a wide job. Not
 *    excepted: jobs that are not preemptible, which would hold on to the devices.
 * 3. Devices left over are shared evenly (by weight, one at a time), up to each maximum, among the
 *    unprotected and the new. Evenly, not all to the least served: the second device of a job adds
 *    more than its third, and an even split stays as it is when slices end. A job that runs gives
 *    up devices only where another gains; on a tie it keeps them. While a job gathers devices
 *    nothing is shared out: a job that runs keeps what it holds or, if that is not there any more,
 *    has its minimum.
 *
 * Why nobody starves (the bound in policy.h). Let W wait and A be the jobs that come before it.
 * While any job of A runs, the sum of what A lacks to W's service/weight falls by at least a
 * device-second a second. While none runs, the first of A, and W once A is empty, waits only for
 * slices of jobs behind it: by rule 2 all of these are over within one slice, and it starts. Such a
 * time without A begins only when a job of A has left it, so there are at most |A| + 1 of them. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/policy.h"
#include "reason.h"

enum rank { RANK_NOT_PREEMPTIBLE, RANK_IN_SLICE, RANK_BY_SERVICE };

struct entry {
	const struct sched_job *job;
	int index;		/* in the input */
	int min, held;
	double weight, key;	/* service / weight, seconds */
	enum rank rank;
	int replicas;		/* decided so far */
	const struct entry *evictor;	/* the last in line that was to take its devices */
};

struct las {
	const struct sched_input *in;
	struct entry *entries;	/* n_jobs of them, in order of precedence */
	int *holders;		/* which entries have devices by this decision, in order */
	int n_holders;		/* at most n_devices */
	int n_waiting;		/* of those that n_devices suffice for */
	int left;		/* devices not given yet */
	bool blocked;		/* a job did not fit */
	bool gathering;		/* one of them starts within a slice */
};

/* A device as waiting jobs see it: who has it, and from when on it is theirs to take. */
struct unit {
	struct entry *owner;		/* NULL: free */
	double free_s;			/* the owner's slice is over; INFINITY: never */
	bool minimum;			/* one of those that the owner gives up only to jobs before it */
	double since_s, pace;		/* owner's key at t: key + (t - since_s) * pace */
	double available_s;		/* to the job in question */
};

struct timeline {
	struct unit *units;	/* n_devices of them */
	int n;
	double now_s;
};

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* --- the order --- */

static bool is_locked(const struct entry *e)
{
	return e->rank != RANK_BY_SERVICE;
}

static enum rank rank_of(const struct sched_input *in, const struct sched_job *job)
{
	double age_s = in->now_s - job->launched_s;

	if (job->replicas <= 0)
		return RANK_BY_SERVICE;
	if (!job->preemptible)
		return RANK_NOT_PREEMPTIBLE;
	/* A launch in the future is a clock set back: better a slice cut short than one for ever. */
	return age_s >= 0 && age_s < in->slice_s ? RANK_IN_SLICE : RANK_BY_SERVICE;
}

static struct entry entry_of(const struct sched_input *in, int index)
{
	const struct sched_job *job = &in->jobs[index];
	double service = job->attained_service_device_s;
	double weight = job->weight > 0 && isfinite(job->weight) ? job->weight : 1;

	return (struct entry){
		.job = job,
		.index = index,
		.min = larger(job->min_replicas, 1),
		.held = larger(job->replicas, 0),
		.weight = weight,
		.key = service > 0 ? service / weight : 0,
		.rank = rank_of(in, job),
	};
}

static int precedence(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->key < y->key || x->key > y->key)
		return x->key < y->key ? -1 : 1;
	if (!x->held != !y->held)
		return x->held ? -1 : 1;
	if (x->job->id != y->job->id)
		return x->job->id < y->job->id ? -1 : 1;
	return x->index - y->index;
}

/* --- when a waiting job can start --- */

static struct unit unit_of(const struct las *las, struct entry *e, bool final)
{
	const struct sched_input *in = las->in;
	/* What is to be launched by this decision; before it is final, unprotected jobs that run
	 * may still come to keep what they hold. */
	bool launched = !e->held || (e->replicas != e->held && (final || is_locked(e)));
	int replicas = launched ? e->replicas : e->held;
	double start_s = launched ? in->now_s : e->job->launched_s;

	return (struct unit){
		.owner = e,
		.free_s = e->job->preemptible ? start_s + in->slice_s : HUGE_VAL,
		.since_s = in->now_s,
		.pace = replicas / e->weight,
	};
}

static void timeline_set(const struct las *las, struct timeline *t, bool final)
{
	t->n = 0;
	for (int i = 0; i < las->n_holders; i++) {
		struct entry *e = &las->entries[las->holders[i]];
		struct unit unit = unit_of(las, e, final);

		for (int k = 0; k < e->replicas; k++) {
			unit.minimum = k < e->min;
			t->units[t->n++] = unit;
		}
	}
	while (t->n < las->in->n_devices)
		t->units[t->n++] = (struct unit){ .free_s = t->now_s };
}

static double available_s(const struct unit *unit, const struct entry *e, double now_s)
{
	double at_s = fmax(unit->free_s, now_s);

	/* The owner goes first until it has had as much. */
	if (unit->minimum && unit->owner->key <= e->key)
		at_s = fmax(at_s, unit->since_s + (e->key - unit->owner->key) / unit->pace);
	return at_s;
}

static int sooner(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;
	int64_t i = x->owner ? x->owner->job->id : INT64_MIN;
	int64_t j = y->owner ? y->owner->job->id : INT64_MIN;

	if (x->available_s < y->available_s || x->available_s > y->available_s)
		return x->available_s < y->available_s ? -1 : 1;
	return (i > j) - (i < j);
}

/* When the job has its minimum, INFINITY if that cannot be told. The devices that it will have are
 * the first of the units then. */
static double timeline_start_s(struct timeline *t, const struct entry *e)
{
	for (int i = 0; i < t->n; i++)
		t->units[i].available_s = available_s(&t->units[i], e, t->now_s);
	qsort(t->units, (size_t)t->n, sizeof(*t->units), sooner);
	return e->min <= t->n ? t->units[e->min - 1].available_s : HUGE_VAL;
}

/* The job starts at start_s on the first of the units. Who loses one of its minimum then stops, and
 * leaves the others too. */
static void timeline_reserve(const struct las *las, struct timeline *t, struct entry *e,
			     double start_s)
{
	for (int i = 0; i < t->n; i++) {
		struct unit *unit = &t->units[i];

		if (i >= e->min && unit->owner && unit->owner->evictor == e)
			*unit = (struct unit){ .free_s = start_s };
		if (i >= e->min)
			continue;
		if (unit->minimum)
			unit->owner->evictor = e;
		*unit = (struct unit){
			.owner = e,
			.free_s = e->job->preemptible ? start_s + las->in->slice_s : HUGE_VAL,
			.minimum = true,
			.since_s = start_s,
			.pace = e->min / e->weight,
		};
	}
}

/* --- rule 1 and 2: minimums --- */

static bool is_possible(const struct las *las, const struct entry *e)
{
	return e->min <= las->in->n_devices;
}

static void give(struct las *las, struct entry *e, int replicas)
{
	if (!e->replicas)
		las->holders[las->n_holders++] = (int)(e - las->entries);
	e->replicas += replicas;
	las->left -= replicas;
}

static bool may_launch(const struct las *las, const struct entry *e)
{
	return !las->gathering && (e->job->preemptible || !las->blocked);
}

/* The running jobs that come before one that gathers devices: as they are, or on their minimum. */
static void give_back_held(struct las *las)
{
	for (int i = 0; i < las->n_holders; i++) {
		struct entry *e = &las->entries[las->holders[i]];

		if (e->held > e->replicas && e->held - e->replicas <= las->left)
			give(las, e, e->held - e->replicas);
	}
}

static void block(struct las *las, struct timeline *t, const struct entry *e)
{
	las->blocked = true;
	timeline_set(las, t, false);
	if (timeline_start_s(t, e) < las->in->now_s + las->in->slice_s) {
		las->gathering = true;
		give_back_held(las);
	}
}

static int wanted(const struct las *las, const struct entry *e)
{
	if (is_locked(e) && e->held > las->left)	/* devices went away: fewer, or none */
		return larger(smaller(las->left, e->job->max_replicas), e->min);
	return is_locked(e) || (e->held && las->gathering) ? e->held : e->min;
}

static void give_minimum(struct las *las, struct timeline *t, struct entry *e)
{
	int replicas = wanted(las, e);
	bool fits = replicas <= las->left;
	bool may = e->held || may_launch(las, e);

	if (fits && may) {
		give(las, e, replicas);
		return;
	}
	las->n_waiting++;
	if (may && !las->gathering)
		block(las, t, e);
}

/* --- rule 3: what is left over --- */

/* Whether a should get the next device rather than b, which comes first by service. */
static bool needs_more(const struct entry *a, const struct entry *b)
{
	double x = a->replicas / a->weight, y = b->replicas / b->weight;

	if (x < y || x > y)
		return x < y;
	return a->replicas < a->held && b->replicas >= b->held;
}

static struct entry *neediest(const struct las *las)
{
	struct entry *best = NULL;

	for (int i = 0; i < las->n_holders; i++) {
		struct entry *e = &las->entries[las->holders[i]];

		if (is_locked(e) || e->replicas >= e->job->max_replicas)
			continue;
		if (!e->job->preemptible && las->blocked)
			continue;	/* it would keep them from the one that waits */
		if (!best || needs_more(e, best))
			best = e;
	}
	return best;
}

static void share_out(struct las *las)
{
	struct entry *e;

	while (las->left > 0 && (e = neediest(las)))
		give(las, e, 1);
}

/* --- reasons --- */

/* What the telling of one decision remembers from job to job, in order. */
struct line {
	struct las *las;
	struct timeline timeline;
	int64_t *ids;			/* scratch, n_devices */
	const struct entry *first, *last;	/* in line, so far */
	const struct entry *stuck;	/* the last that waits for jobs that are not preemptible */
	int length;
};

static void explain_running(const struct line *line, const struct entry *e, char *reason)
{
	const struct las *las = line->las;

	reason_add_share(reason, e->job, e->replicas);
	if (!e->job->preemptible)
		reason_add(reason, " to its end: not preemptible");
	else if (is_locked(e) || e->replicas != e->held)
		reason_add(reason, " for a slice of %g s", las->in->slice_s);
	else if (line->first && line->first->key < e->key)
		reason_add(reason, " until job %lld, served less, can have %d",
			   (long long)line->first->job->id, line->first->min);
	else if (las->n_waiting)
		reason_add(reason, "; no waiting job has had less service");
	else
		reason_add(reason, "; no other job waits");
}

static void explain_first(struct line *line, const struct entry *e, char *reason)
{
	const struct timeline *t = &line->timeline;
	bool slices = false, service = false;	/* what it waits for */
	int n = 0;

	for (int i = 0; i < e->min; i++) {
		const struct unit *unit = &t->units[i];

		if (!unit->owner || unit->available_s <= t->now_s)
			continue;
		line->ids[n++] = unit->owner->job->id;
		if (unit->available_s > unit->free_s)
			service = true;
		else
			slices = true;
	}
	reason_add(reason, "1st in line; needs ");
	reason_add_devices(reason, e->min);
	if (!n)
		return;
	reason_add(reason, "; waits for ");
	n = reason_add_jobs(reason, line->ids, n);
	if (slices)
		reason_add(reason, n > 1 ? " to end their slices" : " to end its slice");
	if (service)
		reason_add(reason, slices ? " or to have had as much" : " to have had as much");
}

static void explain_later(const struct line *line, const struct entry *e, char *reason)
{
	double service_s = e->job->attained_service_device_s;

	reason_add_ordinal(reason, line->length);
	reason_add(reason, " in line, after job %lld; needs ", (long long)line->last->job->id);
	reason_add_devices(reason, e->min);
	if (service_s > 0)
		reason_add(reason, "; has had %.2g device-hours", service_s / 3600);
}

static void explain_stuck(struct line *line, const struct entry *e, char *reason)
{
	int n = 0;

	for (int i = 0; i < line->timeline.n; i++)
		if (isinf(line->timeline.units[i].free_s))
			line->ids[n++] = line->timeline.units[i].owner->job->id;
	reason_add(reason, "needs ");
	reason_add_devices(reason, e->min);
	reason_add(reason, " of %d; ", line->las->in->n_devices);
	if (line->las->in->n_devices - n < e->min || !line->stuck) {
		int held = n;

		n = reason_add_jobs(reason, line->ids, n);
		reason_add(reason, n > 1 ? ", not preemptible, keep %d" : ", not preemptible, keeps %d",
			   held);
	} else {
		reason_add(reason, "not preemptible, so not before job %lld",
			   (long long)line->stuck->job->id);
	}
}

static void explain_waiting(struct line *line, struct entry *e, struct sched_choice *choice)
{
	/* Each job takes the devices that are there soonest, so nobody later in line starts sooner. */
	double start_s = timeline_start_s(&line->timeline, e);

	if (isinf(start_s) || (line->stuck && !e->job->preemptible)) {
		explain_stuck(line, e, choice->reason);
		line->stuck = e;
		return;
	}
	choice->next_start_s = start_s;
	line->length++;
	if (line->last)
		explain_later(line, e, choice->reason);
	else
		explain_first(line, e, choice->reason);
	timeline_reserve(line->las, &line->timeline, e, start_s);
	if (!line->first)
		line->first = e;
	line->last = e;
}

static void explain(struct las *las, struct timeline *t, struct sched_choice *choices)
{
	struct line line = {
		.las = las,
		.timeline = *t,
		.ids = xcalloc((size_t)t->n, sizeof(*line.ids)),
	};

	timeline_set(las, &line.timeline, true);
	for (int i = 0; i < las->in->n_jobs; i++) {
		struct entry *e = &las->entries[i];
		struct sched_choice *choice = &choices[e->index];

		*choice = (struct sched_choice){ .replicas = e->replicas, .next_start_s = (double)NAN };
		if (e->replicas)
			explain_running(&line, e, choice->reason);
		else if (is_possible(las, e))
			explain_waiting(&line, e, choice);
		else
			reason_add_impossible(choice->reason, e->min, las->in->n_devices);
	}
	free(line.ids);
}

static void decide(const struct sched_input *in, struct sched_choice *choices)
{
	size_t n_jobs = (size_t)in->n_jobs, n_devices = (size_t)larger(in->n_devices, 0);
	struct las las = {
		.in = in,
		.entries = xcalloc(n_jobs, sizeof(*las.entries)),
		.holders = xcalloc(n_devices, sizeof(*las.holders)),
		.left = in->n_devices,
	};
	struct timeline timeline = {
		.units = xcalloc(n_devices, sizeof(*timeline.units)),
		.n = (int)n_devices,
		.now_s = in->now_s,
	};

	for (int i = 0; i < in->n_jobs; i++)
		las.entries[i] = entry_of(in, i);
	qsort(las.entries, n_jobs, sizeof(*las.entries), precedence);
	for (int i = 0; i < in->n_jobs; i++)
		if (is_possible(&las, &las.entries[i]))
			give_minimum(&las, &timeline, &las.entries[i]);
	if (!las.gathering)
		share_out(&las);
	explain(&las, &timeline, choices);
	free(timeline.units);
	free(las.holders);
	free(las.entries);
}

const struct policy policy_las = {
	.name = "las",
	.summary = "least attained service first, in time slices",
	.decide = decide,
};
