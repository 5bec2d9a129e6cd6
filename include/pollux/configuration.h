/* configuration.h - one point at which a job can run. */
#ifndef POLLUX_CONFIGURATION_H
#define POLLUX_CONFIGURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/text.h"

#define CONFIGURATION_KIND_SIZE 128

struct configuration {
	int replicas;			/* data-parallel workers, one device each */
	int64_t local_batch_size;	/* samples per replica and pass; 0: the job declared none */
	int accumulation_steps;		/* passes per update, all of them; 1 = none */
	int nodes;			/* that hold the replicas */
	char kind[CONFIGURATION_KIND_SIZE];	/* of the devices, as device.h has it; "": any */
};

/* The part of a configuration that decides how long its replicas take to synchronise. */
struct throughput_place {
	int nodes, replicas;
};

/* On one node, and on any kind of device. */
static inline struct configuration configuration_make(int replicas, int64_t local_batch_size,
						      int accumulation_steps)
{
	return (struct configuration){
		.replicas = replicas, .local_batch_size = local_batch_size,
		.accumulation_steps = accumulation_steps, .nodes = 1,
	};
}

/* Samples per optimizer update; 0: the job declared none. */
static inline int64_t configuration_batch_size(const struct configuration *c)
{
	return c->replicas * c->local_batch_size * c->accumulation_steps;
}

bool configuration_equal(const struct configuration *a, const struct configuration *b);
uint64_t configuration_hash(const struct configuration *c);
/* Adds "128 = 2 * 64 * 1": batch, replicas, local batch, passes; and " on 2 nodes" of several. */
void configuration_print(const struct configuration *c, struct text *out);

static inline struct throughput_place configuration_place(const struct configuration *c)
{
	return (struct throughput_place){ .nodes = c->nodes, .replicas = c->replicas };
}

static inline struct configuration configuration_at(struct throughput_place place,
						    int64_t local_batch_size,
						    int accumulation_steps)
{
	struct configuration c = configuration_make(place.replicas, local_batch_size,
						    accumulation_steps);

	c.nodes = place.nodes;
	return c;
}

/* Spread a batch over replicas with as few passes as max_local_batch_size allows (0: no limit). Where the
 * batch does not divide, the nearest one that does is taken, within [min, max] (0: no bound), with more
 * passes if only they keep to it; where nothing does, the nearest all the same. At least one sample per
 * replica. configuration_batch_size() of the result says what came out. Sizes are at most 1e9. */
struct configuration configuration_spread(int64_t batch_size, int replicas,
					  int64_t max_local_batch_size, int64_t min_batch_size,
					  int64_t max_batch_size);

/* Likewise where no replica can do more than local_limit (at least 1) in a pass: by more passes if the job
 * accumulates, else by as much of the batch as fits into one, which only a range allows. False: neither is legal. */
struct batch_range {
	int64_t batch_size, min_batch_size, max_batch_size;
	bool accumulates;
};
bool configuration_within(const struct batch_range *range, int replicas, int64_t local_limit,
			  struct configuration *c);

#endif
