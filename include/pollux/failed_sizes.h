/* failed_sizes.h - which sizes do not work, for another reason than memory, from those that a profile tried.
 *
 * A batch may be larger than the data, or than an index is wide; a program may not do more than one replica. What
 * failed in a profile with r replicas of m samples is taken to fail with as many or more of as many or more,
 * until it was measured since, or if it had been for long before. Below it, what was measured on at least r
 * replicas is known to work. Failures of other jobs say nothing of sizes. Pure functions. */
#ifndef POLLUX_FAILED_SIZES_H
#define POLLUX_FAILED_SIZES_H

#include "pollux/memory_bounds.h"

struct failed_sizes {
	struct memory_trial *failed, *worked;	/* owned */
	int n_failed, n_worked;
};

/* Drops from failed what is not believed. */
void failed_sizes_settle(struct failed_sizes *f);
/* After that: the smallest local batch that fails on so many replicas; 0: none is known to. */
int64_t failed_sizes_least(const struct failed_sizes *f, int replicas);
/* The largest below it that is known to work; 0: nothing fails; -1: none is known to work. */
int64_t failed_sizes_limit(const struct failed_sizes *f, int replicas);
void failed_sizes_release(struct failed_sizes *f);

/* Of both: the smallest local batch of so many replicas that does not work (0: none is known), and the largest to
 * be given (0: no limit, -1: none works). */
int64_t sizes_too_large(const struct memory_bounds *b, const struct failed_sizes *f, int replicas);
int64_t sizes_limit(const struct memory_bounds *b, const struct failed_sizes *f, int replicas);

#endif
