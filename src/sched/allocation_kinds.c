/* allocation_kinds.c - the dynamic program over jobs and what is left of each kind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocation_kinds.h"
#include "allocation.h"
#include "pollux/mem.h"

#define MOST_LOOKS 4000000.0	/* options times states: some tens of milliseconds */

/* --- choices --- */

static void set_choices(const struct allocation_job *job, struct kinds_search *s,
			struct kinds_job *out)
{
	out->first = s->n_choices;
	for (int k = 0, first = 0; k < s->n_kinds; first += s->capacity[k++])
		for (int r = s->capacity[k]; r >= 1; r--)
			if (isfinite(job->value[first + r]))
				s->choices[s->n_choices++] = (struct kinds_choice){
					.at = first + r, .kind = k, .devices = r,
					.value = job->value[first + r],
				};
	if (isfinite(job->value[0]))
		s->choices[s->n_choices++] = (struct kinds_choice){ .value = job->value[0] };
	out->n = s->n_choices - out->first;
}

static double states_of(const int *capacity, int n_kinds)
{
	double states = 1;

	for (int k = 0; k < n_kinds; k++)
		states *= capacity[k] + 1;
	return states;
}

/* --- the table --- */

struct table {
	int n_states, n_devices, exponent;
	int stride[SCHED_KINDS];	/* of a device of each kind, in states */
	int *left;			/* [state * n_kinds + kind] */
	struct total *row, *next;
	int *taken;			/* [job * n_states + state]: index of the choice */
};

static void set_left(struct table *t, const struct kinds_search *s)
{
	t->left = xcalloc((size_t)t->n_states * (size_t)s->n_kinds, sizeof(*t->left));
	for (int state = 0; state < t->n_states; state++)
		for (int k = 0, rest = state; k < s->n_kinds; k++) {
			t->left[state * s->n_kinds + k] = rest % (s->capacity[k] + 1);
			rest /= s->capacity[k] + 1;
		}
}

static struct total total_of(const struct table *t, const struct allocation_job *job,
			     const struct kinds_choice *c)
{
	return (struct total){
		.value = llrint(ldexp(c->value, -t->exponent)),
		.rank = (c->at == job->held ? t->n_devices + 1 : 0) - c->devices,
	};
}

static void add_job(const struct table *t, const struct kinds_search *s, int j)
{
	const struct kinds_job *job = &s->jobs[j];
	int *taken = &t->taken[(size_t)j * (size_t)t->n_states];

	for (int state = 0; state < t->n_states; state++) {
		t->row[state] = (struct total){ INT64_MIN, 0 };
		taken[state] = -1;
	}
	for (int i = job->first; i < job->first + job->n; i++) {
		const struct kinds_choice *c = &s->choices[i];
		struct total own = total_of(t, &s->given[j], c);
		int step = c->devices * t->stride[c->kind];

		for (int state = step; state < t->n_states; state++) {
			struct total sum = t->next[state - step];

			if (t->left[state * s->n_kinds + c->kind] < c->devices ||
			    sum.value == INT64_MIN)
				continue;
			sum.value += own.value;
			sum.rank += own.rank;
			if (t->row[state].value == INT64_MIN ||
			    total_is_more(&sum, &t->row[state])) {
				t->row[state] = sum;
				taken[state] = i;
			}
		}
	}
}

static bool search_all(const struct kinds_search *s, int *at)
{
	struct table t = {
		.n_states = (int)states_of(s->capacity, s->n_kinds), .n_devices = s->n_devices,
		.exponent = allocation_exponent(s->given, s->n_jobs, s->n_devices),
	};
	int state = t.n_states - 1;
	bool allowed;

	for (int k = 0, stride = 1; k < s->n_kinds; k++) {
		t.stride[k] = stride;
		stride *= s->capacity[k] + 1;
	}
	set_left(&t, s);
	t.row = xcalloc((size_t)t.n_states, sizeof(*t.row));
	t.next = xcalloc((size_t)t.n_states, sizeof(*t.next));
	t.taken = xcalloc((size_t)s->n_jobs * (size_t)t.n_states, sizeof(*t.taken));
	for (int j = s->n_jobs - 1; j >= 0; j--) {
		struct total *swap = t.row;

		add_job(&t, s, j);
		t.row = t.next;
		t.next = swap;
	}
	allowed = t.next[state].value != INT64_MIN;
	for (int j = 0; allowed && j < s->n_jobs; j++) {
		const struct kinds_choice *c =
			&s->choices[t.taken[(size_t)j * (size_t)t.n_states + (size_t)state]];

		at[j] = c->at;
		state -= c->devices * t.stride[c->kind];
	}
	free(t.left);
	free(t.row);
	free(t.next);
	free(t.taken);
	return allowed;
}

/* --- fewer choices --- */

/* Keeps the choices that may be in a best allocation. */
static void keep_possible(struct kinds_search *s, const struct kinds_prices *p)
{
	double slack = (p->bound - p->worth) * (1 + 1e-9) + 1e-9 * fabs(p->bound);
	int n = 0;

	for (int j = 0; j < s->n_jobs; j++) {
		struct kinds_job *job = &s->jobs[j];
		double best = kinds_best_reduced(s, p->price, job, NULL);
		int first = n;

		for (int i = job->first; i < job->first + job->n; i++)
			if (best - kinds_reduced(&s->choices[i], p->price) <= slack)
				s->choices[n++] = s->choices[i];
		*job = (struct kinds_job){ first, n - first };
	}
	s->n_choices = n;
}

/* Takes the jobs that have a single choice left, and their devices, out of the search. */
static bool search_possible(const struct kinds_search *all, int *at)
{
	size_t n = (size_t)all->n_jobs;
	struct kinds_search s = *all;
	struct allocation_job *given = xcalloc(n, sizeof(*given));
	int *index = xcalloc(n, sizeof(*index)), *found = xcalloc(n, sizeof(*found));
	bool done = false;

	s.given = given;
	s.jobs = xcalloc(n, sizeof(*s.jobs));
	s.n_jobs = 0;
	for (int j = 0; j < all->n_jobs; j++) {
		const struct kinds_choice *c = &all->choices[all->jobs[j].first];

		if (all->jobs[j].n == 1) {
			at[j] = c->at;
			s.capacity[c->kind] -= c->devices;
			continue;
		}
		given[s.n_jobs] = all->given[j];
		s.jobs[s.n_jobs] = all->jobs[j];
		index[s.n_jobs++] = j;
	}
	if (states_of(s.capacity, s.n_kinds) * s.n_choices <= MOST_LOOKS)
		done = search_all(&s, found);
	for (int j = 0; done && j < s.n_jobs; j++)
		at[index[j]] = found[j];
	free(s.jobs);
	free(given);
	free(index);
	free(found);
	return done;
}

static bool search_by_prices(struct kinds_search *s, int *at, double *gap)
{
	int *known = xcalloc((size_t)s->n_jobs, sizeof(*known));
	struct kinds_prices p = kinds_prices_of(s, known);
	bool allowed = isfinite(p.worth);

	if (allowed) {
		keep_possible(s, &p);
		*gap = 0;
		if (!search_possible(s, at)) {
			memcpy(at, known, (size_t)s->n_jobs * sizeof(*at));
			*gap = p.worth > 0 ? fmax(p.bound / p.worth - 1, 0) : 0;
		}
	}
	free(known);
	return allowed;
}

/* --- all --- */

bool allocation_best_of_kinds(const struct allocation_job *jobs, int n_jobs, const int *capacity,
			      int n_kinds, int *at, double *gap)
{
	struct kinds_search s = { .given = jobs, .n_jobs = n_jobs, .n_kinds = n_kinds };
	double unused = 0;
	bool allowed;

	for (int k = 0; k < n_kinds; k++)
		s.n_devices += s.capacity[k] = capacity[k];
	s.jobs = xcalloc((size_t)n_jobs, sizeof(*s.jobs));
	s.choices = xcalloc((size_t)n_jobs * ((size_t)s.n_devices + 1), sizeof(*s.choices));
	for (int j = 0; j < n_jobs; j++)
		set_choices(&jobs[j], &s, &s.jobs[j]);
	gap = gap ? gap : &unused;
	*gap = 0;
	if (states_of(capacity, n_kinds) <= ALLOCATION_STATES)
		allowed = search_all(&s, at);
	else
		allowed = search_by_prices(&s, at, gap);
	if (!allowed)
		memset(at, 0, (size_t)n_jobs * sizeof(*at));
	free(s.jobs);
	free(s.choices);
	return allowed;
}
