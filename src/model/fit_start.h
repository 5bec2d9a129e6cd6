/* fit_start.h - what a fit starts from; private to the model. */
#ifndef MODEL_FIT_START_H
#define MODEL_FIT_START_H

#include <stdbool.h>

#include "fit_objective.h"

/* The box in which the parameters are looked for; a tied one has nothing to move in. */
struct fit_box {
	double low[N_THROUGHPUT_PARAMS], high[N_THROUGHPUT_PARAMS];
	bool tied[N_THROUGHPUT_PARAMS];
	bool in_prior[N_THROUGHPUT_PARAMS];	/* the prior says something of it */
	bool expected[N_THROUGHPUT_PARAMS];	/* and would it not, the parameter were tied */
};

/* Make a row of an observation; false when it cannot be used. */
bool fit_row_make(struct fit_row *row, const struct fit_observation *seen);

void fit_box_make(struct fit_box *box, const struct fit_row *rows, int n, const struct fit_prior *prior);

/* The published start, and one computed from the data. */
struct throughput_params fit_start_published(void);
struct throughput_params fit_start_data(const struct fit_row *rows, int n);
/* Put what is expected in the place of what the data do not say. */
void fit_start_expected(struct throughput_params *p, const struct fit_box *box,
			const struct fit_prior *prior);
/* All that is expected, with passes as long as they were seen. */
struct throughput_params fit_start_prior(const struct fit_row *rows, int n, const struct fit_prior *prior);

#endif
