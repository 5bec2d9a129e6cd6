/* experiment_sizes.h - the configurations that a job may be given; private to the model. */
#ifndef MODEL_EXPERIMENT_SIZES_H
#define MODEL_EXPERIMENT_SIZES_H

#include "pollux/experiment.h"

/* The bounds of the batch size: M0 if none is declared. */
int64_t sizes_most_batch(const struct experiment_limits *l);
int64_t sizes_least_batch(const struct experiment_limits *l);

/* The smaller of a and limit; limit 0: none. */
int64_t sizes_at_most(int64_t a, int64_t limit);

/* Makes the configuration with local batch m and the fewest passes that reach the least batch.
 * Returns false if it is not legal. */
bool sizes_with_local(const struct experiment_limits *l, int r, int64_t m,
		      struct configuration *c);

/* The job's own configuration, on the fewest devices. */
struct configuration sizes_own(const struct experiment_limits *l);

#endif
