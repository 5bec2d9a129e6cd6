/* fit_polish.h - the last steps to a minimum of the fit; private to the model. */
#ifndef MODEL_FIT_POLISH_H
#define MODEL_FIT_POLISH_H

#include "fit_start.h"

/* A point, and the objective at this point. */
struct fit_point {
	struct throughput_params params;
	struct fit_value value;
};

/* Descends from a point within the box until nothing more is gained, or until *evaluations reaches
 * its maximum. Returns true if it converged. */
bool fit_polish(const struct fit_objective *f, const struct fit_box *box, struct fit_point *point,
		int *evaluations, int max_evaluations);

#endif
