/* application.h - the profiles of one application, and the constants that follow from them. */
#ifndef SIM_APPLICATION_H
#define SIM_APPLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "grid.h"
#include "pollux/err.h"
#include "pollux/sim_profiles.h"
#include "times.h"

#define PLACEMENT_DIGITS 16

#define BATCH_SIZE_MAX 1000000000	/* samples; as configuration_spread has it */

/* Times by the local batch size on one placement. */
struct placement_times {
	char digits[PLACEMENT_DIGITS + 1];	/* rotated to be the smallest */
	int nodes, replicas;
	int n;
	double *local_batch_size;	/* ascending */
	struct times *times;
};

/* One training, at one batch size. */
struct validation {
	int64_t batch_size;
	double *progress, *iteration, *grad_sqr, *grad_var;	/* n_epochs each */
};

struct application {
	char *name, *directory;		/* owned */
	char *kind;			/* owned; of GPU, in its files' names: "-t4", or "" */
	/* The application on further kinds of GPU; owned. */
	struct application *others;
	int n_others;
	/* NaN: that of the options. told_restart_s: the restart that policies are told. */
	double restart_s, told_restart_s;
	double slowdown;		/* progress is divided by this */
	int64_t initial_batch_size;	/* the smallest validated */
	int64_t max_batch_size;		/* the largest validated */
	int64_t min_local_batch_size, max_local_batch_size;
	int64_t fixed_batch_size;	/* policies may not choose it; 0: they may */
	int max_replicas;		/* measured, or the least that a policy can use */
	int max_nodes;			/* measured; more nodes count as this many */

	struct placement_times *placements;	/* by digits */
	int n_placements;
	struct grid grid;		/* for placements that were not measured */

	struct validation *validations;	/* by batch size, ascending */
	int n_validations;
	int n_epochs;
	/* [e]: progress at the end of e epochs; n_epochs + 1 of them */
	double *progress;
};

/* Reads directory/NAME. kinds: n_kinds suffixes of its files of times. */
int application_read(struct application *a, const char *directory, const char *name,
		     char *const *kinds, int n_kinds, struct err *err);
void application_release(struct application *a);
/* validations.c: reads the trainings in directory, and derives the bounds of batch sizes and the
 * progress by epoch. EX_NOINPUT; EX_DATAERR. application_release() frees what was read. */
int application_read_validations(struct application *a, const char *directory, struct err *err);

/* The measurements of this placement; NULL: it was not measured. The digits must be the smallest
 * rotation. */
const struct placement_times *application_placement(const struct application *a,
						    const char *digits);

/* The largest n up to wanted for which 1 to n GPUs on one node are measured or lie between
 * measurements; 0: none. */
int application_most_on_node(const struct application *a, int wanted);

/* kind_tables.c: restarts and slowdowns as in Sia's simulator. */
void sim_profiles_set_published(struct sim_profiles *p);

/* The application on a kind of GPU. */
static inline const struct application *application_on(const struct application *a, int kind)
{
	return kind ? &a->others[kind - 1] : a;
}

static inline const struct application *sim_profiles_at(const struct sim_profiles *p, int index)
{
	return &p->items[index];
}

static inline int sim_profiles_index(const struct sim_profiles *p, const struct application *a)
{
	return (int)(a - p->items);
}

#endif
