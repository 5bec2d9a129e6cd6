/* las_line.c - why each job runs or waits, see las.h. */
#include <math.h>
#include <stdlib.h>

#include "las.h"
#include "pollux/mem.h"

/* The walk through the waiting jobs in their order. */
struct line {
	struct las *las;
	struct las_timeline timeline;
	int64_t *ids;			/* scratch, n_devices */
	const struct las_job *first, *last;	/* in line, so far */
	const struct las_job *stuck;	/* the last that waits for jobs that are not preemptible */
	int length;
};

static struct las_fact running(const struct line *line, const struct las_job *e)
{
	const struct las_job *first = line->first;

	if (!e->job->preemptible)
		return (struct las_fact){ .why = LAS_TO_ITS_END };
	if (las_is_locked(e) || e->replicas != e->held)
		return (struct las_fact){ .why = LAS_FOR_A_SLICE };
	if (first && (first->first || first->key < e->key))
		return (struct las_fact){
			.why = first->first ? LAS_UNTIL_FIRST : LAS_UNTIL_SERVED,
			.id = first->job->id, .devices = first->min,
		};
	return (struct las_fact){ .why = line->las->n_waiting ? LAS_LEAST_SERVED : LAS_ALONE };
}

/* What the first job in line waits for: the devices of its minimum that others still have. */
static struct las_fact first_in_line(const struct line *line, const struct las_job *e)
{
	const struct las_timeline *t = &line->timeline;
	struct las_fact fact = { .why = LAS_FIRST };
	int n = 0;

	for (int i = 0; i < e->min; i++) {
		const struct las_unit *unit = &t->units[i];

		if (!unit->owner || unit->available_s <= t->now_s)
			continue;
		line->ids[n++] = unit->owner->job->id;
		if (unit->available_s > unit->free_s)
			fact.service = true;
		else
			fact.slices = true;
	}
	fact.jobs = job_names_of(line->ids, n);
	return fact;
}

static struct las_fact stuck(const struct line *line, const struct las_job *e)
{
	int n = 0;

	for (int i = 0; i < line->timeline.n; i++)
		if (isinf(line->timeline.units[i].free_s))
			line->ids[n++] = line->timeline.units[i].owner->job->id;
	if (sched_devices(line->las->in) - n >= e->min && line->stuck)
		return (struct las_fact){ .why = LAS_STUCK, .id = line->stuck->job->id };
	return (struct las_fact){
		.why = LAS_KEEPERS, .jobs = job_names_of(line->ids, n), .devices = n,
	};
}

static struct las_fact waiting(struct line *line, struct las_job *e)
{
	/* Each job takes the devices that are free soonest, so no job later in line starts
	 * sooner. */
	double start_s = las_timeline_start_s(&line->timeline, e);
	struct las_fact fact;

	if (isinf(start_s) || (line->stuck && !e->job->preemptible)) {
		fact = stuck(line, e);
		fact.start_s = (double)NAN;
		line->stuck = e;
		return fact;
	}
	if (line->last)
		fact = (struct las_fact){ .why = LAS_LATER, .id = line->last->job->id };
	else
		fact = first_in_line(line, e);
	fact.place = ++line->length;
	fact.start_s = start_s;
	las_timeline_reserve(line->las, &line->timeline, e, start_s);
	if (!line->first)
		line->first = e;
	line->last = e;
	return fact;
}

void las_facts(struct las *las, struct las_timeline *t, struct las_fact *facts)
{
	struct line line = {
		.las = las, .timeline = *t, .ids = xcalloc((size_t)t->n, sizeof(*line.ids)),
	};

	las_timeline_set(las, &line.timeline, true);
	for (int i = 0; i < las->in->n_jobs; i++) {
		struct las_job *e = &las->jobs[i];
		bool possible = las_is_possible(las, e);

		if (!e->replicas && possible) {
			facts[i] = waiting(&line, e);
			continue;
		}
		facts[i] = e->replicas ? running(&line, e)
				       : (struct las_fact){ .why = LAS_IMPOSSIBLE };
		facts[i].start_s = (double)NAN;
	}
	free(line.ids);
}
