/* host_memory.c - see host_memory.h. */
#include "host_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocation_of_curves.h"
#include "allocation_total.h"
#include "pollux/mem.h"
#include "reason_curve.h"

int memory_units_of(const struct curves *curves, int index)
{
	double total = curves->in->memory_bytes, need = curves->items[index].job->memory_bytes;

	if (!(total > 0) || !(need > 0))
		return 0;
	return need < total ? (int)ceil(need / total * MEMORY_UNITS) : MEMORY_UNITS;
}

static int units_in_use(const struct curves *curves, const int *at)
{
	int units = 0;

	for (int i = 0; i < curves->in->n_jobs; i++)
		units += at[i] ? memory_units_of(curves, i) : 0;
	return units;
}

bool memory_suffices(const struct curves *curves, const int *at)
{
	return !(curves->in->memory_bytes > 0) || units_in_use(curves, at) <= MEMORY_UNITS;
}

/* --- who has memory before others --- */

struct search {
	const struct curves *curves;
	const struct claims *claims;
	struct allocation_job *jobs;
	double *values;		/* [job * width + index of curve.h] */
	int width, capacity;	/* units */
	int *units;		/* of each job; owned */
};

static void keep_waiting(struct search *s, int index)
{
	double *value = &s->values[(size_t)index * (size_t)s->width];

	value[0] = 0;
	for (int at = 1; at < s->width; at++)
		value[at] = -HUGE_VAL;
}

static bool is_forced(const struct search *s, int index)
{
	return !claim_allows(&s->claims->items[index], 0);
}

/* The next of the waiting jobs that must start, in the order of claims.h; -1: none is left. */
static int next_forced(const struct search *s, const bool *seen)
{
	const struct curve *items = s->curves->items;
	int next = -1;

	for (int i = 0; i < s->curves->in->n_jobs; i++) {
		int rank = claims_first_rank(&items[i]), best;

		if (seen[i] || items[i].held || !is_forced(s, i))
			continue;
		best = next < 0 ? -1 : claims_first_rank(&items[next]);
		if (next < 0 || rank > best ||
		    (rank == best && claims_waiting_since_s(s->curves, &items[i]) <
					     claims_waiting_since_s(s->curves, &items[next])))
			next = i;
	}
	return next;
}

static void settle_forced(struct search *s)
{
	int n = s->curves->in->n_jobs, left, next;
	bool *seen = xcalloc((size_t)n, sizeof(*seen)), blocked = false;
	int kept = 0;

	for (int i = 0; i < n; i++)
		kept += s->curves->items[i].held && is_forced(s, i) ? s->units[i] : 0;
	s->capacity = kept > MEMORY_UNITS ? kept : MEMORY_UNITS;
	left = s->capacity - kept;
	while ((next = next_forced(s, seen)) >= 0) {
		seen[next] = true;
		if (s->units[next] > 0 && (blocked || s->units[next] > left)) {
			blocked = true;
			keep_waiting(s, next);
		} else {
			left -= s->units[next];
		}
	}
	for (int i = 0; blocked && i < n; i++)
		if (!s->curves->items[i].held && !is_forced(s, i) && s->units[i] > 0)
			keep_waiting(s, i);
	free(seen);
}

/* --- exact --- */

struct table {
	int rows, columns;		/* devices + 1, units + 1 */
	int exponent;
	struct total *now, *next;	/* [devices * columns + units] */
	int *taken;			/* [job][devices * columns + units] */
};

static void add_job(const struct search *s, const struct table *t, int j)
{
	const double *value = &s->values[(size_t)j * (size_t)s->width];
	int *taken = &t->taken[(size_t)j * (size_t)t->rows * (size_t)t->columns];

	for (int cell = 0; cell < t->rows * t->columns; cell++) {
		int g = cell / t->columns, h = cell % t->columns;

		t->now[cell] = (struct total){ INT64_MIN, 0 };
		for (int r = g; r >= 0; r--) {
			int need = r ? s->units[j] : 0;
			struct total sum;

			if (!isfinite(value[r]) || need > h)
				continue;
			sum = t->next[cell - r * t->columns - need];
			if (sum.value == INT64_MIN)
				continue;
			sum.value += llrint(ldexp(value[r], -t->exponent));
			sum.rank += (r == s->jobs[j].held ? t->rows : 0) - r;
			if (t->now[cell].value == INT64_MIN ||
			    total_is_more(&sum, &t->now[cell])) {
				t->now[cell] = sum;
				taken[cell] = r;
			}
		}
	}
}

static bool search_all(const struct search *s, int *at)
{
	int n_jobs = s->curves->in->n_jobs;
	struct table t = { .rows = s->width, .columns = s->capacity + 1 };
	size_t cells = (size_t)t.rows * (size_t)t.columns;
	int cell = (int)cells - 1;
	bool allowed;

	t.exponent = allocation_exponent(s->jobs, n_jobs, s->width - 1);
	t.now = xcalloc(cells, sizeof(*t.now));
	t.next = xcalloc(cells, sizeof(*t.next));
	t.taken = xcalloc((size_t)n_jobs * cells, sizeof(*t.taken));
	for (int j = n_jobs - 1; j >= 0; j--) {
		struct total *swap = t.now;

		add_job(s, &t, j);
		t.now = t.next;
		t.next = swap;
	}
	allowed = t.next[cell].value != INT64_MIN;
	for (int j = 0; allowed && j < n_jobs; j++) {
		at[j] = t.taken[(size_t)j * cells + (size_t)cell];
		cell -= at[j] * t.columns + (at[j] ? s->units[j] : 0);
	}
	free(t.now);
	free(t.next);
	free(t.taken);
	return allowed;
}

/* --- by a price --- */

static bool fits_at(struct search *s, double price, int *at)
{
	int n_jobs = s->curves->in->n_jobs, used = 0;
	size_t n = (size_t)n_jobs * (size_t)s->width;
	double *own = xcalloc(n, sizeof(*own));
	struct allocation_job *jobs = xcalloc((size_t)n_jobs, sizeof(*jobs));

	memcpy(own, s->values, n * sizeof(*own));
	for (int j = 0; j < n_jobs; j++) {
		double *value = &own[(size_t)j * (size_t)s->width];

		for (int r = 1; r < s->width; r++)
			value[r] -= price * s->units[j];
		jobs[j] = (struct allocation_job){ .held = s->jobs[j].held, .value = value };
	}
	allocation_of_curves(s->curves, jobs, at);
	for (int j = 0; j < n_jobs; j++)
		used += at[j] ? s->units[j] : 0;
	free(own);
	free(jobs);
	return used <= s->capacity;
}

static void search_by_price(struct search *s, int *at)
{
	size_t n = (size_t)s->curves->in->n_jobs;
	int *found = xcalloc(n, sizeof(*found));
	double low = 0, high = 0;

	for (size_t i = 0; i < n * (size_t)s->width; i++)
		if (isfinite(s->values[i]))
			high = fmax(high, fabs(s->values[i]));
	/* More than all jobs are worth: none has memory by choice. */
	high = high * (double)n + 1;
	fits_at(s, high, at);
	for (int step = 0; step < MEMORY_BISECTIONS; step++) {
		double price = step ? (low + high) / 2 : high / (double)(1 << 10);

		if (fits_at(s, price, found)) {
			high = price;
			memcpy(at, found, n * sizeof(*at));
		} else {
			low = price;
		}
	}
	free(found);
}

/* --- all --- */

void memory_allocate(const struct curves *curves, const struct claims *claims,
		     struct allocation_job *jobs, double *values, int *at)
{
	int n = curves->in->n_jobs;
	struct search s = {
		.curves = curves, .claims = claims, .jobs = jobs,
		.width = curves->n_devices + 1, .units = xcalloc((size_t)n, sizeof(*s.units)),
	};

	s.values = values;
	for (int i = 0; i < n; i++)
		s.units[i] = memory_units_of(curves, i);
	settle_forced(&s);
	if (curves->n_kinds > 1 || curves->n_devices > MEMORY_MOST_DEVICES ||
	    n > MEMORY_MOST_JOBS || !search_all(&s, at))
		search_by_price(&s, at);
	free(s.units);
}

static void add_gib(char *reason, const char *before, double bytes)
{
	double gib = bytes / 0x1p30;

	reason_add(reason, gib < 99.95 ? "%s%.3g" : "%s%.0f", before, gib);
}

struct memory_use memory_use_of(const struct curves *curves, const int *at)
{
	struct memory_use use = { .at = at, .units = units_in_use(curves, at) };

	for (int k = 0; k < curves->n_kinds; k++)
		use.left[k] = curves->kinds[k].n;
	for (int i = 0; i < curves->in->n_jobs; i++) {
		use.left[curve_kind_at(curves, at[i])] -= curve_devices_at(curves, at[i]);
		if (at[i] && curves->items[i].job->memory_bytes > 0)
			use.bytes += curves->items[i].job->memory_bytes;
	}
	return use;
}

bool memory_explains(const struct curves *curves, const struct memory_use *use, const int *wanted,
		     int index, char *reason)
{
	const struct curve *c = &curves->items[index];
	int units = use->at[index] ? 0 : memory_units_of(curves, index);

	if (!units || use->units + units <= MEMORY_UNITS ||
	    (!wanted[index] && !curve_least_within(curves, c, use->left)))
		return false;
	reason[0] = '\0';
	add_gib(reason, "waits for host memory: needs ", c->job->memory_bytes);
	add_gib(reason, " of ", curves->in->memory_bytes);
	add_gib(reason, " GiB, ", use->bytes);
	reason_add_text(reason, " are in use");
	return true;
}
