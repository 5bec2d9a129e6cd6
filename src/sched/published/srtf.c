/* srtf.c - shortest remaining time first, to compare with.
 *
 * L. Schrage, "A proof of the optimality of the shortest remaining processing time discipline",
 * Oper. Res. 16 (1968), for one machine. Jobs are ordered by their remaining time on the fewest
 * devices that they may have. If it is not known, the service had so far takes its place, since a
 * job that has run for long will run for long. Among equals running jobs come first, then smaller
 * ids. In that order
 *
 *	1. each job gets the fewest devices that it may have, if as many are left;
 *	2. running jobs get back the others that they hold, if as many are left;
 *	3. jobs that start get more, while devices are left and add to their goodput.
 *
 * There are no slices, and a long job may wait for ever. Running jobs that are not preemptible keep
 * what they hold. */
#include <math.h>
#include <stdlib.h>

#include "../claims.h"
#include "../curve.h"
#include "pollux/mem.h"

struct entry {
	int index;		/* of the curve */
	bool runs;
	double left_s;
};

struct queue {
	const struct curves *curves;
	const struct claims *claims;
	struct entry *entries;	/* shortest first */
	int *count;		/* by index */
	int left;
};

static int shorter(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->left_s < y->left_s || x->left_s > y->left_s)
		return x->left_s < y->left_s ? -1 : 1;
	if (x->runs != y->runs)
		return x->runs ? -1 : 1;
	return x->index - y->index;
}

static bool is_fixed(const struct queue *q, int index)
{
	return q->claims->items[index].kind == CLAIM_EXACT;
}

static void give_replicas(struct queue *q, int index, int replicas)
{
	q->left -= replicas - q->count[index];
	q->count[index] = replicas;
}

static void give_least(struct queue *q, int n)
{
	for (int i = 0; i < n; i++)
		if (is_fixed(q, i))
			give_replicas(q, i, q->claims->items[i].at);
	for (int i = 0; i < n; i++) {
		int index = q->entries[i].index, least = q->curves->items[index].least;

		if (!is_fixed(q, index) && least && least <= q->left)
			give_replicas(q, index, least);
	}
}

static void give_back(struct queue *q, int n)
{
	for (int i = 0; i < n; i++) {
		int index = q->entries[i].index, held = q->curves->items[index].held;

		if (!is_fixed(q, index) && q->count[index] && held > q->count[index] &&
		    held - q->count[index] <= q->left)
			give_replicas(q, index, held);
	}
}

static void explain_choice(const struct queue *q, const struct entry *e, int line,
			   struct verdict *v)
{
	const struct curve *c = &q->curves->items[e->index];

	if (!q->count[e->index] && !c->least) {
		*v = verdict_unfit(q->curves, c);
		return;
	}
	if (line) {
		verdict_add(v, (struct fact){ FACT_IN_LINE, .n = line });
		verdict_add_needs(v, c);
		verdict_say(v, FACT_SHORTER_FIRST);
		return;
	}
	if (is_fixed(q, e->index)) {
		verdict_add(v, fact_has(c->job, q->count[e->index]));
		return;
	}
	verdict_add(v, (struct fact){ FACT_HAS, .devices = q->count[e->index] });
	verdict_say(v, isnan(c->remaining_device_s) ? FACT_BY_SERVICE : FACT_SHORTEST_FIRST);
}

static void decide_by_remaining(const struct sched_input *in, struct sched_choice *choices)
{
	scoped(curves_release) struct curves curves = curves_of(in);
	scoped(claims_release) struct claims claims = claims_of_fixed(&curves);
	struct queue q = {
		.curves = &curves, .claims = &claims, .left = curves.n_devices,
		.entries = xcalloc((size_t)in->n_jobs, sizeof(*q.entries)),
		.count = xcalloc((size_t)in->n_jobs, sizeof(*q.count)),
	};
	int line = 0;

	for (int i = 0; i < in->n_jobs; i++) {
		const struct curve *c = &curves.items[i];
		double device_s = isnan(c->remaining_device_s)
			? curve_service_device_s(c) : c->remaining_device_s;

		q.entries[i] = (struct entry){ .index = i, .runs = c->held > 0,
					       .left_s = device_s / (c->least > 0 ? c->least : 1) };
	}
	qsort(q.entries, (size_t)in->n_jobs, sizeof(*q.entries), shorter);
	give_least(&q, in->n_jobs);
	give_back(&q, in->n_jobs);
	for (int i = 0; i < in->n_jobs; i++) {
		const struct entry *e = &q.entries[i];
		const struct curve *c = &curves.items[e->index];
		struct sched_choice *choice = &choices[c->job - in->jobs];
		int count = q.count[e->index], next;

		while (!e->runs && count && !is_fixed(&q, e->index) &&
		       (next = curve_next(&curves, c, count)) && next - count <= q.left &&
		       c->of[next] > c->of[count]) {
			give_replicas(&q, e->index, next);
			count = next;
		}
		*choice = (struct sched_choice){ .replicas = q.count[e->index],
						 .next_start_s = (double)NAN };
		explain_choice(&q, e, choice->replicas || !c->least ? 0 : ++line, &choice->verdict);
	}
	free(q.entries);
	free(q.count);
}

const struct policy policy_srtf = {
	.name = "srtf", .summary = "shortest remaining time first", .models_goodput = true,
	.decide = decide_by_remaining,
};
