/* measure.h - measures devices: products of matrices, copies, launches, and exchanges between
 * devices.
 *
 * Each call starts a process, which is bound to the devices as a job would be. Only this process
 * loads OpenBLAS or CUDA: the caller keeps nothing of them, and survives a crash in them. The
 * process dies with the caller. The caller holds the locks of the devices.
 *
 * Sizes: products are C (m x n) = A (m x k) B (k x n) with m rows as samples of a batch and n = k
 * the width of a layer; m goes up in powers of two at several widths. */
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

/* A theoretical peak of a device. */
struct measure_peak {
	char variant[MEASURED_VARIANT_SIZE];	/* "fp32", ...: FLOP/s; "memory": bytes/s */
	double per_s;
};
#define MEASURE_PEAKS 8

struct measure_result {
	struct device_measurement_list list;
	struct measure_peak peaks[MEASURE_PEAKS];
	int n_peaks;
	char peak_basis[160];		/* source of the peaks; "": unknown */
	struct strings notes;		/* omissions with their reasons, and disturbances */
};

/* Measures one device. EX_UNAVAILABLE: its kind cannot be measured here. */
int measure_device(const struct device *d, const struct measure_options *o,
		   struct measure_result *r, struct err *err);
/* Measures the exchanges between n >= 2 devices of one kind. */
int measure_exchange(const struct device *devices, int n, const struct measure_options *o,
		     struct measure_result *r, struct err *err);
void measure_result_release(struct measure_result *r);

/* The peak of a variant; NaN: unknown. */
double measure_peak_of(const struct measure_result *r, const char *variant);

#endif
