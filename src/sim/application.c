/* application.c - the files of one application. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "csv.h"
#include "placement.h"
#include "pollux/mem.h"
#include "pollux/number.h"
#include "pollux/text.h"

#define SIZE_MAX_SAMPLES 1000000000	/* of batches; as configuration_spread has it */

/* Facts of three applications that are in published simulators, not in the files. Pollux: one runs
 * on one GPU only, at its largest batch size only; of another, local batches above 8 are left out.
 * Sia: of a third, large local batches on one kind of GPU are left out. */
struct exception {
	const char *name, *kind;	/* NULL: any */
	bool fixed;
	int64_t max_local_batch_size;
};

static const struct exception exceptions[] = {
	{ "ncf", NULL, true, 0 },
	{ "yolov3", "", false, 8 },
	{ "yolov3", "-t4", false, 8 },
	{ "deepspeech2", "-rtx2080ti", false, 57 },
};

struct row {
	char digits[PLACEMENT_DIGITS + 1];
	int nodes, replicas, index;	/* index: the row's in the file */
	double local_batch_size;
	struct times times;
};

/* --- placements.csv --- */

static int read_times(const struct csv *c, int row, int column, struct row *r, struct err *err)
{
	static const struct csv_range sizes = { 1, SIZE_MAX_SAMPLES }, steps_s = { 1e-9, 1e9 };
	int64_t size;

	if (csv_whole(c, row, column, sizes, &size, err) ||
	    csv_number(c, row, column + 1, steps_s, &r->times.step_s, err) ||
	    csv_number(c, row, column + 2, (struct csv_range){ 0, r->times.step_s },
		       &r->times.sync_s, err))
		return -1;
	r->local_batch_size = (double)size;
	r->index = row;
	return 0;
}

static int read_placement(const struct csv *c, int row, struct row *r, struct err *err)
{
	const char *digits = csv_cell(c, row, 0);
	size_t n = strlen(digits);

	if (n < 1 || n > PLACEMENT_DIGITS || strspn(digits, "123456789") != n)
		return csv_complain(c, row, err, "placement '%.60s' is not a digit for each node",
				    digits);
	placement_canonical(digits, r->digits);
	r->nodes = (int)n;
	for (size_t i = 0; i < n; i++)
		r->replicas += digits[i] - '0';
	return read_times(c, row, 1, r, err);
}

static int by_placement(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->digits, y->digits);

	return order ? order : x->index - y->index;
}

static int set_placement(struct application *a, const struct csv *c, const struct row *rows, int n,
			 struct err *err)
{
	struct placement_times *p = &a->placements[a->n_placements++];

	*p = (struct placement_times){ .nodes = rows->nodes, .replicas = rows->replicas, .n = n };
	memcpy(p->digits, rows->digits, sizeof(p->digits));
	p->local_batch_size = xcalloc((size_t)n, sizeof(*p->local_batch_size));
	p->times = xcalloc((size_t)n, sizeof(*p->times));
	for (int i = 0; i < n; i++) {
		if (i > 0 && rows[i].local_batch_size <= rows[i - 1].local_batch_size)
			return csv_complain(c, rows[i].index, err,
					    "local_bsz does not ascend within placement %s",
					    p->digits);
		p->local_batch_size[i] = rows[i].local_batch_size;
		p->times[i] = rows[i].times;
	}
	return 0;
}

static int group_placements(struct application *a, const struct csv *c, struct row *rows,
			    struct err *err)
{
	int first = 0;

	qsort(rows, (size_t)c->n_rows, sizeof(*rows), by_placement);
	a->placements = xcalloc((size_t)c->n_rows, sizeof(*a->placements));
	for (int i = 1; i <= c->n_rows; i++) {
		if (i < c->n_rows && strcmp(rows[i].digits, rows[first].digits) == 0)
			continue;
		if (set_placement(a, c, &rows[first], i - first, err))
			return -1;
		first = i;
	}
	return 0;
}

/* --- the grid --- */

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->nodes != y->nodes)
		return x->nodes - y->nodes;
	if (x->replicas != y->replicas)
		return x->replicas - y->replicas;
	if (x->local_batch_size < y->local_batch_size || x->local_batch_size > y->local_batch_size)
		return x->local_batch_size < y->local_batch_size ? -1 : 1;
	return x->index - y->index;
}

/* Averages the rows of all placements with the same numbers of nodes and GPUs. Returns the number
 * of points. */
static int mean_points(struct row *rows, int n, struct grid_point *points)
{
	int n_points = 0;

	qsort(rows, (size_t)n, sizeof(*rows), by_place);
	for (int first = 0, i; first < n; first = i) {
		struct grid_point *p = &points[n_points++];

		*p = (struct grid_point){ .at = { rows[first].nodes, rows[first].replicas,
						  rows[first].local_batch_size } };
		for (i = first; i < n && rows[i].nodes == rows[first].nodes &&
		     rows[i].replicas == rows[first].replicas &&
		     !(rows[i].local_batch_size > rows[first].local_batch_size); i++) {
			p->times.step_s += rows[i].times.step_s;
			p->times.sync_s += rows[i].times.sync_s;
		}
		p->times.step_s /= i - first;
		p->times.sync_s /= i - first;
	}
	return n_points;
}

static int read_wide(const struct csv *c, int row, struct grid_point *p, struct err *err)
{
	int64_t nodes, replicas;
	struct row r = { .nodes = 0 };

	if (csv_whole(c, row, 0, (struct csv_range){ 1, 1e6 }, &nodes, err) ||
	    csv_whole(c, row, 1, (struct csv_range){ (double)nodes, 1e6 }, &replicas, err) ||
	    read_times(c, row, 2, &r, err))
		return -1;
	*p = (struct grid_point){
		.at = { (double)nodes, (double)replicas, r.local_batch_size }, .times = r.times,
	};
	return 0;
}

static int read_scalability(const char *path, struct grid_point **points, int *n, struct err *err)
{
	static const char *const columns[] = {
		"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time",
	};
	struct csv c;
	int rc = 0;

	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	if (csv_read(&c, path, columns, 5, err))
		return -1;
	*points = xreallocarray(*points, (size_t)*n + (size_t)c.n_rows, sizeof(**points));
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_wide(&c, i, &(*points)[*n + i], err);
	*n += c.n_rows;
	csv_release(&c);
	return rc;
}

static int make_grid(struct application *a, const char *directory, struct row *rows, int n_rows,
		     struct err *err)
{
	struct grid_point *points = xcalloc((size_t)n_rows, sizeof(*points));
	int n = mean_points(rows, n_rows, points), rc;
	char *path = xasprintf("%s/scalability%s.csv", directory, a->kind);

	rc = read_scalability(path, &points, &n, err);
	for (int i = 0; i < n && rc == 0; i++) {
		a->max_nodes = (int)fmax(a->max_nodes, points[i].at[0]);
		a->max_replicas = (int)fmax(a->max_replicas, points[i].at[1]);
	}
	if (rc)
		free(points);
	else if ((rc = grid_init(&a->grid, points, n, err)))
		err_prefix(err, "%s", path);
	free(path);
	return rc;
}

static void set_local_limits(struct application *a, const struct row *rows, int n)
{
	a->min_local_batch_size = INT64_MAX;
	for (int i = 0; i < n; i++) {
		int64_t m = (int64_t)rows[i].local_batch_size;

		if (m < a->min_local_batch_size)
			a->min_local_batch_size = m;
		if (m > a->max_local_batch_size)
			a->max_local_batch_size = m;
	}
}

static int read_times_files(struct application *a, const char *directory, struct err *err)
{
	static const char *const columns[] = { "placement", "local_bsz", "step_time", "sync_time" };
	char *path = xasprintf("%s/placements%s.csv", directory, a->kind);
	struct row *rows;
	struct csv c;
	int rc;

	rc = csv_read(&c, path, columns, 4, err);
	free(path);
	if (rc)
		return -1;
	rows = xcalloc((size_t)c.n_rows, sizeof(*rows));
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_placement(&c, i, &rows[i], err);
	if (rc == 0)
		rc = group_placements(a, &c, rows, err);
	if (rc == 0) {
		set_local_limits(a, rows, c.n_rows);
		rc = make_grid(a, directory, rows, c.n_rows, err);
	}
	free(rows);
	csv_release(&c);
	return rc;
}

/* --- validation-B.csv --- */

static int read_epoch(const struct csv *c, int row, struct validation *v, struct err *err)
{
	static const struct csv_range updates = { 0, 1e15 }, squares = { 0, 1e300 };

	if (csv_number(c, row, 0, updates, &v->progress[row], err) ||
	    csv_number(c, row, 1, updates, &v->iteration[row], err) ||
	    csv_number(c, row, 2, squares, &v->grad_sqr[row], err) ||
	    csv_number(c, row, 3, squares, &v->grad_var[row], err))
		return -1;
	if (!(v->grad_sqr[row] + v->grad_var[row] > 0))
		return csv_complain(c, row, err, "grad_sqr and grad_var are both 0");
	if (row > 0 && v->progress[row] < v->progress[row - 1])
		return csv_complain(c, row, err, "progress falls from one epoch to the next");
	return 0;
}

static int read_validation(struct application *a, const char *path, int64_t batch_size,
			   struct err *err)
{
	static const char *const columns[] = { "progress", "iteration", "grad_sqr", "grad_var" };
	struct validation *v = &a->validations[a->n_validations];
	struct csv c;
	int rc = 0;

	if (csv_read(&c, path, columns, 4, err))
		return -1;
	*v = (struct validation){ .batch_size = batch_size };
	v->progress = xcalloc((size_t)c.n_rows * 4, sizeof(*v->progress));
	v->iteration = v->progress + c.n_rows;
	v->grad_sqr = v->iteration + c.n_rows;
	v->grad_var = v->grad_sqr + c.n_rows;
	a->n_validations++;
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_epoch(&c, i, v, err);
	if (rc == 0 && a->n_epochs && a->n_epochs != c.n_rows)
		rc = csv_complain(&c, c.n_rows - 1, err,
				  "%d epochs, where other validations have %d", c.n_rows,
				  a->n_epochs);
	a->n_epochs = c.n_rows;
	csv_release(&c);
	return rc;
}

/* Returns B of "validation-B.csv"; 0 for any other name; -1 if B is no number or is not written in
 * its usual form. */
static int64_t validation_batch_size(const char *name)
{
	static const char prefix[] = "validation-", suffix[] = ".csv";
	size_t n = strlen(name), head = sizeof(prefix) - 1, tail = sizeof(suffix) - 1;
	int64_t size = 0;
	char *digits;

	if (n < head + tail || !text_starts_with(name, prefix) ||
	    strcmp(name + n - tail, suffix) != 0)
		return 0;
	digits = xstrdup(name + head);
	digits[n - head - tail] = '\0';
	if (*digits == '0' || strspn(digits, "0123456789") != strlen(digits) ||
	    number_parse_int(digits, &size) || size < 1 || size > SIZE_MAX_SAMPLES)
		size = -1;
	free(digits);
	return size;
}

/* The progress at the end of an epoch is the least of all trainings. */
static void set_progress(struct application *a)
{
	a->progress = xcalloc((size_t)a->n_epochs + 1, sizeof(*a->progress));
	for (int e = 0; e < a->n_epochs; e++) {
		a->progress[e + 1] = a->validations[0].progress[e];
		for (int i = 1; i < a->n_validations; i++)
			a->progress[e + 1] =
				fmin(a->progress[e + 1], a->validations[i].progress[e]);
	}
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Lists the validated batch sizes, ascending; the caller frees *sizes. Returns their number. */
static int list_validations(const char *directory, int64_t **sizes, struct err *err)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	int n = 0;

	if (!dir)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", directory, strerror(errno));
	while ((entry = readdir(dir))) {
		int64_t size = validation_batch_size(entry->d_name);

		if (!size)
			continue;
		if (size < 0) {
			err_set(err, EX_DATAERR,
				"'%s/%s': its name is not 'validation-B.csv' of a batch size B",
				directory, entry->d_name);
			n = -1;
			break;
		}
		*sizes = xreallocarray(*sizes, (size_t)n + 1, sizeof(**sizes));
		(*sizes)[n++] = size;
	}
	closedir(dir);
	if (n < 0)
		return -1;
	if (n == 0)
		return err_set(err, EX_DATAERR, "no 'validation-B.csv' in '%s'", directory);
	qsort(*sizes, (size_t)n, sizeof(**sizes), by_size);
	return n;
}

static int read_validations(struct application *a, const char *directory, struct err *err)
{
	int64_t *sizes = NULL;
	int n = list_validations(directory, &sizes, err), rc = n < 0 ? -1 : 0;

	a->validations = xcalloc(n > 0 ? (size_t)n : 0, sizeof(*a->validations));
	for (int i = 0; sizes && i < n && rc == 0; i++) {
		char *path = xasprintf("%s/validation-%lld.csv", directory, (long long)sizes[i]);

		rc = read_validation(a, path, sizes[i], err);
		free(path);
	}
	free(sizes);
	if (rc)
		return -1;
	a->initial_batch_size = a->validations[0].batch_size;
	a->max_batch_size = a->validations[a->n_validations - 1].batch_size;
	set_progress(a);
	return 0;
}

/* --- all --- */

static void set_exceptions(struct application *a)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		const struct exception *e = &exceptions[i];

		if (strcmp(e->name, a->name) != 0 || (e->kind && strcmp(e->kind, a->kind) != 0))
			continue;
		if (e->fixed) {
			a->fixed_batch_size = a->max_batch_size;
			a->max_replicas = 1;
		}
		if (e->max_local_batch_size && e->max_local_batch_size >= a->min_local_batch_size &&
		    e->max_local_batch_size < a->max_local_batch_size)
			a->max_local_batch_size = e->max_local_batch_size;
	}
}

static int read_kind(struct application *a, const char *directory, const char *name,
		     const char *kind, struct err *err)
{
	const char *path;
	int rc;

	*a = (struct application){
		.name = xstrdup(name), .directory = xasprintf("%s/%s", directory, name),
		.kind = xstrdup(kind), .restart_s = (double)NAN, .told_restart_s = (double)NAN,
		.slowdown = 1,
	};
	path = a->directory;
	rc = read_times_files(a, path, err) || read_validations(a, path, err) ? -1 : 0;
	if (rc == 0 && a->min_local_batch_size > a->max_batch_size)
		rc = err_set(err, EX_DATAERR,
			     "'%s': no local_bsz up to the largest validated batch size %lld", path,
			     (long long)a->max_batch_size);
	if (rc == 0)
		set_exceptions(a);
	else
		application_release(a);
	return rc;
}

int application_read(struct application *a, const char *directory, const char *name,
		     char *const *kinds, int n_kinds, struct err *err)
{
	if (read_kind(a, directory, name, kinds[0], err))
		return -1;
	a->others = xcalloc((size_t)n_kinds - 1, sizeof(*a->others));
	while (a->n_others < n_kinds - 1) {
		if (read_kind(&a->others[a->n_others], directory, name, kinds[a->n_others + 1],
			      err)) {
			application_release(a);
			return -1;
		}
		a->n_others++;
	}
	return 0;
}

void application_release(struct application *a)
{
	for (int i = 0; i < a->n_others; i++)
		application_release(&a->others[i]);
	free(a->others);
	free(a->kind);
	free(a->name);
	free(a->directory);
	for (int i = 0; i < a->n_placements; i++) {
		free(a->placements[i].local_batch_size);
		free(a->placements[i].times);
	}
	free(a->placements);
	grid_release(&a->grid);
	for (int i = 0; i < a->n_validations; i++)
		free(a->validations[i].progress);
	free(a->validations);
	free(a->progress);
	*a = (struct application){ 0 };
}

static int compare_digits(const void *digits, const void *placement)
{
	return strcmp(digits, ((const struct placement_times *)placement)->digits);
}

const struct placement_times *application_placement(const struct application *a, const char *digits)
{
	return bsearch(digits, a->placements, (size_t)a->n_placements, sizeof(*a->placements),
		       compare_digits);
}

static bool covers_on_node(const struct application *a, int replicas)
{
	char digits[PLACEMENT_DIGITS + 1];
	struct times times;

	if (placement_digits(&replicas, 1, digits, sizeof(digits)) &&
	    application_placement(a, digits))
		return true;
	return grid_find(&a->grid, 1, replicas, (double)a->min_local_batch_size, &times) ||
	       grid_find(&a->grid, 1, replicas, (double)a->max_local_batch_size, &times);
}

int application_most_on_node(const struct application *a, int wanted)
{
	int covered = 0;

	while (covered < wanted && covers_on_node(a, covered + 1))
		covered++;
	return covered;
}
