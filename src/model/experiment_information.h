/* experiment_information.h - how well the parameters are known, and what that says of step times; private to
 * the model. The formulas: experiment.h. */
#ifndef MODEL_EXPERIMENT_INFORMATION_H
#define MODEL_EXPERIMENT_INFORMATION_H

#include <stdbool.h>

#include "pollux/experiment.h"

struct information {
	double a[N_THROUGHPUT_PARAMS][N_THROUGHPUT_PARAMS];	/* A while adding, its inverse from then on */
};

/* The fitted parameters, with a guess in place of what nothing determines; own: where times were seen. */
struct throughput_params experiment_params(const struct fit_result *fit, const struct configuration *own);

void information_init(struct information *info);	/* the prior */
void information_add(struct information *info, const struct throughput_params *p,
		     const struct experiment_point *point);
void information_invert(struct information *info);

/* Once inverted: the mean of V over the grid, and by how much a point (its weight: what it adds to what is
 * known of its configuration) would lower it. */
double information_mean_variance(const struct information *info, const struct throughput_params *p,
				 const struct experiment_grid *grid);
double information_gain(const struct information *info, const struct throughput_params *p,
			const struct experiment_point *point, const struct experiment_grid *grid);

#endif
