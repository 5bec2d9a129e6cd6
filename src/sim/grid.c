/* grid.c - times by nodes, replicas and local batch size, linear in a Delaunay triangulation of the
 * measured points. The published simulator does the same (scipy's LinearNDInterpolator uses the
 * same library, Qhull, with the same options).
 *
 * The points lie on a grid, so the triangulation is not unique, and Qhull's has flat tetrahedra.
 * A point gets the first tetrahedron that contains it and is not flat. Any other choice changes
 * mean completion times by hundredths of a per cent. */
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

static double determinant(const double m[3][3])
{
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
	       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Inverts a matrix by cofactors. */
static void invert(const double m[3][3], double det, double inverse[3][3])
{
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

			inverse[i][j] = (m[a][c] * m[b][d] - m[a][d] * m[b][c]) / det;
		}
}

/* Sets the inverse of a tetrahedron. False: the tetrahedron is flat. */
static bool tetrahedron_set(struct tetrahedron *t, const struct grid *g)
{
	double m[3][3], det;

	for (int axis = 0; axis < 3; axis++)
		for (int k = 0; k < 3; k++)
			m[axis][k] =
				g->points[t->corner[k]].at[axis] - g->points[t->corner[3]].at[axis];
	det = determinant((const double (*)[3])m);
	if (fabs(det) < FLAT)
		return false;
	invert((const double (*)[3])m, det, t->inverse);
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

/* The list of facets ends with a sentinel, which has no successor. */
static void collect_facets(qhT *qh, struct grid *g)
{
	size_t n = 0;

	for (const facetT *f = qh->facet_list; f && f->next; f = f->next)
		n++;
	g->tetrahedra = xcalloc(n, sizeof(*g->tetrahedra));
	for (const facetT *f = qh->facet_list; f && f->next; f = f->next)
		if (!f->upperdelaunay && f->simplicial)
			add_facet(qh, f, g);
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
static int run_qhull(qhT *qh, double *at, const struct grid *g, struct err *err)
{
	char options[] = "qhull d Qbb Qc Qz Q12 Qt";
	FILE *nowhere = fdopen(file_open_null(O_WRONLY | O_CLOEXEC), "w");
	int status;

	if (!nowhere)
		return err_set(err, EX_OSERR, "cannot open '/dev/null'");
	status = qh_new_qhull(qh, 3, g->n_points, at, False, options, NULL, nowhere);
	fclose(nowhere);
	return status ? err_set(err, EX_DATAERR, "Qhull failed on %d points, with status %d",
				g->n_points, status)
		      : 0;
}

static int triangulate(struct grid *g, struct err *err)
{
	double *at = xcalloc((size_t)g->n_points * 3, sizeof(*at));
	int rc, left, n_left;
	qhT qh;

	for (size_t i = 0; i < (size_t)g->n_points; i++)
		memcpy(&at[3 * i], g->points[i].at, sizeof(g->points[i].at));
	qh_zero(&qh, NULL);
	rc = run_qhull(&qh, at, g, err);
	if (rc == 0)
		collect_facets(&qh, g);
	qh_freeqhull(&qh, !qh_ALL);
	qh_memfreeshort(&qh, &left, &n_left);
	free(at);
	return rc;
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

static bool coordinates(const struct grid *g, const struct tetrahedron *t, const double *x,
			double *w)
{
	const double *origin = g->points[t->corner[3]].at;

	w[3] = 1;
	for (int i = 0; i < 3; i++) {
		w[i] = 0;
		for (int j = 0; j < 3; j++)
			w[i] += t->inverse[i][j] * (x[j] - origin[j]);
		if (w[i] < OUTSIDE)
			return false;
		w[3] -= w[i];
	}
	return w[3] >= OUTSIDE;
}

bool grid_find(const struct grid *g, double nodes, double replicas, double local_batch_size,
	       struct times *times)
{
	double x[3] = { nodes, replicas, local_batch_size }, w[4];

	for (int i = 0; i < g->n_tetrahedra; i++) {
		const struct tetrahedron *t = &g->tetrahedra[i];

		if (!coordinates(g, t, x, w))
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
