/* allocation_exact.c - the dynamic program over jobs and what is left of each kind.
 *
 * best[j][left], the most that jobs j, j + 1, ... can be worth on what is left, is the maximum over
 * the choices of job j of value + best[j + 1][left - choice]: R. Bellman, "Dynamic Programming",
 * 1957, chapter 1. Only two rows of the table are kept, and for each maximum its choice. */
#include <math.h>
#include <stdlib.h>

#include "allocation.h"
#include "pollux/mem.h"

#define VALUE_BITS 48

/* Allocations are compared by value, then by rank. */
struct total {
	int64_t value;		/* INT64_MIN: not allowed */
	int64_t rank;		/* jobs that keep what they hold * (n_devices + 1) - devices used */
};

struct table {
	int n_states, n, exponent;	/* n kinds, and memory; the unit of values is 2^exponent */
	int stride[SCHED_KINDS + 1];	/* of a device of each kind, in states */
	int *left;			/* [state * n + kind] */
	struct total *row, *next;
	int *taken;			/* [job * n_states + state]: index of the choice */
};

static int exponent_of(const struct allocation_job *jobs, int n_jobs, int n_devices)
{
	double largest = 0;
	int exponent, jobs_bits, bits = VALUE_BITS;

	for (int j = 0; j < n_jobs; j++)
		for (int r = 0; r <= n_devices; r++)
			if (isfinite(jobs[j].value[r]))
				largest = fmax(largest, fabs(jobs[j].value[r]));
	frexp(largest, &exponent);
	frexp(n_jobs, &jobs_bits);
	if (bits + jobs_bits > 62)
		bits = 62 - jobs_bits;
	return exponent - bits;
}

static void add_job(const struct table *t, const struct search *s, int j)
{
	int *taken = &t->taken[(size_t)j * (size_t)t->n_states];

	for (int state = 0; state < t->n_states; state++) {
		t->row[state] = (struct total){ INT64_MIN, 0 };
		taken[state] = -1;
	}
	for (int i = s->jobs[j].first; i < s->jobs[j].first + s->jobs[j].n; i++) {
		const struct choice *c = &s->choices[i];
		int64_t value = llrint(ldexp(c->value, -t->exponent));
		int rank = (c->at == s->given[j].held ? s->n_devices + 1 : 0) - c->devices;
		int step = c->devices * t->stride[c->kind] + c->units * t->stride[t->n - 1];
		int devices = c->devices, units = c->units, memory = t->n - 1 - c->kind;
		const int *left = &t->left[(size_t)step * (size_t)t->n + (size_t)c->kind];

		for (int state = step; state < t->n_states; state++, left += t->n) {
			struct total sum = t->next[state - step], *best = &t->row[state];

			if (*left < devices || (units && left[memory] < units) ||
			    sum.value == INT64_MIN)
				continue;
			sum.value += value;
			sum.rank += rank;
			if (sum.value > best->value ||
			    (sum.value == best->value && sum.rank > best->rank)) {
				*best = sum;
				taken[state] = i;
			}
		}
	}
}

bool search_all(const struct search *s, int *chosen)
{
	int n = s->n_kinds + s->in_memory;
	struct table t = {
		.n_states = 1, .n = n, .exponent = exponent_of(s->given, s->n_jobs, s->n_devices),
	};
	size_t states;
	int state;
	bool allowed;

	for (int k = 0; k < n; k++) {
		t.stride[k] = t.n_states;
		t.n_states *= s->capacity[k] + 1;
	}
	states = (size_t)t.n_states;
	state = t.n_states - 1;
	t.left = xcalloc(states * (size_t)n, sizeof(*t.left));
	t.row = xcalloc(states, sizeof(*t.row));
	t.next = xcalloc(states, sizeof(*t.next));
	t.taken = xcalloc((size_t)s->n_jobs * states, sizeof(*t.taken));
	for (int at = 0; at < t.n_states; at++)
		for (int k = 0; k < n; k++)
			t.left[at * n + k] = at / t.stride[k] % (s->capacity[k] + 1);
	/* The last job comes first here, so that the first job chooses first below. */
	for (int j = s->n_jobs - 1; j >= 0; j--) {
		struct total *swap = t.row;

		add_job(&t, s, j);
		t.row = t.next;
		t.next = swap;
	}
	allowed = t.next[state].value != INT64_MIN;
	for (int j = 0; allowed && j < s->n_jobs; j++) {
		const struct choice *c;

		chosen[j] = t.taken[(size_t)j * states + (size_t)state];
		c = &s->choices[chosen[j]];
		state -= c->devices * t.stride[c->kind] + c->units * t.stride[n - 1];
	}
	free(t.left);
	free(t.row);
	free(t.next);
	free(t.taken);
	return allowed;
}
