/* las_timeline.c - when waiting jobs can start, see las.h. */
#include <math.h>
#include <stdlib.h>

#include "las.h"

static struct las_unit unit_of(const struct las *las, struct las_job *e, bool final)
{
	const struct sched_input *in = las->in;
	/* True for a job that this decision launches. Until the decision is final, unprotected
	 * running jobs may still keep what they hold. */
	bool launched = !e->held || (e->replicas != e->held && (final || las_is_locked(e)));
	int replicas = launched ? e->replicas : e->held;
	double start_s = launched ? in->now_s : e->job->launched_s;

	return (struct las_unit){
		.owner = e, .free_s = e->job->preemptible ? start_s + in->slice_s : HUGE_VAL,
		.since_s = in->now_s,
		.pace = replicas / e->weight,
	};
}

void las_timeline_set(const struct las *las, struct las_timeline *t, bool final)
{
	t->n = 0;
	for (int i = 0; i < las->n_holders; i++) {
		struct las_job *e = &las->jobs[las->holders[i]];
		struct las_unit unit = unit_of(las, e, final);

		for (int k = 0; k < e->replicas; k++) {
			unit.minimum = k < e->min;
			t->units[t->n++] = unit;
		}
	}
	while (t->n < sched_devices(las->in))
		t->units[t->n++] = (struct las_unit){ .free_s = t->now_s };
}

static double available_s(const struct las_unit *unit, const struct las_job *e, double now_s)
{
	double at_s = fmax(unit->free_s, now_s);

	/* The owner comes first until it has had as much service as this job. */
	if (unit->minimum && !e->first && unit->owner->key <= e->key)
		at_s = fmax(at_s, unit->since_s + (e->key - unit->owner->key) / unit->pace);
	return at_s;
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

double las_timeline_start_s(struct las_timeline *t, const struct las_job *e)
{
	for (int i = 0; i < t->n; i++)
		t->units[i].available_s = available_s(&t->units[i], e, t->now_s);
	qsort(t->units, (size_t)t->n, sizeof(*t->units), sooner);
	return e->min <= t->n ? t->units[e->min - 1].available_s : HUGE_VAL;
}

void las_timeline_reserve(const struct las *las, struct las_timeline *t, struct las_job *e,
			  double start_s)
{
	for (int i = 0; i < t->n; i++) {
		struct las_unit *unit = &t->units[i];

		if (i >= e->min && unit->owner && unit->owner->evictor == e)
			*unit = (struct las_unit){ .free_s = start_s };
		if (i >= e->min)
			continue;
		if (unit->minimum)
			unit->owner->evictor = e;
		*unit = (struct las_unit){
			.owner = e,
			.free_s = e->job->preemptible ? start_s + las->in->slice_s : HUGE_VAL,
			.minimum = true, .since_s = start_s,
			.pace = e->min / e->weight,
		};
	}
}
