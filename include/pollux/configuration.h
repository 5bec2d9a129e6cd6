/* configuration.h - one point at which a job can run. */
#ifndef POLLUX_CONFIGURATION_H
#define POLLUX_CONFIGURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/field.h"
#include "pollux/text.h"

#define CONFIGURATION_KIND_SIZE 128
#define CONFIGURATION_PLAN_SIZE 33
#define CONFIGURATION_PLAN_HASH_SIZE 20

/* The tiers of one machine, best first: enum device_link in device.h, one further on. */
enum configuration_tier {
	TIER_UNKNOWN,			/* or one device alone */
	TIER_FAST, TIER_SWITCH, TIER_NUMA, TIER_FAR,
	CONFIGURATION_TIERS
};
/* "fast", "switch", "numa", "machine"; the first one stands for an unknown tier. */
extern const struct field_names configuration_tier_names;

struct configuration {
	/* Devices. Each is a data-parallel worker, unless a worker has several (width). */
	int replicas;
	int width;			/* devices of one worker, by its plan; 0 or 1: one */
	int64_t local_batch_size;	/* samples per worker and pass; 0: the job declared none */
	int accumulation_steps;		/* passes per update, all of them; 1 = none */
	int nodes;			/* number of nodes that the replicas run on */
	char kind[CONFIGURATION_KIND_SIZE];	/* kind of device, as in device.h; "": any */
	char plan[CONFIGURATION_PLAN_SIZE];	/* as in execution_plan.h; "": none is declared */
	/* The most runs on its device, this one included; 0: it has the device alone. What is
	 * measured beside another run is kept elsewhere (struct share_factor), so configurations
	 * that differ in this alone are equal. */
	int share;
	/* How its devices are joined: the tier of the farthest pair. Configurations that differ in
	 * this alone are equal. */
	enum configuration_tier tier;
};

/* The part of a configuration on which the time of a synchronisation depends. */
struct throughput_place {
	int nodes, replicas;
	enum configuration_tier tier;
};

static inline struct throughput_place throughput_place_on(int nodes, int replicas)
{
	return (struct throughput_place){ .nodes = nodes, .replicas = replicas };
}

/* A configuration on one node and any kind of device. */
static inline struct configuration configuration_make(int replicas, int64_t local_batch_size,
						      int accumulation_steps)
{
	return (struct configuration){
		.replicas = replicas, .local_batch_size = local_batch_size,
		.accumulation_steps = accumulation_steps, .nodes = 1,
	};
}

/* The devices of one data-parallel worker. */
static inline int configuration_width(const struct configuration *c)
{
	return c->width > 1 ? c->width : 1;
}

/* The data-parallel workers. */
static inline int configuration_workers(const struct configuration *c)
{
	return c->replicas / configuration_width(c);
}

/* A configuration of workers with one device each becomes one of workers with several. */
static inline void configuration_widen(struct configuration *c, int width)
{
	c->width = width > 1 ? width : 0;
	c->replicas *= configuration_width(c);
}

/* Samples per optimizer update; 0: the job declared none. */
static inline int64_t configuration_batch_size(const struct configuration *c)
{
	return configuration_workers(c) * c->local_batch_size * c->accumulation_steps;
}

/* NULL for an unknown tier. */
const char *configuration_tier_name(enum configuration_tier tier);
bool configuration_equal(const struct configuration *a, const struct configuration *b);
uint64_t configuration_hash(const struct configuration *c);
/* Adds "128 = 2 * 64 * 1": batch size, workers, local batch size, passes. Adds " on 2 nodes" if
 * there are several nodes, and " in plan gc". */
void configuration_print(const struct configuration *c, struct text *out);

/* Workers that have several devices may be on more nodes than there are workers; for the
 * synchronisation among them these count as nodes of one worker each. */
static inline int configuration_nodes_of_workers(int nodes, int workers, int width)
{
	return width > 1 && nodes > workers && workers > 0 ? workers : nodes;
}

static inline struct throughput_place configuration_place(const struct configuration *c)
{
	int workers = configuration_workers(c);

	return (struct throughput_place){
		.nodes = configuration_nodes_of_workers(c->nodes, workers, c->width),
		.replicas = workers, .tier = c->tier,
	};
}

static inline struct configuration configuration_at(struct throughput_place place,
						    int64_t local_batch_size,
						    int accumulation_steps)
{
	struct configuration c = configuration_make(place.replicas, local_batch_size,
						    accumulation_steps);

	c.nodes = place.nodes;
	c.tier = place.tier;
	return c;
}

/* The batch sizes that a job may have, samples. A declaration has what was asked for; a model has
 * what is legal now. 0: none is declared, or no bound. */
struct batch_range {
	int64_t size;			/* M0, the batch that its user tuned it for */
	int64_t min, max;		/* of an update; no max: M0 alone */
	/* of a replica in a pass; max_local -1: every size is too large */
	int64_t min_local, max_local;
	bool accumulates;		/* an update may take several passes */
};

/* Spreads M0 over replicas with the fewest passes that max_local allows. A batch that does not
 * divide evenly is rounded to the nearest size that does, from min to max. More passes are used if
 * only they keep the size within these bounds. If no size is within them, the nearest size is
 * taken. Each replica gets at least one sample. Sizes are at most 1e9. */
struct configuration configuration_spread(const struct batch_range *range, int replicas);

/* Spreads M0 where a replica can do at most local_limit (at least 1) samples in a pass. A job that
 * accumulates does more passes. The batch of any other job shrinks to what fits into one pass;
 * only a job with a declared range allows this. Returns false if neither is legal. */
bool configuration_within(const struct batch_range *range, int replicas, int64_t local_limit,
			  struct configuration *c);

/* ---- whole numbers ---- */

/* a / b, rounded up. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

static inline int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t most_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
