/* ground_truth.c - looks up times; gradients and sizes.
 *
 * Times of placements that were not measured are linear in a Delaunay triangulation of the measured
 * points: by nodes, replicas and local batch size. The published simulator does the same (scipy's
 * LinearNDInterpolator uses the same library, Qhull, with the same options).
 *
 * The points lie on a grid, so the triangulation is not unique, and Qhull's has flat tetrahedra.
 * A point gets the first tetrahedron that contains it and is not flat. Any other choice changes
 * mean completion times by hundredths of a per cent. */
#include <assert.h>
#include <fcntl.h>
#include <libqhull_r/libqhull_r.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "pollux/file.h"
#include "pollux/mem.h"

#define FLAT 1e-9		/* determinants below this */
#define OUTSIDE (-1e-12)	/* coordinates below this */

/* --- the triangulation --- */

/* Sets the inverse of a tetrahedron, by cofactors. False: the tetrahedron is flat. */
static bool tetrahedron_set(struct tetrahedron *t, const struct grid *g)
{
	double m[3][3], det;

	for (int axis = 0; axis < 3; axis++)
		for (int k = 0; k < 3; k++)
			m[axis][k] =
				g->points[t->corner[k]].at[axis] - g->points[t->corner[3]].at[axis];
	det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
	      m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	      m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
	if (fabs(det) < FLAT)
		return false;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

			t->inverse[i][j] = (m[a][c] * m[b][d] - m[a][d] * m[b][c]) / det;
		}
	return true;
}

static void add_facet(qhT *qh, const facetT *facet, struct grid *g)
{
	struct tetrahedron *t = &g->tetrahedra[g->n_tetrahedra];

	if (qh_setsize(qh, facet->vertices) != 4)
		return;
	for (int i = 0; i < 4; i++) {
		const vertexT *vertex = facet->vertices->e[i].p;

		t->corner[i] = qh_pointid(qh, vertex->point);
		if (t->corner[i] < 0 || t->corner[i] >= g->n_points)
			return;
	}
	if (tetrahedron_set(t, g))
		g->n_tetrahedra++;
}

/* True for four or more points that are not all in one plane. */
static bool is_solid(const struct grid *g)
{
	for (int i = 1; i < g->n_points; i++)
		for (int j = i + 1; j < g->n_points; j++)
			for (int k = j + 1; k < g->n_points; k++) {
				struct tetrahedron t = { .corner = { i, j, k, 0 } };

				if (tetrahedron_set(&t, g))
					return true;
			}
	return false;
}

/* Drops what Qhull prints on failure, which is much. The error tells the number of the failure. */
static int triangulate(struct grid *g, struct err *err)
{
	char options[] = "qhull d Qbb Qc Qz Q12 Qt";
	FILE *nowhere = fdopen(file_open_null(O_WRONLY | O_CLOEXEC), "w");
	autofree double *at = xcalloc((size_t)g->n_points * 3, sizeof(*at));
	int status, left, n_left;
	size_t n = 0;
	qhT qh;

	if (!nowhere)
		return err_set(err, EX_OSERR, "cannot open '/dev/null'");
	for (size_t i = 0; i < (size_t)g->n_points; i++)
		memcpy(&at[3 * i], g->points[i].at, sizeof(g->points[i].at));
	qh_zero(&qh, NULL);
	status = qh_new_qhull(&qh, 3, g->n_points, at, False, options, NULL, nowhere);
	fclose(nowhere);
	/* The list of facets ends with a sentinel, which has no successor. */
	for (const facetT *f = qh.facet_list; !status && f && f->next; f = f->next)
		n++;
	g->tetrahedra = xcalloc(n, sizeof(*g->tetrahedra));
	for (const facetT *f = qh.facet_list; n && f->next; f = f->next)
		if (!f->upperdelaunay && f->simplicial)
			add_facet(&qh, f, g);
	qh_freeqhull(&qh, !qh_ALL);
	qh_memfreeshort(&qh, &left, &n_left);
	return status ? err_set(err, EX_DATAERR, "Qhull failed on %d points, with status %d",
				g->n_points, status)
		      : 0;
}

int grid_init(struct grid *g, struct grid_point *points, int n_points, struct err *err)
{
	*g = (struct grid){ .points = points, .n_points = n_points };
	return n_points > 4 && is_solid(g) ? triangulate(g, err) : 0;
}

void grid_release(struct grid *g)
{
	free(g->points);
	free(g->tetrahedra);
	*g = (struct grid){ 0 };
}

/* --- looking up --- */

bool grid_find(const struct grid *g, double nodes, double replicas, double local_batch_size,
	       struct times *times)
{
	const double x[3] = { nodes, replicas, local_batch_size };
	double w[4];

	for (int i = 0; i < g->n_tetrahedra; i++) {
		const struct tetrahedron *t = &g->tetrahedra[i];
		const double *origin = g->points[t->corner[3]].at;
		bool inside = true;

		w[3] = 1;
		for (int k = 0; k < 3 && inside; k++) {
			w[k] = 0;
			for (int j = 0; j < 3; j++)
				w[k] += t->inverse[k][j] * (x[j] - origin[j]);
			inside &= w[k] >= OUTSIDE;
			w[3] -= w[k];
		}
		if (!inside || w[3] < OUTSIDE)
			continue;
		*times = (struct times){ 0, 0 };
		for (int k = 0; k < 4; k++) {
			times->step_s += w[k] * g->points[t->corner[k]].times.step_s;
			times->sync_s += w[k] * g->points[t->corner[k]].times.sync_s;
		}
		return true;
	}
	return false;
}

/* --- classes --- */

static struct place_class class_of_gpus(const struct application *a, const int *gpus, int n,
					int replicas)
{
	struct place_class c = { .application = a, .nodes = n, .replicas = replicas };
	char digits[PLACEMENT_DIGITS + 1];

	if (placement_digits(gpus, n, digits, sizeof(digits)))
		c.exact = application_placement(a, digits);
	if (!c.exact && c.nodes > a->max_nodes)
		c.nodes = a->max_nodes;
	return c;
}

struct place_class place_class_of(const struct application *a, const struct placement *p)
{
	return class_of_gpus(a, p->gpus, p->n, p->replicas);
}

struct place_class place_class_packed(const struct application *a, int replicas, int gpus_per_node)
{
	int gpus[PLACEMENT_DIGITS + 1], n = (replicas + gpus_per_node - 1) / gpus_per_node;

	for (int i = 0; i < n && i <= PLACEMENT_DIGITS; i++)
		gpus[i] = i < n - 1 ? gpus_per_node : replicas - (n - 1) * gpus_per_node;
	return class_of_gpus(a, gpus, n, replicas);
}

/* --- times --- */

static double between(double x0, double x1, double y0, double y1, double x)
{
	return (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

static bool interpolate(const struct placement_times *p, double m, struct times *times)
{
	const struct measured_row *low = p->rows, *high = &p->rows[p->n - 1];

	if (m < low->local_batch_size || m > high->local_batch_size)
		return false;
	*times = low->times;
	if (p->n == 1)
		return true;
	for (high = low + 1; high < &p->rows[p->n - 1] && high->local_batch_size < m; high++)
		low = high;
	times->step_s = between(low->local_batch_size, high->local_batch_size,
				low->times.step_s, high->times.step_s, m);
	times->sync_s = between(low->local_batch_size, high->local_batch_size,
				low->times.sync_s, high->times.sync_s, m);
	return true;
}

int truth_times(const struct place_class *c, int64_t local_batch_size, struct times *times,
		struct err *err)
{
	double m = (double)local_batch_size;
	bool found = c->exact ? interpolate(c->exact, m, times)
			      : grid_find(&c->application->grid, c->nodes, c->replicas, m, times);

	if (found)
		return 0;
	return err_set(err, EX_DATAERR,
		       "the profiles of '%s' do not cover a local batch of %lld on %d node%s "
		       "with %d GPU%s%s%s: '%s/%s'",
		       c->application->name, (long long)local_batch_size, c->nodes,
		       c->nodes == 1 ? "" : "s", c->replicas, c->replicas == 1 ? "" : "s",
		       c->exact ? ", placement " : "", c->exact ? c->exact->rows->digits : "",
		       c->application->directory, c->exact ? "placements.csv" : "*.csv");
}

double times_of_update(struct times times, int passes)
{
	return times.step_s + (passes - 1) * (times.step_s - times.sync_s);
}

/* --- gradients --- */

/* The validations on both sides of a batch size; both are the same for a validated batch size. */
struct sides {
	const struct validation *low, *high;
	double batch_size;
};

static struct sides sides_of(const struct application *a, double batch_size)
{
	struct sides s = { .low = a->validations,
			   .high = a->validations,
			   .batch_size = batch_size };
	const struct validation *last = &a->validations[a->n_validations - 1];

	assert(batch_size >= (double)a->initial_batch_size &&
	       batch_size <= (double)a->max_batch_size);
	while (s.high < last && (double)s.high->batch_size < batch_size)
		s.high++;
	s.low = (double)s.high->batch_size > batch_size ? s.high - 1 : s.high;
	return s;
}

static double weigh(const struct sides *s, double low, double high)
{
	double l = (double)s->low->batch_size, u = (double)s->high->batch_size;

	if (s->low == s->high)
		return low;
	return ((s->batch_size - l) * high + (u - s->batch_size) * low) / (u - l);
}

struct gradients truth_gradients(const struct application *a, double batch_size, int epoch)
{
	struct sides s = sides_of(a, batch_size);

	return (struct gradients){
		.sqr = weigh(&s, s.low->epochs[epoch].gradients.sqr,
			     s.high->epochs[epoch].gradients.sqr),
		.var = weigh(&s, s.low->epochs[epoch].gradients.var,
			     s.high->epochs[epoch].gradients.var),
	};
}

double truth_iterations(const struct application *a, double batch_size, int epoch)
{
	struct sides s = sides_of(a, batch_size);

	return weigh(&s, s.low->epochs[epoch].iteration, s.high->epochs[epoch].iteration);
}

double gradients_gain(struct gradients g, double scale)
{
	return (g.var + g.sqr) / (g.var / scale + g.sqr);
}

double gradients_noise_scale(const struct application *a, struct gradients g)
{
	return g.sqr > 0 ? (double)a->initial_batch_size * g.var / g.sqr : HUGE_VAL;
}

/* --- sizes --- */

struct configuration sizes_spread(const struct application *a, struct throughput_place place,
				  int64_t batch_size, bool two_on_one)
{
	int replicas = place.replicas;
	/* The published code takes two steps, from ceil(B / R), with the same result. */
	int64_t passes = ceil_div(batch_size, replicas * a->max_local_batch_size);
	int64_t limit, local;

	if (replicas == 1 && passes < 2 && (two_on_one || batch_size > a->initial_batch_size))
		passes = 2;
	local = ceil_div(batch_size, replicas * passes);
	limit = a->max_batch_size / (replicas * passes);
	return configuration_at(place, local < limit ? local : limit, (int)passes);
}

bool sizes_are_validated(const struct application *a, const struct configuration *sizes)
{
	int64_t batch_size = configuration_batch_size(sizes);

	return batch_size >= a->initial_batch_size && batch_size <= a->max_batch_size;
}
