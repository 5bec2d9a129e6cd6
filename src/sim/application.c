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

void placement_copy(struct placement *to, const struct placement *from)
{
	struct placement copy = { 0 };

	for (int i = 0; i < from->n; i++)
		placement_add(&copy, from->nodes[i], from->gpus[i]);
	placement_release(to);
	*to = copy;
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

struct row {
	char digits[PLACEMENT_DIGITS + 1];
	int nodes, replicas, index;	/* index: the row's in the file */
	double local_batch_size;
	struct times times;
};

/* --- placements.csv --- */

static int read_times(const struct csv *c, int row, int column, struct row *r, struct err *err)
{
	static const struct csv_range sizes = { 1, BATCH_SIZE_MAX }, steps_s = { 1e-9, 1e9 };
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

/* The points of a grid. */
struct points {
	struct grid_point *items;
	int n;
};

/* Averages the rows of all placements with the same numbers of nodes and GPUs. */
static void add_mean_points(struct row *rows, int n, struct points *points)
{
	qsort(rows, (size_t)n, sizeof(*rows), by_place);
	for (int first = 0, i; first < n; first = i) {
		struct grid_point p = { .at = { rows[first].nodes, rows[first].replicas,
						rows[first].local_batch_size } };

		for (i = first; i < n && rows[i].nodes == rows[first].nodes &&
		     rows[i].replicas == rows[first].replicas &&
		     !(rows[i].local_batch_size > rows[first].local_batch_size); i++) {
			p.times.step_s += rows[i].times.step_s;
			p.times.sync_s += rows[i].times.sync_s;
		}
		p.times.step_s /= i - first;
		p.times.sync_s /= i - first;
		points->items = xgrow(points->items, points->n, sizeof(*points->items));
		points->items[points->n++] = p;
	}
}

static int read_wide(const struct csv *c, int row, void *data, struct err *err)
{
	struct points *points = data;
	int64_t nodes, replicas;
	struct row r = { .nodes = 0 };

	if (csv_whole(c, row, 0, (struct csv_range){ 1, 1e6 }, &nodes, err) ||
	    csv_whole(c, row, 1, (struct csv_range){ (double)nodes, 1e6 }, &replicas, err) ||
	    read_times(c, row, 2, &r, err))
		return -1;
	points->items = xgrow(points->items, points->n, sizeof(*points->items));
	points->items[points->n++] = (struct grid_point){
		.at = { (double)nodes, (double)replicas, r.local_batch_size }, .times = r.times,
	};
	return 0;
}

static int make_grid(struct application *a, const char *directory, struct row *rows, int n_rows,
		     struct err *err)
{
	static const char *const columns[] = {
		"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time",
	};
	struct points points = { NULL, 0 };
	char *path = xasprintf("%s/scalability%s.csv", directory, a->kind);
	int rc = 0;

	add_mean_points(rows, n_rows, &points);
	if (access(path, F_OK) == 0 || errno != ENOENT)
		rc = csv_rows(path, columns, 5, read_wide, &points, err);
	for (int i = 0; i < points.n && rc == 0; i++) {
		a->max_nodes = (int)fmax(a->max_nodes, points.items[i].at[0]);
		a->max_replicas = (int)fmax(a->max_replicas, points.items[i].at[1]);
	}
	if (rc)
		free(points.items);
	else if ((rc = grid_init(&a->grid, points.items, points.n, err)))
		err_prefix(err, "%s", path);
	free(path);
	return rc;
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
		a->min_local_batch_size = INT64_MAX;
		for (int i = 0; i < c.n_rows; i++) {
			int64_t m = (int64_t)rows[i].local_batch_size;

			if (m < a->min_local_batch_size)
				a->min_local_batch_size = m;
			if (m > a->max_local_batch_size)
				a->max_local_batch_size = m;
		}
		rc = make_grid(a, directory, rows, c.n_rows, err);
	}
	free(rows);
	csv_release(&c);
	return rc;
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
