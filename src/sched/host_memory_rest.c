/* host_memory_rest.c - what a search by a price of memory leaves of devices and memory: see
 * host_memory.h.
 *
 * At a price a job may leave what it holds for less memory that nobody else takes then. */
#include <stddef.h>

#include "host_memory.h"

struct rest {
	const struct curves *curves;
	const double *values;	/* as in memory_allocate() */
	int *at, *way;
	int units, devices[SCHED_KINDS];	/* left */
};

static double value_of_cell(const struct rest *r, int index, int way, int at)
{
	int row = way * r->curves->in->n_jobs + index;

	return r->values[(size_t)row * (size_t)(r->curves->n_devices + 1) + (size_t)at];
}

/* Takes what the job has from what is left, or gives that back (times -1). */
static void count_allotment(struct rest *r, int index, int times)
{
	int at = r->at[index];

	if (!at)
		return;
	r->units -= times * memory_units_of(r->curves, index, r->way[index], at);
	r->devices[curve_kind_at(r->curves, at)] -= times * curve_devices_at(r->curves, at);
}

static bool is_left(const struct rest *r, int index, int way, int at)
{
	return curve_devices_at(r->curves, at) <= r->devices[curve_kind_at(r->curves, at)] &&
	       memory_units_of(r->curves, index, way, at) <= r->units;
}

/* Gives the job what is worth most to it. Returns false if it has that. */
static bool change_allotment(struct rest *r, int index)
{
	double most = value_of_cell(r, index, r->way[index], r->at[index]);
	bool changed = false;

	count_allotment(r, index, -1);
	for (int at = 1; at <= r->curves->n_devices; at++)
		for (int way = 0; way < SCHED_WAYS; way++) {
			double value = value_of_cell(r, index, way, at);

			if (!(value > most) || !is_left(r, index, way, at))
				continue;
			most = value;
			r->at[index] = at;
			r->way[index] = way;
			changed = true;
		}
	count_allotment(r, index, 1);
	return changed;
}

/* Each change adds worth, so the rounds end. */
void memory_use_rest(const struct curves *curves, const double *values, int capacity, int *at,
		     int *way)
{
	struct rest r = { .curves = curves, .values = values, .units = capacity };
	bool again = true;

	r.at = at;
	r.way = way;
	for (int k = 0; k < curves->n_kinds; k++)
		r.devices[k] = curves->kinds[k].n;
	for (int i = 0; i < curves->in->n_jobs; i++)
		count_allotment(&r, i, 1);
	while (again) {
		again = false;
		for (int held = 1; held >= 0; held--)
			for (int i = 0; i < curves->in->n_jobs; i++)
				if ((curves->items[i].held > 0) == held)
					again |= change_allotment(&r, i);
	}
}
