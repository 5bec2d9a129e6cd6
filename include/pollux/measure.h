/* measure.h - measure devices: products of matrices, copies, launches, and exchanges between them.
 *
 *	struct measure_result r;
 *	if (measure_device(&device, &options, &r, err)) ...
 *	... r.list, r.peaks, r.notes ...
 *	measure_result_release(&r);
 *
 * Each call works in a process of its own, which is bound to the devices as a job would be, and which alone
 * loads OpenBLAS or CUDA: nothing of them is left in the caller, and a library that crashes does not take
 * it along. The process dies with the caller. The caller holds the devices' locks.
 *
 * Sizes: products are C (m x n) = A (m x k) B (k x n) with m rows as samples of a batch and n = k the width
 * of a layer; m goes up in powers of two at several widths. */
#ifndef POLLUX_MEASURE_H
#define POLLUX_MEASURE_H

#include <stdbool.h>

#include "pollux/device.h"
#include "pollux/device_measurement.h"
#include "pollux/err.h"
#include "pollux/text.h"

struct measure_options {
	bool quick;			/* fewer sizes, and less time for each */
};

/* The most that a device could do, on paper. */
struct measure_peak {
	char variant[MEASURED_VARIANT_SIZE];	/* "fp32"; "memory": bytes per second, the others FLOP/s */
	double per_s;
};
#define MEASURE_PEAKS 8

struct measure_result {
	struct device_measurement_list list;
	struct measure_peak peaks[MEASURE_PEAKS];
	int n_peaks;
	char peak_basis[160];		/* where they come from; "": unknown */
	struct strings notes;		/* what was left out and why, and what disturbed */
};

/* One device. EX_UNAVAILABLE: of its kind nothing can be measured here. */
int measure_device(const struct device *d, const struct measure_options *o, struct measure_result *r,
		   struct err *err);
/* n >= 2 devices of one kind, with one another. */
int measure_exchange(const struct device *devices, int n, const struct measure_options *o,
		     struct measure_result *r, struct err *err);
void measure_result_release(struct measure_result *r);

/* NaN: not known. */
double measure_peak_of(const struct measure_result *r, const char *variant);

#endif
