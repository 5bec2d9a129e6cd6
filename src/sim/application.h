/* application.h - the files of the published simulators, the applications measured in them, and
 * how a job goes by them. */
#ifndef POLLUX_SIM_APPLICATION_H
#define POLLUX_SIM_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/err.h"
#include "pollux/simulate.h"
#include "pollux/throughput.h"

/* --- csv --- */

/* Comma-separated numbers and names with a heading; every error names its line.
 *
 *	static const char *const columns[] = { "name", "time" };
 *	struct csv c;
 *	if (csv_read(&c, path, columns, 2, err)) ...
 *	for (int row = 0; row < c.n_rows; row++)
 *		if (csv_number(&c, row, 1, (struct csv_range){ 0, 1e9 }, &x, err)) ...
 *	csv_release(&c);
 *
 * The heading has the wanted columns in any order; a column may have several names, such as
 * "application|model". Other columns are not read. Lines may end in CR
 * LF. Refused are quotes, rows longer or shorter than the heading, and blank lines before the last
 * row. A pipe is read to its end. All errors except those of opening and reading the file are
 * EX_DATAERR, "FILE:LINE: ...". */

struct csv {
	char *path;
	char *data;			/* the file; cells point into it */
	const char *const *columns;	/* the caller's */
	int n_columns, n_rows;
	const char **cells;		/* [row * n_columns + column], in the order of columns */
};

int csv_read(struct csv *c, const char *path, const char *const *columns, int n_columns,
	     struct err *err);
/* Reads a file, and calls row for each of its rows, until one fails. */
typedef int csv_row(const struct csv *c, int row, void *data, struct err *err);
int csv_rows(const char *path, const char *const *columns, int n_columns, csv_row *row,
	     void *data, struct err *err);
void csv_release(struct csv *c);
/* The name of the file without its folder and without ".csv"; to be freed. */
char *csv_base_name(const char *path);

const char *csv_cell(const struct csv *c, int row, int column);
/* The line of the file that the row is on. */
int csv_line(int row);

/* A range of numbers that includes both bounds. */
struct csv_range {
	double low, high;
};

/* A number within the range. */
int csv_number(const struct csv *c, int row, int column, struct csv_range range, double *value,
	       struct err *err);
/* A whole number within the range. */
int csv_whole(const struct csv *c, int row, int column, struct csv_range range, int64_t *value,
	      struct err *err);
/* "FILE:LINE: TEXT" with EX_DATAERR; returns -1. */
int csv_complain(const struct csv *c, int row, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* --- workloads: sim_profiles.c --- */

struct sim_workload;
/* The first columns of each workload: the name of the job, the time of its submission. */
enum { WORKLOAD_NAME, WORKLOAD_TIME };
/* Reads what else a row has: of w->jobs[row], and of w->own. */
typedef int workload_row(const struct csv *c, int row, struct sim_workload *w, const void *data,
			 struct err *err);
struct workload_form {
	const char *const *columns;
	int n_columns;
	workload_row *read;
	size_t own_size;		/* bytes of w->own for each job */
};
/* Reads a workload, whose rows must ascend by time; data is for read. */
int workload_read(struct sim_workload *w, const char *path, const struct workload_form *form,
		  const void *data, struct err *err);

/* --- the profiles of one application, and the constants that follow from them --- */

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

/* --- times by nodes, replicas and local batch size: ground_truth.c --- */

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

/* --- the truth --- */

/* The real behaviour of a job: the profiles, and linear interpolation between them.
 *
 *	struct memo truth = { 0 };
 *	struct place_class c = place_class_of(application, &placement);
 *	if (truth_times(&truth, &c, m, &times, err)) ...	// looked up once for each
 *	memo_release(&truth);
 *
 * The times of a measured placement are linear in the local batch size between its rows. Other
 * placements are looked up in the grid, with no more nodes than were measured. A placement outside
 * the profiles is an error that names it. */

#define MEMO_VALUES (sizeof(struct throughput_params) / sizeof(double))

/* Placements of one class are equally fast. */
struct place_class {
	const struct application *application;
	const struct placement_times *exact;	/* NULL: this placement was not measured */
	int nodes, replicas;
};

struct place_class place_class_of(const struct application *a, const struct placement *p);
/* The class of GPUs packed on nodes of gpus_per_node: full nodes, then the rest. */
struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node);

/* Values that took long to compute, found by a key of 128 bits: a hash of all that they depend on.
 * Two keys are hardly ever the same by chance, so that what was hashed is not compared. */
struct memo {
	struct memo_entry {
		uint64_t key[2];	/* both 0: empty */
		double value[MEMO_VALUES];
	} *entries;			/* owned; a hash table */
	size_t capacity, count;
};

#define MEMO_KEY 0xcbf29ce484222325, 0x9e3779b97f4a7c15	/* the key of nothing */
void memo_hash(uint64_t key[2], uint64_t word);
/* The entry of the key; with key[0] = 0, where it belongs until another is set. */
struct memo_entry *memo_find(struct memo *memo, const uint64_t key[2]);
void memo_set(struct memo *memo, struct memo_entry *e, const uint64_t key[2]);
void memo_release(struct memo *memo);

/* Looks up the times of an update of one pass. EX_DATAERR: the placement is outside the
 * profiles. */
int truth_times(struct memo *memo, const struct place_class *c, int64_t local_batch_size,
		struct times *times, struct err *err);

/* Seconds of an update of several passes. */
double times_of_update(struct times times, int passes);

/* The gradients of a training at a batch size, linear between the nearest validated ones; the batch
 * size must lie within the validated range. */
struct gradients {
	double sqr, var;	/* |G|^2, tr(Sigma) / initial batch size */
};
struct gradients truth_gradients(const struct application *a, double batch_size, int epoch);
/* Updates made by the end of the epoch. */
double truth_iterations(const struct application *a, double batch_size, int epoch);

/* AdaScale's gain: the progress of an update, in updates at the initial batch size. */
double gradients_gain(struct gradients g, double scale);
/* The noise scale, samples; infinite where |G|^2 is 0. */
double gradients_noise_scale(const struct application *a, struct gradients g);

/* The local batch and passes of a batch on GPUs, as in the published simulator. Uses the fewest
 * passes that the largest local batch allows, but at least two on one GPU above the initial batch
 * size, where one pass would not show the noise of the gradients (two_on_one: at any batch size).
 * Rounding may make the batch larger, but not larger than the maximum. */
struct configuration sizes_spread(const struct application *a, struct throughput_place place,
				  int64_t batch_size, bool two_on_one);

/* True if the batch lies between the smallest and the largest validated batch sizes. Where only 128
 * was validated, it does not divide over 3 GPUs: 42 samples on each are 126. */
bool sizes_are_validated(const struct application *a, const struct configuration *sizes);

#endif
