/* application.h - the files of the published simulators, the applications measured in them, and
 * how a job goes by them. */
#ifndef POLLUX_SIM_APPLICATION_H
#define POLLUX_SIM_APPLICATION_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/err.h"
#include "pollux/simulate.h"
#include "pollux/text.h"
#include "pollux/throughput.h"

/* --- csv --- */

/* Comma-separated numbers and names with a heading; every error names its line.
 *
 * The heading has the wanted columns in any order. Other columns are not read. Lines may end in CR
 * LF. Refused are quotes, rows longer or shorter than the heading, and blank lines before the last
 * row. A pipe is read to its end. All errors except those of opening and reading the file are
 * EX_DATAERR, "FILE:LINE: ...". */

struct csv_column {
	const char *names;		/* one, or several: "application|model" */
	/* CSV_OPTIONAL: a number; NaN in an empty cell, or where there is no such column */
	enum csv_kind { CSV_TEXT, CSV_WHOLE, CSV_NUMBER, CSV_OPTIONAL } kind;
	double low, high;		/* the bounds of a number, which it may reach */
};

struct csv {
	char *path;
	struct text data;		/* the file; cells point into it */
	const struct csv_column *columns;	/* the caller's */
	int n_columns, n_rows;
	struct csv_cell {
		const char *text;
		double value;		/* of a number */
	} *cells;			/* [row * n_columns + column], in the order of columns */
};

int csv_read(struct csv *c, const char *path, const struct csv_column *columns, int n_columns,
	     struct err *err);
void csv_release(struct csv *c);

static inline const char *csv_text(const struct csv *c, int row, int column)
{
	return c->cells[row * c->n_columns + column].text;
}

static inline double csv_value(const struct csv *c, int row, int column)
{
	return c->cells[row * c->n_columns + column].value;
}

#define CSV_HEADING (-1)		/* the row of the heading */

/* The line of the file that the row is on. */
static inline int csv_line(int row)
{
	return row + 2;
}

/* Fails where a number is not within bounds that no column can state. */
int csv_check(const struct csv *c, int row, int column, double low, double high, struct err *err);
/* "FILE:LINE: TEXT" with EX_DATAERR; returns -1. */
int csv_complain(const struct csv *c, int row, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds the names in a directory, in an order of scandir(3). EX_NOINPUT. */
typedef int name_order(const struct dirent **a, const struct dirent **b);
int directory_names(struct strings *names, const char *directory, name_order *order,
		    struct err *err);

/* --- workloads: sim_profiles.c --- */

/* The first columns of each workload: the name of the job, the time of its submission. */
enum { WORKLOAD_NAME, WORKLOAD_TIME };
#define WORKLOAD_TIME_MAX 1e12
/* Takes what else a row has: for w->jobs[row], and for w->own. */
typedef int workload_row(const struct csv *c, int row, struct sim_workload *w, const void *data,
			 struct err *err);
struct workload_form {
	const struct csv_column *columns;
	int n_columns;
	workload_row *take;
	size_t own_size;		/* bytes of w->own for each job */
};
/* Reads a workload, whose rows must ascend by time; data is for take. */
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

/* A row of placements.csv. */
struct measured_row {
	char digits[PLACEMENT_DIGITS + 1];	/* rotated to be the smallest */
	int nodes, replicas, index;		/* index: the row's in the file */
	double local_batch_size;
	struct times times;
};

/* The rows of one placement, by local batch size. */
struct placement_times {
	const struct measured_row *rows;
	int n;
};

struct gradients {
	double sqr, var;	/* |G|^2, tr(Sigma) / initial batch size */
};

/* One training, at one batch size. */
struct validation {
	int64_t batch_size;
	struct epoch {
		double progress, iteration;	/* at its end */
		struct gradients gradients;
	} *epochs;				/* owned; n_epochs */
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

	struct measured_row *rows;	/* owned */
	struct placement_times *placements;	/* owned; by digits; of rows */
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
 * The times of a measured placement are linear in the local batch size between its rows. Other
 * placements are looked up in the grid, with no more nodes than were measured. A placement outside
 * the profiles is an error that names it. */

/* Placements of one class are equally fast. */
struct place_class {
	const struct application *application;
	const struct placement_times *exact;	/* NULL: this placement was not measured */
	int nodes, replicas;
};

struct place_class place_class_of(const struct application *a, const struct placement *p);
/* The class of GPUs packed on nodes of gpus_per_node: full nodes, then the rest. */
struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node);

/* Looks up the times of an update of one pass. EX_DATAERR: the placement is outside the
 * profiles. */
int truth_times(const struct place_class *c, int64_t local_batch_size, struct times *times,
		struct err *err);

/* Seconds of an update of several passes. */
double times_of_update(struct times times, int passes);

/* The gradients of a training at a batch size, linear between the nearest validated ones; the batch
 * size must lie within the validated range. */
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
