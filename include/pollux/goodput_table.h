/* goodput_table.h - the goodput of a job for each number of devices, and the best sizes for it.
 *
 *	struct goodput_table *t = goodput_table_of(&job_model, n_devices);
 *	t->goodput[2], t->best[2].configuration ...
 *	goodput_table_free(t); */
#ifndef POLLUX_GOODPUT_TABLE_H
#define POLLUX_GOODPUT_TABLE_H

#include "pollux/knowledge.h"
#include "pollux/node_sizes.h"

struct goodput_table {
	double *goodput;		/* [0..n_devices], as in policy.h */
	struct goodput_choice *best;	/* [0..n_devices]; replicas 0: none */
	bool assumed;			/* without a model: the job reported no step times */
};

struct goodput_table *goodput_table_of(const struct job_model *m, int n_devices);
/* The same where the devices are on several nodes: numbers that are even on none have no goodput,
 * the others that on the fewest nodes. */
struct goodput_table *goodput_table_on(const struct job_model *m, int n_devices,
				       const struct node_sizes *nodes);
/* The table of a job whose gain from more devices is unknown: the square root of their number. This
 * is less than the goodput of any known job that gains from more devices, so this job is offered
 * the devices that others leave. */
struct goodput_table *goodput_table_assumed(int n_devices);
/* The best of n tables for each number of devices. The table of one device fewer is preferred if it
 * is within 1 % of the best. */
struct goodput_table *goodput_table_best_of(const struct goodput_table *const *tables, int n,
					    int n_devices);
double goodput_assumed(int replicas);
/* Samples still to come, at what they are worth at the sizes for the fewest devices. An assumed
 * goodput counts nothing, so then the result is the goodput of the time that is left, on the
 * devices for which that time is known. NaN: not known. */
double goodput_table_remaining(const struct goodput_table *t, const struct job_model *m,
			       int n_devices);
void goodput_table_free(struct goodput_table *t);	/* NULL is harmless */

/* True if both models make the same table: most of a hundred jobs of one workload share one. */
bool job_model_equal(const struct job_model *a, const struct job_model *b);

#endif
