/* las_line.c - when waiting jobs can start, and why each job runs or waits, see las.h. */
#include <math.h>
#include <stdlib.h>

#include "las.h"
#include "pollux/mem.h"
#include "reason.h"

/* --- when devices come free --- */

/* final: all devices have been given. Before that, unprotected running jobs may still keep what
 * they hold. */
static void set_units(struct las *las, bool final)
{
	const struct sched_input *in = las->in;
	int n = 0;

	for (int i = 0; i < las->n_holders; i++) {
		struct las_job *e = &las->jobs[las->holders[i]];
		bool launched = !e->held || (e->replicas != e->held && (final || las_is_locked(e)));
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

double las_start_s(struct las *las, const struct las_job *e)
{
	set_units(las, false);
	return start_by_units(las, e);
}

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

/* --- why each job runs or waits --- */

/* The walk through the waiting jobs in their order. */
struct line {
	struct las *las;
	int64_t *ids;			/* scratch, n_units */
	const struct las_job *first, *last;	/* in line, so far */
	const struct las_job *stuck;	/* the last that waits for jobs that are not preemptible */
	int length;
};

static void tell_running(const struct line *line, const struct las_job *e, char *reason)
{
	const struct las_job *first = line->first;

	reason_begin_kept(reason, e->job);
	reason_add_share(reason, e->job, e->replicas);
	reason_end_kept(reason, e->job);
	if (!e->job->preemptible)
		return;
	if (las_is_locked(e) || e->replicas != e->held)
		reason_add(reason, " for a slice of %g s", line->las->in->slice_s);
	else if (first && (first->first || first->key < e->key))
		reason_add(reason, " until job %lld, %s, can have %d", (long long)first->job->id,
			   first->first ? "put first" : "served less", first->min);
	else
		reason_add_text(reason, line->las->n_waiting
						? "; no waiting job has had less service"
						: "; no other job waits");
}

/* Tells what the first job in line waits for: the devices of its minimum that others still have. */
static void tell_first(const struct line *line, const struct las_job *e, char *reason)
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
	if (!jobs.n)
		return;
	reason_add_text(reason, "; waits for ");
	reason_add_jobs(reason, &jobs);
	if (slices)
		reason_add_text(reason, jobs.n > 1 ? " to end their slices" : " to end its slice");
	if (service)
		reason_add(reason, "%s to have had as much", slices ? " or" : "");
}

static void tell_stuck(const struct line *line, const struct las_job *e, char *reason)
{
	const struct las *las = line->las;
	struct job_names jobs;
	int n = 0;

	for (int i = 0; i < las->n_units; i++)
		if (isinf(las->units[i].free_s))
			line->ids[n++] = las->units[i].owner->job->id;
	reason_add_text(reason, "needs ");
	reason_add_devices(reason, e->min);
	reason_add(reason, " of %d; ", las->n_units);
	if (las->n_units - n >= e->min && line->stuck) {
		reason_add(reason, "not preemptible, so not before job %lld",
			   (long long)line->stuck->job->id);
		return;
	}
	jobs = job_names_of(line->ids, n);
	reason_add_jobs(reason, &jobs);
	reason_add(reason, ", not preemptible, keep%s %d", jobs.n > 1 ? "" : "s", n);
}

/* Returns when the job starts; NaN: that cannot be told. Each job takes the devices that are free
 * soonest, so no job later in line starts sooner. */
static double tell_waiting(struct line *line, struct las_job *e, char *reason)
{
	double start_s = start_by_units(line->las, e);
	double service_s = e->job->attained_service_device_s;

	if (isinf(start_s) || (line->stuck && !e->job->preemptible)) {
		tell_stuck(line, e, reason);
		line->stuck = e;
		return (double)NAN;
	}
	reason_add_ordinal(reason, ++line->length);
	reason_add_text(reason, e->first ? " in line, put first" : " in line");
	if (line->last)
		reason_add(reason, ", after job %lld", (long long)line->last->job->id);
	reason_add_text(reason, "; needs ");
	reason_add_devices(reason, e->min);
	if (!line->last)
		tell_first(line, e, reason);
	else if (service_s > 0)
		reason_add(reason, "; has had %.2g device-hours", service_s / 3600);
	reserve(line->las, e, start_s);
	if (!line->first)
		line->first = e;
	line->last = e;
	return start_s;
}

void las_tell(struct las *las, struct sched_choice *choices)
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
			tell_running(&line, e, choice->reason);
		else if (las_is_possible(las, e))
			choice->next_start_s = tell_waiting(&line, e, choice->reason);
		else
			reason_add_impossible(choice->reason, e->min, las->n_units);
	}
	free(line.ids);
}
