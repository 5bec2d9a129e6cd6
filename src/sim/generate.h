/* generate.h - made-up applications. */
#ifndef SIM_GENERATE_H
#define SIM_GENERATE_H

#include <stdint.h>

#include "pollux/err.h"
#include "pollux/sim_generate.h"
#include "pollux/text.h"
#include "pollux/throughput.h"

struct kind {
	const char *name;
	double weight;			/* probability of a job; all add up to 1 */
	struct throughput_params params;
	int64_t initial_batch_size;
	int doublings;			/* validated batch sizes above the initial one */
	int64_t min_local_batch_size;
	int local_doublings;		/* measured local batch sizes above the smallest */
	int epochs;
	double updates;			/* in an epoch, at the initial batch size */
	double noise_scale;		/* at the beginning, samples */
	double growth;			/* factor of the noise scale over the training */
};

extern const struct kind kinds[];
extern const int n_kinds;

/* The text of placements.csv, scalability.csv and validation-B.csv. gpus: on a node, up to 9. */
void generate_placements(const struct kind *k, int gpus, uint64_t *random, struct text *t);
void generate_scalability(const struct kind *k, int gpus, uint64_t *random, struct text *t);
void generate_validation(const struct kind *k, int doubling, uint64_t seed, struct text *t);
/* The text of a workload. */
void generate_jobs(const struct sim_generation *g, uint64_t *random, struct text *t);

#endif
