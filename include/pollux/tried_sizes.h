/* tried_sizes.h - which sizes do not work, and how much memory others take, by those that were
 * tried.
 *
 * Which sizes do not fit into memory:
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
#ifndef POLLUX_TRIED_SIZES_H
#define POLLUX_TRIED_SIZES_H

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
/* The fewest replicas for which some local batch is too large; 0: none. */
int memory_least_bounded(const struct memory_bounds *b);
void memory_bounds_release(struct memory_bounds *b);

/* ---- other reasons than memory ---- */

/* Infers which sizes fail for other reasons than memory, from those that a profile
 * tried.
 *
 * A batch may be larger than the data, or than an index type can address; a program may not support
 * more than one replica. A profile's failure with r replicas of m samples is taken to hold for at
 * least r replicas of at least m samples. The failure is not believed if such a size was measured
 * later, or had been measured for a long time before. Smaller local batches that were measured on
 * at least r replicas are known to work. Failures of runs outside a profile tell nothing about
 * sizes. Pure functions. */

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

/* ---- sizes that were not tried ---- */

/* How much memory sizes take that were not tried, by the peaks of those that
 * were.
 *
 * On a device with memory of its own a run of R replicas with m samples in a pass takes
 *
 *	F + S / R + A m		bytes on each device
 *
 * F is what each replica has, S what the replicas divide among them (a sharded optimizer), A what a
 * sample takes. Where devices share the machine's memory, the run takes R (F + A m) + S in all. F,
 * S and A are at least 0, and minimise the sum of squares of relative errors (non-negative least
 * squares). S is 0 if all peaks are of one number of replicas. The model is not known with fewer
 * than MEMORY_MODEL_PEAKS peaks or with one local batch size.
 *
 * The model only extrapolates: sizes that fitted fit, and sizes that ran out do not. Pure
 * functions. */

#define MEMORY_MODEL_PEAKS 3
/* The part of a device's memory, and of the machine's, that a predicted size may take. */
#define MEMORY_MODEL_DEVICE_PART 0.92
#define MEMORY_MODEL_HOST_PART 0.9

struct memory_peak {
	int workers;			/* replicas */
	int64_t local_batch_size;
	double bytes;			/* most on any device; of the run, if memory is shared */
};

struct memory_model {
	bool known, shared;
	double fixed_bytes, divided_bytes, sample_bytes;	/* F, S, A */
	/* What a size may take, on a device or in all; 0: not known, and nothing is refused. */
	double limit_bytes;
};

struct memory_model memory_model_fit(const struct memory_peak *peaks, int n, bool shared);
double memory_model_bytes(const struct memory_model *m, int workers, double local_batch_size);
/* The largest local batch size that is predicted to fit; 0: none. INT64_MAX: nothing limits it. */
int64_t memory_model_most(const struct memory_model *m, int workers);

/* The host's memory for so many replicas, by the peaks of whole runs: the most that was measured
 * with that number. Else H + h * replicas, neither negative, of least squares of relative errors
 * over the most for each number. Peaks of one number tell that more replicas take proportionally
 * more, and fewer not less. 0: there are no peaks. */
double memory_host_need(const struct memory_peak *peaks, int n, int workers);

#endif
