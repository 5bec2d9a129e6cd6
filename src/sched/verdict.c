/* verdict.c - see verdict.h; and the facts that policies share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve.h"

struct verdict verdict_of(struct fact fact)
{
	return (struct verdict){ .n = 1, .facts = { fact } };
}

void verdict_add(struct verdict *v, struct fact fact)
{
	if (v->n < VERDICT_FACTS)
		v->facts[v->n++] = fact;
}

void verdict_say(struct verdict *v, enum fact_kind kind)
{
	verdict_add(v, (struct fact){ .kind = kind });
}

void verdict_put_first(struct verdict *v, struct fact fact)
{
	v->n += v->n < VERDICT_FACTS;
	memmove(&v->facts[1], v->facts, (size_t)(v->n - 1) * sizeof(v->facts[0]));
	v->facts[0] = fact;
	v->n_remarks += v->n_remarks < v->n;
}

/* --- names of jobs --- */

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct job_names job_names_of(int64_t *ids, int n)
{
	struct job_names names = { .n = 0 };

	qsort(ids, (size_t)n, sizeof(*ids), compare_ids);
	for (int i = 0; i < n; i++) {
		if (i > 0 && ids[i] == ids[i - 1])
			continue;
		if (names.n < 2)
			names.first[names.n] = ids[i];
		names.n++;
	}
	return names;
}

struct job_names job_names_join(struct job_names a, struct job_names b)
{
	int64_t ids[4];
	struct job_names both;
	int n = 0;

	for (int i = 0; i < a.n && i < 2; i++)
		ids[n++] = a.first[i];
	for (int i = 0; i < b.n && i < 2; i++)
		ids[n++] = b.first[i];
	both = job_names_of(ids, n);
	both.n = a.n + b.n;
	return both;
}

/* --- facts --- */

struct fact fact_has(const struct sched_job *job, int devices)
{
	struct fact fact = { FACT_HAS, .devices = devices, .why_kept = job->why_kept };

	if (!job->preemptible)
		fact.kind = job->why_kept == KEPT_BY_WISH ? FACT_HAS_TO_ITS_END
			    : job->replicas ? FACT_KEEPS : FACT_STARTS_TO_KEEP;
	return fact;
}

struct fact fact_has_asked(const struct sched_job *job, int devices)
{
	struct fact fact = fact_has(job, devices);

	if (devices < job->max_replicas) {
		fact.n = job->min_replicas;
		fact.of = job->max_replicas;
	}
	return fact;
}

struct fact fact_has_at(const struct curves *curves, const struct curve *c, int at)
{
	struct fact fact = fact_has(c->job, curve_devices_at(curves, at));

	if (curves->n_kinds > 1)
		fact.name = curves->kinds[curve_kind_at(curves, at)].name;
	return fact;
}

void verdict_add_needs(struct verdict *v, const struct curve *c)
{
	verdict_add(v, (struct fact){ FACT_NEEDS, .devices = c->least });
	if (!curve_length_is_known(c))
		verdict_say(v, FACT_LENGTH_UNKNOWN);
}

static int least_of(const struct sched_job *job)
{
	return job->min_replicas > 1 ? job->min_replicas : 1;
}

bool kinds_are_too_small(const struct sched_input *in, const struct sched_job *job,
			 struct verdict *v)
{
	int least = least_of(job), all = 0, largest = 0, allowed = 0;

	for (int k = 0; k < in->n_kinds; k++) {
		int n = in->kinds[k].n_devices > 0 ? in->kinds[k].n_devices : 0;

		all += n;
		largest = n > largest ? n : largest;
		allowed = !job->offers[k].barred && n > allowed ? n : allowed;
	}
	if (least <= allowed)
		return false;
	*v = verdict_of((struct fact){
		least > largest && least <= all ? FACT_TOO_FEW_OF_KIND : FACT_TOO_FEW,
		.devices = least,
		.of = least > all ? all : least > largest ? largest : allowed,
	});
	return true;
}

struct verdict verdict_unfit(const struct curves *curves, const struct curve *c)
{
	int min = least_of(c->job), max = c->job->max_replicas > min ? c->job->max_replicas : min;
	bool placeable = false;
	struct verdict v;

	if ((curves->n_kinds > 1 || min > curves->n_devices) &&
	    kinds_are_too_small(curves->in, c->job, &v))
		return v;
	for (int r = min; r <= max && r <= curves->n_devices; r++)
		placeable |= curve_placeable(curves->in, r);
	v = verdict_of((struct fact){ FACT_ASKS, .n = min, .devices = max });
	if (placeable)
		verdict_say(&v, FACT_WORKS_ON_NONE);
	else
		verdict_add(&v, (struct fact){ FACT_EVEN_ON_NODE,
					       .n = curves->in->kinds[0].devices_per_node });
	return v;
}

void verdict_add_gain(struct verdict *v, const struct curves *curves, const struct curve *c,
		      int at)
{
	int more = curve_next(curves, c, at);

	if (isnan(c->unit)) {
		verdict_say(v, FACT_GAIN_UNKNOWN);
		return;
	}
	if (at != c->least_at)
		verdict_add(v, (struct fact){
			FACT_SPEEDUP, .n = c->least, .gain.times = c->of[at] / c->least,
			.name = curves->n_kinds > 1
				? curves->kinds[curve_kind_at(curves, c->least_at)].name : NULL,
		});
	if (more)
		verdict_add(v, (struct fact){
			FACT_MORE_WOULD_ADD, .n = more - at,
			.gain.percent = 100 * (c->of[more] / c->of[at] - 1),
		});
}

void choices_of(const struct curves *curves, const int *at, enum fact_kind waits,
		struct sched_choice *choices)
{
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		struct sched_choice *choice = &choices[c->job - curves->in->jobs];

		*choice = (struct sched_choice){
			.replicas = curve_devices_at(curves, at[i]),
			.kind = curve_kind_at(curves, at[i]), .next_start_s = (double)NAN,
		};
		if (at[i]) {
			verdict_add(&choice->verdict, fact_has_at(curves, c, at[i]));
			if (c->job->preemptible)
				verdict_add_gain(&choice->verdict, curves, c, at[i]);
		} else if (c->least) {
			verdict_add(&choice->verdict,
				    (struct fact){ FACT_NEEDS, .devices = c->least });
			verdict_say(&choice->verdict, waits);
		} else {
			choice->verdict = verdict_unfit(curves, c);
		}
	}
}
