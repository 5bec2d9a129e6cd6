/* allocation_kinds.h - the state of a search over devices of several kinds, and prices for the
 * kinds. */
#ifndef SCHED_ALLOCATION_KINDS_H
#define SCHED_ALLOCATION_KINDS_H

#include "allocation.h"
#include "pollux/policy.h"

struct kinds_choice {
	int at, kind, devices;	/* devices 0: nothing */
	double value;
};

struct kinds_job {
	int first, n;		/* of the choices */
};

struct kinds_search {
	const struct allocation_job *given;
	int n_jobs, n_kinds, n_devices;
	int capacity[SCHED_KINDS];
	struct kinds_job *jobs;
	struct kinds_choice *choices;	/* of each job, the first kinds and more
					   devices of each first */
	int n_choices;
};

struct kinds_prices {
	double price[SCHED_KINDS];	/* of a device */
	double bound;		/* no allocation is worth more */
	double worth;		/* of the best allocation found; -INFINITY: none */
};

static inline double kinds_reduced(const struct kinds_choice *c, const double *price)
{
	return c->value - price[c->kind] * c->devices;
}

/* The largest worth minus price among the job's choices; *choice (may be NULL): that choice. */
double kinds_best_reduced(const struct kinds_search *s, const double *price,
			  const struct kinds_job *job, int *choice);

/* Finds prices. at (room for all jobs): the best allocation found on the way. */
struct kinds_prices kinds_prices_of(const struct kinds_search *s, int *at);

#endif
