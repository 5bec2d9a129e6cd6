/* application.h - the profiles of one application, and the constants that follow from them. */
#ifndef SIM_APPLICATION_H
#define SIM_APPLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/sim_profiles.h"

#define PLACEMENT_DIGITS 16

/* --- placements --- */

/* The nodes of a job, in the order in which it was given them, with its GPUs on each. */
struct placement {
	int n;			/* nodes; 0: the job has none */
	int replicas;		/* all GPUs */
	int *nodes, *gpus;	/* owned; n each */
};

void placement_release(struct placement *p);
void placement_add(struct placement *p, int node, int gpus);
bool placement_equal(const struct placement *a, const struct placement *b);
/* releases *to first */
void placement_copy(struct placement *to, const struct placement *from);

/* The smallest rotation of a string; out has room for as many bytes. */
void placement_canonical(const char *digits, char *out);
/* The canonical digits of GPUs on nodes; false for more than size - 1 nodes, or more than 9 GPUs on
 * a node. */
bool placement_digits(const int *gpus, int n, char *out, int size);

/* --- times by nodes, replicas and local batch size: grid.c --- */

/* The time of an update of one pass. */
struct times {
	double step_s;		/* the whole update */
	/* its part spent synchronising; the difference is a pass without it */
	double sync_s;
};

struct grid_point {
	double at[3];		/* nodes, replicas, local batch size */
	struct times times;
};

/* corner[i] are indexes of points. The barycentric coordinates of a position x are
 * inverse * (x - corner[3]), and 1 minus their sum. */
struct tetrahedron {
	int corner[4];
	double inverse[3][3];
};

struct grid {
	struct grid_point *points;	/* owned */
	int n_points;
	struct tetrahedron *tetrahedra;	/* owned; no flat ones */
	int n_tetrahedra;
};

/* Takes over the points. Fewer than five points, or points in one plane, give no tetrahedra, and
 * grid_find() finds nothing. -1: Qhull failed. */
int grid_init(struct grid *g, struct grid_point *points, int n_points, struct err *err);
void grid_release(struct grid *g);

/* False: the position is outside the points' convex hull. */
bool grid_find(const struct grid *g, double nodes, double replicas, double local_batch_size,
	       struct times *times);

/* --- applications --- */

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
/* sim_profiles.c: reads the trainings in directory, and derives the bounds of batch sizes and the
 * progress by epoch. EX_NOINPUT; EX_DATAERR. application_release() frees what was read. */
int application_read_validations(struct application *a, const char *directory, struct err *err);

/* The measurements of this placement; NULL: it was not measured. The digits must be the smallest
 * rotation. */
const struct placement_times *application_placement(const struct application *a,
						    const char *digits);

/* The largest n up to wanted for which 1 to n GPUs on one node are measured or lie between
 * measurements; 0: none. */
int application_most_on_node(const struct application *a, int wanted);

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
