/* device_measurement.h - what was measured of a kind of device: products, copies, exchanges.
 *
 * Times are kept, of one operation each; what follows from them (TFLOP/s, GB/s) is worked out where it is
 * wanted. Pure functions. */
#ifndef POLLUX_DEVICE_MEASUREMENT_H
#define POLLUX_DEVICE_MEASUREMENT_H

#include <stdbool.h>
#include <stdint.h>

enum measured {
	MEASURED_PRODUCT,		/* of matrices, C (m x n) = A (m x k) B (k x n) */
	MEASURED_MEMORY,		/* bytes copied from one place in the device's memory to another */
	MEASURED_COPY,			/* bytes copied between host and device, or between two devices */
	MEASURED_LAUNCH,		/* of a kernel that does nothing, until it is known to have ended */
	MEASURED_BARRIER,		/* devices wait for one another */
	MEASURED_REDUCTION,		/* a vector of bytes on each device becomes the sum of all of them */
};
#define N_MEASURED (MEASURED_REDUCTION + 1)

#define MEASURED_VARIANT_SIZE 24

struct device_measurement {
	enum measured what;
	char variant[MEASURED_VARIANT_SIZE];	/* of a product "fp32", "bf16"; of a copy "pageable to
						   device", ...; else "" */
	int devices;			/* that took part */
	int64_t m, n, k;		/* of a product; else 0 */
	int64_t bytes;			/* copied, or of the vector; else 0 */
	double time_s, time_sd_s;	/* mean over the repetitions, and their standard deviation */
	int64_t repetitions;
	bool steady;			/* false: the mean was still uncertain when time was up */
};

struct device_measurement_list {
	struct device_measurement *items;	/* owned */
	int count;
};

void device_measurement_list_release(struct device_measurement_list *list);

/* m n k multiplications and as many additions; NaN for what is no product. */
double device_measurement_flops(const struct device_measurement *m);
/* NaN where nothing was moved. A memory copy counts once: what it reads, it writes. */
double device_measurement_bytes_per_s(const struct device_measurement *m);

const char *measured_name(enum measured what);	/* "product", "memory", "copy", ... */
int measured_parse(const char *name);		/* -1: no such name */

#endif
