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

#include <signal.h>
#include <stdint.h>

#include "pollux/err.h"

#define SIM_GENERATE_GPUS_MAX 9		/* on a node: a placement has a digit for it */

struct sim_generation {
	int n_jobs, n_workloads;
	double seconds;			/* that the submissions of a workload take, on the average */
	int gpus_per_node;		/* that profiles are to cover, up to SIM_GENERATE_GPUS_MAX; at least 4 they do */
	uint64_t seed;			/* the same: the same bytes */
	const volatile sig_atomic_t *stop;	/* ends it, once this is not 0; may be NULL */
};

/* GPUs of a node that the profiles cover. */
int sim_generate_gpus(const struct sim_generation *g);
int sim_generate_applications(void);

/* Makes directory/profiles and directory/workloads. The directory must not exist; it comes to be when it is
 * complete. EX_CANTCREAT; EX_TEMPFAIL: it was stopped. */
int sim_generate(const char *directory, const struct sim_generation *g, struct err *err);

#endif
