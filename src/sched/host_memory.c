/* host_memory.c - see allocation.h. */
#include "allocation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

/* --- what a job needs --- */

/* 0 or NaN: not known. */
static double need_on(const struct curves *curves, const struct sched_job *job, int way, int at)
{
	return offers_at(job, curve_kind_at(curves, at), way,
			 curve_devices_at(curves, at)).host_bytes;
}

static double need_of(const struct curves *curves, int index, int way, int at)
{
	const struct curve *c = &curves->items[index];

	return at == c->held ? c->job->memory_bytes : need_on(curves, c->job, way, at);
}

static double least_need(const struct curves *curves, int index)
{
	const struct curve *c = &curves->items[index];
	double least = (double)NAN;

	for (int at = 1; at <= curves->n_devices; at++)
		for (int way = 0; !isnan(c->of[at]) && way < SCHED_WAYS; way++) {
			double need = need_of(curves, index, way, at);

			/* What is not known counts as nothing. */
			if (way == 0 && !(need > 0))
				return 0;
			if (need > 0)	/* else there is no such way */
				least = fmin(least, need);
		}
	return isnan(least) ? c->job->memory_bytes : least;
}

static int units_for(const struct curves *curves, double need)
{
	double total = curves->in->memory_bytes;

	if (!(total > 0) || !(need > 0))
		return 0;
	return need < total ? (int)ceil(need / total * MEMORY_UNITS) : MEMORY_UNITS;
}

int memory_units_of(const struct curves *curves, int index, int way, int at)
{
	return units_for(curves, need_of(curves, index, way, at));
}

/* The fewest units with which the job can run. */
static int least_units(const struct curves *curves, int index)
{
	return units_for(curves, least_need(curves, index));
}

static int units_in_use(const struct curves *curves, const int *at, const int *way)
{
	int units = 0;

	for (int i = 0; i < curves->in->n_jobs; i++)
		units += at[i] ? memory_units_of(curves, i, way ? way[i] : 0, at[i]) : 0;
	return units;
}

bool memory_suffices(const struct curves *curves, const int *at)
{
	return !(curves->in->memory_bytes > 0) || units_in_use(curves, at, NULL) <= MEMORY_UNITS;
}

/* --- a search with memory --- */

struct memory_search {
	const struct curves *curves;
	const struct claims *claims;
	double *values;		/* [(way * jobs + job) * width + index of curve.h] */
	int width, capacity;	/* units */
};

static double *values_of(const struct memory_search *s, int index, int way)
{
	size_t row = (size_t)way * (size_t)s->curves->in->n_jobs + (size_t)index;

	return &s->values[row * (size_t)s->width];
}

/* Who has memory before others. */
static void keep_waiting(struct memory_search *s, int index)
{
	for (int way = 0; way < SCHED_WAYS; way++) {
		double *value = values_of(s, index, way);

		value[0] = way ? -HUGE_VAL : 0;
		for (int at = 1; at < s->width; at++)
			value[at] = -HUGE_VAL;
	}
}

static bool is_forced(const struct memory_search *s, int index)
{
	return !claim_allows(&s->claims->items[index], 0);
}

/* The next of the waiting jobs that must start, in the order of claims.h; -1: none is left. */
static int next_forced(const struct memory_search *s, const bool *seen)
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

static void settle_forced(struct memory_search *s)
{
	int n = s->curves->in->n_jobs, left, next;
	bool *seen = xcalloc((size_t)n, sizeof(*seen)), blocked = false;
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (s->curves->items[i].held && is_forced(s, i))
			kept += memory_units_of(s->curves, i, 0, s->curves->items[i].held);
	s->capacity = kept > MEMORY_UNITS ? kept : MEMORY_UNITS;
	left = s->capacity - kept;
	while ((next = next_forced(s, seen)) >= 0) {
		int units = least_units(s->curves, next);

		seen[next] = true;
		if (units > 0 && (blocked || units > left)) {
			blocked = true;
			keep_waiting(s, next);
		} else {
			left -= units;
		}
	}
	for (int i = 0; blocked && i < n; i++)
		if (!s->curves->items[i].held && !is_forced(s, i) &&
		    least_units(s->curves, i) > 0)
			keep_waiting(s, i);
	free(seen);
}

/* --- exact --- */

/* The search of allocation_exact.c, with memory as one more thing that is left. */
static bool search_exactly(const struct memory_search *m, int *at, int *way)
{
	size_t n = (size_t)m->curves->in->n_jobs;
	autofree int *chosen = xcalloc(n, sizeof(*chosen));
	autofree struct allocation_job *given = xcalloc(n, sizeof(*given));
	struct search s = {
		.given = given, .n_jobs = (int)n, .n_kinds = 1, .n_devices = m->width - 1,
		.capacity = { m->width - 1, m->capacity }, .in_memory = true,
		.jobs = xcalloc(n, sizeof(*s.jobs)),
		.choices = xcalloc(n * (size_t)m->width * SCHED_WAYS, sizeof(*s.choices)),
	};
	bool allowed;

	for (int j = 0; j < s.n_jobs; j++) {
		given[j] = (struct allocation_job){ m->curves->items[j].held, values_of(m, j, 0) };
		s.jobs[j].first = s.n_choices;
		for (int cell = m->width * SCHED_WAYS - 1; cell >= 0; cell--) {
			int r = cell / SCHED_WAYS, w = SCHED_WAYS - 1 - cell % SCHED_WAYS;
			double value = values_of(m, j, w)[r];

			if (isfinite(value))
				s.choices[s.n_choices++] = (struct choice){
					.at = r, .devices = r, .way = w, .value = value,
					.units = r ? memory_units_of(m->curves, j, w, r) : 0,
				};
		}
		s.jobs[j].n = s.n_choices - s.jobs[j].first;
	}
	allowed = search_all(&s, chosen);
	for (int j = 0; allowed && j < s.n_jobs; j++) {
		at[j] = s.choices[chosen[j]].at;
		way[j] = s.choices[chosen[j]].way;
	}
	free(s.choices);
	free(s.jobs);
	return allowed;
}

/* --- what a search by a price leaves of devices and memory --- */

struct rest {
	const struct memory_search *s;
	int *at, *way;
	int units, devices[SCHED_KINDS];	/* left */
};

/* Takes what the job has from what is left, or gives that back (times -1). */
static void count_allotment(struct rest *r, int index, int times)
{
	const struct curves *curves = r->s->curves;
	int at = r->at[index];

	if (!at)
		return;
	r->units -= times * memory_units_of(curves, index, r->way[index], at);
	r->devices[curve_kind_at(curves, at)] -= times * curve_devices_at(curves, at);
}

/* Gives the job what is worth most to it. Returns false if it has that. */
static bool change_allotment(struct rest *r, int index)
{
	const struct curves *curves = r->s->curves;
	double most = values_of(r->s, index, r->way[index])[r->at[index]];
	bool changed = false;

	count_allotment(r, index, -1);
	for (int at = 1; at <= curves->n_devices; at++)
		for (int way = 0; way < SCHED_WAYS; way++) {
			double value = values_of(r->s, index, way)[at];

			if (!(value > most) || memory_units_of(curves, index, way, at) > r->units ||
			    curve_devices_at(curves, at) > r->devices[curve_kind_at(curves, at)])
				continue;
			most = value;
			r->at[index] = at;
			r->way[index] = way;
			changed = true;
		}
	count_allotment(r, index, 1);
	return changed;
}

/* At a price a job may leave what it holds for less memory that nobody else takes then. Changes the
 * allocation job by job, those that hold devices first, as long as that adds worth: so it ends. */
static void use_rest(const struct memory_search *s, int *at, int *way)
{
	struct rest r = { .s = s, .units = s->capacity };
	bool again = true;
	int n_jobs = s->curves->in->n_jobs;

	r.at = at;
	r.way = way;
	for (int k = 0; k < s->curves->n_kinds; k++)
		r.devices[k] = s->curves->kinds[k].n;
	for (int i = 0; i < n_jobs; i++)
		count_allotment(&r, i, 1);
	while (again) {
		again = false;
		for (int held = 1; held >= 0; held--)
			for (int i = 0; i < n_jobs; i++)
				if ((s->curves->items[i].held > 0) == held)
					again |= change_allotment(&r, i);
	}
}

/* --- by a price --- */

/* The way of a job at an index that is worth most at this price of a unit. *value: what it is worth
 * then. */
static int best_way(const struct memory_search *s, int j, double price, int at, double *value)
{
	int best = 0;

	*value = -HUGE_VAL;
	for (int way = 0; way < SCHED_WAYS; way++) {
		double own = values_of(s, j, way)[at] -
			     (at ? price * memory_units_of(s->curves, j, way, at) : 0);

		if (own > *value) {
			*value = own;
			best = way;
		}
	}
	return best;
}

static bool fits_at(const struct memory_search *s, double price, int *at, int *way)
{
	int n_jobs = s->curves->in->n_jobs;
	double *own = xcalloc((size_t)n_jobs * (size_t)s->width, sizeof(*own)), ignored;
	autofree struct allocation_job *jobs = xcalloc((size_t)n_jobs, sizeof(*jobs));

	for (int j = 0; j < n_jobs; j++) {
		double *value = &own[(size_t)j * (size_t)s->width];

		for (int r = 0; r < s->width; r++)
			best_way(s, j, price, r, &value[r]);
		jobs[j] = (struct allocation_job){ s->curves->items[j].held, value };
	}
	allocation_of_curves(s->curves, jobs, at);
	for (int j = 0; j < n_jobs; j++)
		way[j] = best_way(s, j, price, at[j], &ignored);
	free(own);
	return units_in_use(s->curves, at, way) <= s->capacity;
}

static void search_by_price(const struct memory_search *s, int *at, int *way)
{
	size_t n = (size_t)s->curves->in->n_jobs;
	autofree int *found = xcalloc(n, sizeof(*found)), *ways = xcalloc(n, sizeof(*ways));
	double low = 0, high = 0;

	for (size_t i = 0; i < n * (size_t)s->width; i++)
		if (isfinite(s->values[i]))
			high = fmax(high, fabs(s->values[i]));
	/* More than all jobs are worth: none has memory by choice. */
	high = high * (double)n + 1;
	fits_at(s, high, at, way);
	for (int step = 0; step < MEMORY_BISECTIONS; step++) {
		double price = step ? (low + high) / 2 : high / (double)(1 << 10);

		if (fits_at(s, price, found, ways)) {
			high = price;
			memcpy(at, found, n * sizeof(*at));
			memcpy(way, ways, n * sizeof(*way));
		} else {
			low = price;
		}
	}
	use_rest(s, at, way);
}

/* --- all --- */

void memory_allocate(const struct curves *curves, const struct claims *claims, double *values,
		     int *at, int *way)
{
	int n = curves->in->n_jobs;
	struct memory_search s = {
		.curves = curves, .claims = claims, .width = curves->n_devices + 1,
	};

	s.values = values;
	memset(way, 0, (size_t)n * sizeof(*way));
	settle_forced(&s);
	if (curves->n_kinds > 1 || curves->n_devices > MEMORY_MOST_DEVICES ||
	    n > MEMORY_MOST_JOBS || !search_exactly(&s, at, way))
		search_by_price(&s, at, way);
}

struct memory_use memory_use_of(const struct curves *curves, const int *at, const int *way)
{
	struct memory_use use = { .at = at, .units = units_in_use(curves, at, way) };

	for (int k = 0; k < curves->n_kinds; k++)
		use.left[k] = curves->kinds[k].n;
	for (int i = 0; i < curves->in->n_jobs; i++) {
		double need = need_of(curves, i, way[i], at[i]);

		use.left[curve_kind_at(curves, at[i])] -= curve_devices_at(curves, at[i]);
		if (at[i] && need > 0)
			use.bytes += need;
	}
	return use;
}

bool memory_lets_change(const struct curves *curves, struct memory_use *use, int index)
{
	const struct curve *c = &curves->items[index];
	double need = need_on(curves, c->job, 0, c->held);
	int units = use->units - memory_units_of(curves, index, 0, c->held) +
		    units_for(curves, need);

	if (units > use->units && units > MEMORY_UNITS)
		return false;
	use->units = units;
	return true;
}

bool memory_explains(const struct curves *curves, const struct memory_use *use, const int *wanted,
		     int index, struct verdict *v)
{
	const struct curve *c = &curves->items[index];
	int units = use->at[index] ? 0 : least_units(curves, index);

	if (!units || use->units + units <= MEMORY_UNITS ||
	    (!wanted[index] && !curve_least_within(curves, c, use->left)))
		return false;
	*v = verdict_of((struct fact){
		FACT_HOST_MEMORY, .bytes = { least_need(curves, index), curves->in->memory_bytes,
					     use->bytes },
	});
	return true;
}
