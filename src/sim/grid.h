/* grid.h - times by nodes, replicas and local batch size, linear between measured points: on a Delaunay
 * triangulation of them, as the published simulator does (scipy's LinearNDInterpolator, which uses the same
 * library, Qhull, with the same options).
 *
 * The points lie on a grid, so the triangulation is not unique, and Qhull's has flat tetrahedra. Taken is
 * the first that is not flat and has the point within it. Any other choice differs by hundredths of a per
 * cent of mean completion times. */
#ifndef SIM_GRID_H
#define SIM_GRID_H

#include <stdbool.h>

#include "pollux/err.h"
#include "times.h"

struct grid_point {
	double at[3];		/* nodes, replicas, local batch size */
	struct times times;
};

/* corner[i] are points; a position x has the coordinates inverse * (x - corner[3]), and 1 less their sum. */
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

/* Takes over the points. With fewer than five, or all in one plane, there are no tetrahedra, and nothing
 * can be looked up. -1: Qhull failed. */
int grid_init(struct grid *g, struct grid_point *points, int n_points, struct err *err);
void grid_release(struct grid *g);

/* False: outside of the points' convex hull. */
bool grid_find(const struct grid *g, double nodes, double replicas, double local_batch_size,
	       struct times *times);

#endif
