/* devices_profile.h - what 'pollux profile --devices' measured, and its two ways to show it. */
#ifndef POLLUX_DEVICES_PROFILE_H
#define POLLUX_DEVICES_PROFILE_H

#include <stdio.h>

#include "pollux/device.h"
#include "pollux/measure.h"
#include "pollux/output.h"

/* A kind of device, by one of it; exchanges by several. */
struct profiled_kind {
	const struct device *device;	/* borrowed */
	struct measure_result result;
};

struct devices_profile {
	struct profiled_kind *kinds;	/* owned */
	int n_kinds;
	struct strings left_out;	/* lines: which devices were not measured, and why */
	double time_s;			/* wall clock: when it was begun */
	bool quick;
};

void devices_profile_print(const struct devices_profile *p, const struct output *out);
void devices_profile_print_json(const struct devices_profile *p, FILE *out);

#endif
