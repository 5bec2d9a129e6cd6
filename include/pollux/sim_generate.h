/* sim_generate.h - made-up profiles and workloads in the published formats: for examples, tests,
 * and sizes without records. Nothing in them was measured.
 *
 * Applications (src/sim/sim_generate.c has their numbers). The time of a step in each row is the
 * model's for its seven parameters (throughput.h), multiplied by exp(0.02 z). The noise scale grows
 * by a constant factor an epoch, and each value is multiplied by exp(0.05 z). z is normal. The
 * number of updates at a batch size follows from the noise scale, without further noise.
 *
 * Jobs are a Poisson process of n_jobs jobs, at a rate of n_jobs / seconds. For each job are drawn:
 * the application, by the weights of the kinds; and 1, 2, 4 or 8 GPUs, with probabilities 0.4, 0.3,
 * 0.2 and 0.1. The batch size is the initial one times the GPUs, up to the largest validated. */
#ifndef POLLUX_SIM_GENERATE_H
#define POLLUX_SIM_GENERATE_H

#include <signal.h>
#include <stdint.h>

#include "pollux/err.h"

#define SIM_GENERATE_GPUS_MAX 9		/* on a node, which has one digit of a placement */

struct sim_generation {
	int n_jobs, n_workloads;
	double seconds;			/* mean time from first to last submission of a workload */
	int gpus_per_node;		/* covered by the profiles: at least 4, at most
					   SIM_GENERATE_GPUS_MAX */
	uint64_t seed;			/* the same seed gives the same bytes */
	const volatile sig_atomic_t *stop;	/* not 0: stops the generation; may be NULL */
};

/* GPUs of a node that the profiles cover. */
int sim_generate_gpus(const struct sim_generation *g);
int sim_generate_applications(void);

/* Makes directory/profiles and directory/workloads. The directory must not exist, and appears when
 * it is complete. EX_CANTCREAT; EX_TEMPFAIL: stopped. */
int sim_generate(const char *directory, const struct sim_generation *g, struct err *err);

#endif
