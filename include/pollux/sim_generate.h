/* sim_generate.h - made-up profiles and workloads in the published formats: for examples, tests, and sizes
 * of which there are no records. Nothing in them was measured.
 *
 * Applications (src/sim/generate_kinds.c has their numbers): the time of a step is that of the seven
 * parameters (throughput.h), of each row multiplied by exp(0.02 z); the noise scale grows by a constant
 * factor an epoch, multiplied by exp(0.05 z); z are normal. Updates at a batch size follow from it without
 * noise.
 *
 * Jobs are a Poisson process of jobs / seconds, n_jobs long. Of each are drawn the application, by the
 * weights of the kinds; GPUs, 1, 2, 4 or 8 with probabilities 0.4, 0.3, 0.2 and 0.1; the batch size is the
 * initial one times those, as far as it was validated. */
#ifndef POLLUX_SIM_GENERATE_H
#define POLLUX_SIM_GENERATE_H

#include <stdint.h>

#include "pollux/err.h"

struct sim_generation {
	int n_jobs, n_workloads;
	double seconds;			/* that the submissions of a workload take, on the average */
	uint64_t seed;			/* the same: the same bytes */
};

/* Makes directory/profiles and directory/workloads. The directory must not exist; it comes to be when it is
 * complete. EX_CANTCREAT. */
int sim_generate(const char *directory, const struct sim_generation *g, struct err *err);

#endif
