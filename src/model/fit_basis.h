/* fit_basis.h - what the fitted parameters rest on; private to the model. */
#ifndef MODEL_FIT_BASIS_H
#define MODEL_FIT_BASIS_H

#include "fit_start.h"

/* A free parameter is from the data unless the others can make up for all but FIT_BASIS_TOLERANCE of
 * the (mean square) effect on the predicted times that a small change of it has. */
#define FIT_BASIS_TOLERANCE 1e-6
void fit_basis_find(enum fit_basis basis[N_THROUGHPUT_PARAMS], const struct fit_row *rows, int n,
		    const struct fit_box *box, const struct throughput_params *p);

#endif
