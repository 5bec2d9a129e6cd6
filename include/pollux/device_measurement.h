/* device_measurement.h - measurements of a kind of device: products, copies, exchanges.
 *
 * Only the time of one operation is kept; rates (TFLOP/s, GB/s) are computed from it. Pure
 * functions. */
#ifndef POLLUX_DEVICE_MEASUREMENT_H
#define POLLUX_DEVICE_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/field.h"

enum measured {
	MEASURED_PRODUCT,		/* matrices: C (m x n) = A (m x k) B (k x n) */
	MEASURED_MEMORY,		/* bytes copied within the device's memory */
	/* bytes copied between host and device, or between two devices */
	MEASURED_COPY,
	MEASURED_LAUNCH,		/* an empty kernel, from launch to known end */
	MEASURED_BARRIER,		/* devices wait for one another */
	/* a vector of bytes on each device becomes the sum of all of them */
	MEASURED_REDUCTION,
};
#define N_MEASURED (MEASURED_REDUCTION + 1)

#define MEASURED_VARIANT_SIZE 24

struct device_measurement {
	enum measured what;
	/* A product: "fp32", "bf16"; a copy: "pageable to device", ...; else "". */
	char variant[MEASURED_VARIANT_SIZE];
	int devices;			/* that took part */
	int64_t m, n, k;		/* of a product, else 0 */
	int64_t bytes;			/* copied, or in the vector; else 0 */
	double time_s, time_sd_s;	/* mean and standard deviation of repetitions */
	int64_t repetitions;
	bool steady;			/* false: the mean was still uncertain at the end */
};

struct device_measurement_list {
	struct device_measurement *items;	/* owned */
	int count;
};

void device_measurement_list_release(struct device_measurement_list *list);

/* Floating-point operations per second: m n k multiplications and as many additions. NaN if m is no
 * product. */
double device_measurement_flops(const struct device_measurement *m);
/* NaN if nothing was moved. A byte copied within a device's memory counts twice: it is read and
 * written there. */
double device_measurement_bytes_per_s(const struct device_measurement *m);
/* The time of a product in `slow` over its time in `fast`: the geometric mean over the products
 * that both have; NaN: none. */
double device_measurement_quotient(const struct device_measurement_list *slow,
				   const struct device_measurement_list *fast);

extern const struct field_names measured_names;	/* "product", "memory", "copy", ... */

#endif
