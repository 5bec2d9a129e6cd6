/* application.c - the times and the constants of one application. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "pollux/mem.h"

/* --- placements --- */

void placement_release(struct placement *p)
{
	free(p->nodes);
	free(p->gpus);
	*p = (struct placement){ 0 };
}

void placement_add(struct placement *p, int node, int gpus)
{
	p->nodes = xreallocarray(p->nodes, (size_t)p->n + 1, sizeof(*p->nodes));
	p->gpus = xreallocarray(p->gpus, (size_t)p->n + 1, sizeof(*p->gpus));
	p->nodes[p->n] = node;
	p->gpus[p->n++] = gpus;
	p->replicas += gpus;
}

bool placement_equal(const struct placement *a, const struct placement *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (a->nodes[i] != b->nodes[i] || a->gpus[i] != b->gpus[i])
			return false;
	return true;
}

void placement_canonical(const char *digits, char *out)
{
	size_t n = strlen(digits), best = 0;

	for (size_t start = 1; start < n; start++)
		for (size_t i = 0; i < n; i++) {
			char a = digits[(start + i) % n], b = digits[(best + i) % n];

			if (a != b) {
				best = a < b ? start : best;
				break;
			}
		}
	for (size_t i = 0; i < n; i++)
		out[i] = digits[(best + i) % n];
	out[n] = '\0';
}

bool placement_digits(const int *gpus, int n, char *out, int size)
{
	char digits[64] = "";

	if (n >= size || n >= (int)sizeof(digits))
		return false;
	for (int i = 0; i < n; i++) {
		if (gpus[i] > 9)
			return false;
		digits[i] = (char)('0' + gpus[i]);
	}
	digits[n] = '\0';
	placement_canonical(digits, out);
	return true;
}

/* --- files --- */

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

/* --- placements.csv --- */

/* Takes the times of a row, which begin at a column. */
static int take_times(const struct csv *c, int row, int column, struct times *times,
		      struct err *err)
{
	times->step_s = csv_value(c, row, column);
	times->sync_s = csv_value(c, row, column + 1);
	return csv_check(c, row, column + 1, 0, times->step_s, err);
}

static int take_placement(const struct csv *c, int row, struct measured_row *r, struct err *err)
{
	const char *digits = csv_text(c, row, 0);
	size_t n = strlen(digits);

	if (n < 1 || n > PLACEMENT_DIGITS || strspn(digits, "123456789") != n)
		return csv_complain(c, row, err, "placement '%.60s' is not a digit for each node",
				    digits);
	placement_canonical(digits, r->digits);
	r->nodes = (int)n;
	for (size_t i = 0; i < n; i++)
		r->replicas += digits[i] - '0';
	r->local_batch_size = csv_value(c, row, 1);
	r->index = row;
	return take_times(c, row, 2, &r->times, err);
}

static int by_placement(const void *a, const void *b)
{
	const struct measured_row *x = a, *y = b;
	int order = strcmp(x->digits, y->digits);

	return order ? order : x->index - y->index;
}

static int group_placements(struct application *a, const struct csv *c, struct err *err)
{
	qsort(a->rows, (size_t)c->n_rows, sizeof(*a->rows), by_placement);
	a->placements = xcalloc((size_t)c->n_rows, sizeof(*a->placements));
	for (int i = 0; i < c->n_rows; i++) {
		const struct measured_row *r = &a->rows[i];

		if (i == 0 || strcmp(r->digits, r[-1].digits) != 0)
			a->placements[a->n_placements++].rows = r;
		else if (r->local_batch_size <= r[-1].local_batch_size)
			return csv_complain(c, r->index, err,
					    "local_bsz does not ascend within placement %s",
					    r->digits);
		a->placements[a->n_placements - 1].n++;
	}
	return 0;
}

/* --- the grid --- */

static int by_place(const void *a, const void *b)
{
	const struct measured_row *x = a, *y = b;

	if (x->nodes != y->nodes)
		return x->nodes - y->nodes;
	if (x->replicas != y->replicas)
		return x->replicas - y->replicas;
	if (x->local_batch_size < y->local_batch_size || x->local_batch_size > y->local_batch_size)
		return x->local_batch_size < y->local_batch_size ? -1 : 1;
	return x->index - y->index;
}

/* The points of a grid. */
struct points {
	struct grid_point *items;
	int n;
};

static struct grid_point *add_point(struct points *points, double nodes, double replicas,
				    double local_batch_size)
{
	points->items = xgrow(points->items, points->n, sizeof(*points->items));
	points->items[points->n] = (struct grid_point){
		.at = { nodes, replicas, local_batch_size },
	};
	return &points->items[points->n++];
}

/* Averages the rows of all placements with the same numbers of nodes and GPUs. */
static void add_mean_points(struct measured_row *rows, int n, struct points *points)
{
	qsort(rows, (size_t)n, sizeof(*rows), by_place);
	for (int first = 0, i; first < n; first = i) {
		const struct measured_row *r = &rows[first];
		struct grid_point *p =
			add_point(points, r->nodes, r->replicas, r->local_batch_size);

		for (i = first; i < n && rows[i].nodes == r->nodes &&
		     rows[i].replicas == r->replicas &&
		     !(rows[i].local_batch_size > r->local_batch_size); i++) {
			p->times.step_s += rows[i].times.step_s;
			p->times.sync_s += rows[i].times.sync_s;
		}
		p->times.step_s /= i - first;
		p->times.sync_s /= i - first;
	}
}

static int add_wide_points(const char *path, struct points *points, struct err *err)
{
	static const struct csv_column columns[] = {
		{ "num_nodes", CSV_WHOLE, 1, 1e6 },
		{ "num_replicas", CSV_WHOLE, -HUGE_VAL, HUGE_VAL },
		{ "local_bsz", CSV_WHOLE, 1, BATCH_SIZE_MAX },
		{ "step_time", CSV_NUMBER, 1e-9, 1e9 },
		{ "sync_time", CSV_NUMBER, -HUGE_VAL, HUGE_VAL },
	};
	scoped(csv_release) struct csv c = { 0 };
	int rc = 0;

	if (csv_read(&c, path, columns, 5, err))
		return -1;
	for (int row = 0; row < c.n_rows && rc == 0; row++) {
		double nodes = csv_value(&c, row, 0);
		struct grid_point *p = add_point(points, nodes, csv_value(&c, row, 1),
						 csv_value(&c, row, 2));

		rc = csv_check(&c, row, 1, nodes, 1e6, err) ||
		     take_times(&c, row, 3, &p->times, err) ? -1 : 0;
	}
	return rc;
}

static int make_grid(struct application *a, const char *directory, struct points *points,
		     struct err *err)
{
	autofree char *path = xasprintf("%s/scalability%s.csv", directory, a->kind);
	int rc = 0;

	if (access(path, F_OK) == 0 || errno != ENOENT)
		rc = add_wide_points(path, points, err);
	for (int i = 0; i < points->n && rc == 0; i++) {
		a->max_nodes = (int)fmax(a->max_nodes, points->items[i].at[0]);
		a->max_replicas = (int)fmax(a->max_replicas, points->items[i].at[1]);
	}
	if (rc)
		free(points->items);
	else if ((rc = grid_init(&a->grid, points->items, points->n, err)))
		err_prefix(err, "%s", path);
	return rc;
}

static int read_times_files(struct application *a, const char *directory, struct err *err)
{
	static const struct csv_column columns[] = {
		{ "placement", CSV_TEXT, 0, 0 },
		{ "local_bsz", CSV_WHOLE, 1, BATCH_SIZE_MAX },
		{ "step_time", CSV_NUMBER, 1e-9, 1e9 },
		{ "sync_time", CSV_NUMBER, -HUGE_VAL, HUGE_VAL },
	};
	autofree char *path = xasprintf("%s/placements%s.csv", directory, a->kind);
	struct points points = { NULL, 0 };
	scoped(csv_release) struct csv c = { 0 };
	int rc = csv_read(&c, path, columns, 4, err);

	if (rc)
		return -1;
	a->rows = xcalloc((size_t)c.n_rows, sizeof(*a->rows));
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = take_placement(&c, i, &a->rows[i], err);
	if (rc == 0) {
		add_mean_points(a->rows, c.n_rows, &points);
		a->min_local_batch_size = INT64_MAX;
	}
	for (int i = 0; i < c.n_rows && rc == 0; i++) {
		int64_t m = (int64_t)a->rows[i].local_batch_size;

		if (m < a->min_local_batch_size)
			a->min_local_batch_size = m;
		if (m > a->max_local_batch_size)
			a->max_local_batch_size = m;
	}
	if (rc == 0 && (rc = group_placements(a, &c, err)))
		free(points.items);
	return rc ? -1 : make_grid(a, directory, &points, err);
}

/* --- all --- */

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
	rc = read_times_files(a, path, err) || application_read_validations(a, path, err) ? -1 : 0;
	if (rc == 0 && a->min_local_batch_size > a->max_batch_size)
		rc = err_set(err, EX_DATAERR,
			     "'%s': no local_bsz up to the largest validated batch size %lld", path,
			     (long long)a->max_batch_size);
	for (size_t i = 0; rc == 0 && i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		const struct exception *e = &exceptions[i];

		if (strcmp(e->name, name) != 0 || (e->kind && strcmp(e->kind, kind) != 0))
			continue;
		if (e->fixed) {
			a->fixed_batch_size = a->max_batch_size;
			a->max_replicas = 1;
		}
		if (e->max_local_batch_size && e->max_local_batch_size >= a->min_local_batch_size &&
		    e->max_local_batch_size < a->max_local_batch_size)
			a->max_local_batch_size = e->max_local_batch_size;
	}
	if (rc)
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
	free(a->rows);
	free(a->placements);
	grid_release(&a->grid);
	for (int i = 0; i < a->n_validations; i++)
		free(a->validations[i].epochs);
	free(a->validations);
	free(a->progress);
	*a = (struct application){ 0 };
}

static int compare_digits(const void *digits, const void *placement)
{
	return strcmp(digits, ((const struct placement_times *)placement)->rows->digits);
}

const struct placement_times *application_placement(const struct application *a, const char *digits)
{
	return bsearch(digits, a->placements, (size_t)a->n_placements, sizeof(*a->placements),
		       compare_digits);
}

int application_most_on_node(const struct application *a, int wanted)
{
	for (int n = 1; n <= wanted; n++) {
		char digits[PLACEMENT_DIGITS + 1];
		struct times times;

		if (!(placement_digits(&n, 1, digits, sizeof(digits)) &&
		      application_placement(a, digits)) &&
		    !grid_find(&a->grid, 1, n, (double)a->min_local_batch_size, &times) &&
		    !grid_find(&a->grid, 1, n, (double)a->max_local_batch_size, &times))
			return n - 1;
	}
	return wanted > 0 ? wanted : 0;
}
