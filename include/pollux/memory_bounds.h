/* memory_bounds.h - which sizes do not fit into memory, from those that were tried.
 *
 * A GPU has its own memory. What a replica takes of it grows with its local batch and hardly depends on how
 * many others there are, so that a local batch which ran out is too large on any number of devices. (Where a
 * program divides its state among the replicas it takes less on more. That is not told here: what is measured
 * later on more devices says that it fits, and what runs out on fewer that it does not.)
 *
 * CPU slots share the machine's. There r replicas of m samples take r (F + a m), F and a at least 0 and not
 * known; so r' replicas of m' take no less where r' >= r and r' m' >= r m, and nothing else follows: that two
 * of 128 ran out says nothing of one of 256. Pure functions. */
#ifndef POLLUX_MEMORY_BOUNDS_H
#define POLLUX_MEMORY_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"

struct memory_trial {
	int64_t run_id;			/* the newest one, where several are summed up */
	struct configuration configuration;	/* its passes are not known: memory hardly
						   depends on them */
	int64_t n_windows;		/* that were measured, if it fitted */
};

struct memory_bounds {
	bool shared;			/* the devices have one memory together */
	struct memory_trial *ran_out, *fitted;	/* owned; newest first */
	int n_ran_out, n_fitted;
};

/* Of two contradicting runs the older loses: what ran out of memory once, beside another program say, and was
 * measured since, fits. But since the size is not tried again then, a single one that ran out loses against
 * older ones that fitted for long, too. Drops from ran_out what is not believed. */
void memory_bounds_settle(struct memory_bounds *b);

/* After that: the smallest local batch that is too large for so many replicas; 0: none is known to be. */
int64_t memory_too_large(const struct memory_bounds *b, int replicas);
/* The largest below it that is known to fit; 0: none. */
int64_t memory_fits(const struct memory_bounds *b, int replicas);
/* Of so many replicas with no more than this each it is not known that they do not fit: what is known to fit, or
 * else one less than what is too large; 0: nothing is too large, -1: all is. */
int64_t memory_limit(const struct memory_bounds *b, int replicas);
/* The fewest replicas for which one is too large; 0: there are none. */
int memory_least_bounded(const struct memory_bounds *b);
void memory_bounds_release(struct memory_bounds *b);

#endif
