/* failed_sizes.h - infers which sizes fail for other reasons than memory, from those that a profile
 * tried.
 *
 * A batch may be larger than the data, or than an index type can address; a program may not support
 * more than one replica. A profile's failure with r replicas of m samples is taken to hold for at
 * least r replicas of at least m samples. The failure is not believed if such a size was measured
 * later, or had been measured for a long time before. Smaller local batches that were measured on
 * at least r replicas are known to work. Failures of runs outside a profile tell nothing about
 * sizes. Pure functions. */
#ifndef POLLUX_FAILED_SIZES_H
#define POLLUX_FAILED_SIZES_H

#include "pollux/memory_bounds.h"

struct failed_sizes {
	struct observation *failed, *worked;	/* owned */
	int n_failed, n_worked;
};

/* Drops from failed the failures that are not believed. */
void failed_sizes_settle(struct failed_sizes *f);
/* For settled sizes: the smallest local batch that fails on this number of replicas; 0: none is
 * known. */
int64_t failed_sizes_least(const struct failed_sizes *f, int replicas);
/* The largest local batch below failed_sizes_least() that is known to work; 0: nothing fails; -1:
 * none is known to work. */
int64_t failed_sizes_limit(const struct failed_sizes *f, int replicas);
void failed_sizes_release(struct failed_sizes *f);

/* By memory and failures together: the smallest local batch for this number of replicas that does
 * not work (0: none is known), and the largest to give them (0: no limit; -1: none works). */
int64_t sizes_too_large(const struct memory_bounds *b, const struct failed_sizes *f, int replicas);
int64_t sizes_limit(const struct memory_bounds *b, const struct failed_sizes *f, int replicas);

#endif
