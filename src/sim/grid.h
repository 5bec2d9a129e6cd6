/* grid.h - times by nodes, replicas and local batch size, linear in a Delaunay triangulation of the
 * measured points. The published simulator does the same (scipy's LinearNDInterpolator uses the
 * same library, Qhull, with the same options).
 *
 * The points lie on a grid, so the triangulation is not unique, and Qhull's has flat tetrahedra.
 * A point gets the first tetrahedron that contains it and is not flat. Any other choice changes
 * mean completion times by hundredths of a per cent. */
#ifndef SIM_GRID_H
#define SIM_GRID_H

#include <stdbool.h>

#include "pollux/err.h"
#include "times.h"

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

#endif
