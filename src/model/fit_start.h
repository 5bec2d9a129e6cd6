/* fit_start.h - the rows, the box and the starts of a fit; private to the model. */
#ifndef MODEL_FIT_START_H
#define MODEL_FIT_START_H

#include <stdbool.h>

#include "fit_objective.h"

/* The box in which the parameters are searched. A tied parameter has low = high. */
struct fit_box {
	double low[N_THROUGHPUT_PARAMS], high[N_THROUGHPUT_PARAMS];
	bool tied[N_THROUGHPUT_PARAMS];
	bool in_prior[N_THROUGHPUT_PARAMS];	/* the prior expects a value */
	bool expected[N_THROUGHPUT_PARAMS];	/* and without it the parameter would be tied */
};

/* Makes a row from an observation. Returns false if the observation is not usable. */
bool fit_row_make(struct fit_row *row, const struct observation *seen);

void fit_box_make(struct fit_box *box, const struct fit_row *rows, int n,
		  const struct fit_prior *prior);

/* The published start, and a start computed from the data. */
struct throughput_params fit_start_published(void);
struct throughput_params fit_start_data(const struct fit_row *rows, int n);
/* Sets the parameters that the data leave open to their expectations. */
void fit_start_expected(struct throughput_params *p, const struct fit_box *box,
			const struct fit_prior *prior);
/* A start with all expected values, and with passes as long as they were measured. */
struct throughput_params fit_start_prior(const struct fit_row *rows, int n,
					 const struct fit_prior *prior);

#endif
