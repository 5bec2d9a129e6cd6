/* experiment_information.h - the information matrix of the parameters, and the variances of
 * predicted step times; private to the model. experiment.h has the formulas. */
#ifndef MODEL_EXPERIMENT_INFORMATION_H
#define MODEL_EXPERIMENT_INFORMATION_H

#include <stdbool.h>

#include "pollux/experiment.h"

struct information {
	/* A; after information_invert() its inverse */
	double a[N_THROUGHPUT_PARAMS][N_THROUGHPUT_PARAMS];
};

/* The fitted parameters, with a guess for each that no observation determines. own: the
 * configuration in which times were measured. */
struct throughput_params experiment_params(const struct fit_result *fit,
					   const struct configuration *own);

void information_init(struct information *info);	/* starts with the prior */
void information_add(struct information *info, const struct throughput_params *p,
		     const struct observation *point);
void information_invert(struct information *info);

/* By how much a further point lowers the mean of V over the grid, for the inverted matrix. Its
 * weight is what it adds to the weight of its configuration. */
double information_gain(const struct information *info, const struct throughput_params *p,
			const struct observation *point, const struct experiment_grid *grid);

#endif
