/* memory_bounds.h - infers which sizes do not fit into memory from the sizes that were tried.
 *
 * A GPU has its own memory. The memory of a replica grows with its local batch and hardly depends
 * on the number of replicas, so a local batch that ran out of memory is too large on any number of
 * devices. (A program that divides its state among the replicas needs less on more devices. This
 * rule does not see that, but a later measurement on more devices overrides it, as does a later
 * failure on fewer.)
 *
 * CPU slots share the machine's memory. There r replicas of m samples take r (F + a m), where F and
 * a are at least 0 and unknown. So r' replicas of m' samples take no less if r' >= r and r' m' >= r
 * m. Nothing else follows: if 2 * 128 samples ran out, 1 * 256 may fit. Pure functions. */
#ifndef POLLUX_MEMORY_BOUNDS_H
#define POLLUX_MEMORY_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/observation.h"

/* After this many windows at a size, one failure counts as an accident. Windows are seconds
 * apart. */
#define MEMORY_ACCIDENT_WINDOWS 100

struct memory_bounds {
	bool shared;			/* the devices share one memory */
	/* Owned; newest first. The newest run of each size counts. Passes do not, as memory hardly
	 * depends on them. */
	struct observation *ran_out, *fitted;
	int n_ran_out, n_fitted;
};

/* Drops from ran_out the runs that are not believed. If two runs contradict each other, the newer
 * one wins: a size that ran out of memory once, perhaps because of another program, and was
 * measured since fits. But such a size is not tried again. A single failure therefore also loses to
 * older runs that fitted for long. */
void memory_bounds_settle(struct memory_bounds *b);

/* For settled bounds: the smallest local batch that is too large for this number of replicas; 0:
 * none is known. */
int64_t memory_too_large(const struct memory_bounds *b, int replicas);
/* The largest local batch below memory_too_large() that is known to fit; 0: none. */
int64_t memory_fits(const struct memory_bounds *b, int replicas);
/* The largest local batch to give this number of replicas: the largest that is known to fit, or
 * else one less than what is too large. 0: no limit; -1: every size is too large. */
int64_t memory_limit(const struct memory_bounds *b, int replicas);
/* The fewest replicas for which some local batch is too large; 0: none. */
int memory_least_bounded(const struct memory_bounds *b);
void memory_bounds_release(struct memory_bounds *b);

#endif
