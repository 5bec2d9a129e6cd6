/* fit_basis.h - finds the source of each fitted parameter; private to the model. */
#ifndef MODEL_FIT_BASIS_H
#define MODEL_FIT_BASIS_H

#include "fit_start.h"

/* A free parameter counts as determined by the data unless the other parameters can cancel all but
 * FIT_BASIS_TOLERANCE of the mean square effect that a small change of it has on the predicted
 * times. */
#define FIT_BASIS_TOLERANCE 1e-6
void fit_basis_find(enum fit_basis basis[N_THROUGHPUT_PARAMS], const struct fit_row *rows, int n,
		    const struct fit_box *box, const struct throughput_params *p);

#endif
