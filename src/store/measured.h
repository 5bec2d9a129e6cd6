/* measured.h - rows of what was measured, with the keys that callers give; private to the store. */
#ifndef POLLUX_STORE_MEASURED_H
#define POLLUX_STORE_MEASURED_H

#include "pollux/device_measurement.h"
#include "pollux/store_measurements.h"

struct stored_model {
	const char *workload, *device_kind;	/* borrowed; written, never read */
	/* a letter for each parameter, and where tiers are known for each: see store_models.c */
	char basis[N_THROUGHPUT_PARAMS + CONFIGURATION_TIERS];
	struct model_row model;
};

struct stored_measurement {
	char device_kind[CONFIGURATION_KIND_SIZE];
	struct device_measurement measurement;
	double measured_time_s;			/* wall clock */
};

#endif
