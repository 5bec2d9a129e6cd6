/* memory_model.h - how much memory sizes take that were not tried, by the peaks of those that
 * were.
 *
 *	struct memory_model m = memory_model_fit(peaks, n, shares_memory);
 *	if (m.known && memory_model_bytes(&m, workers, 64) > limit) ...
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
#ifndef POLLUX_MEMORY_MODEL_H
#define POLLUX_MEMORY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

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
