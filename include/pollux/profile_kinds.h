/* profile_kinds.h - measure one device of each kind, and keep the measurements in the store.
 *
 *	struct profile_kinds_settings settings = { .session = &session, .config = &c };
 *	struct devices_profile profile;
 *	if (profile_kinds(&settings, &profile, err) == 0) devices_profile_print(&profile, &out);
 *	devices_profile_release(&profile);
 *
 * A device is measured under its lock, as a supervisor takes the lock, and only when nothing holds
 * the device or is about to: no job is disturbed. A pass may assign the device meanwhile; the run's
 * supervisor then waits for the lock. */
#ifndef POLLUX_PROFILE_KINDS_H
#define POLLUX_PROFILE_KINDS_H

#include <stdbool.h>

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/err.h"
#include "pollux/measure.h"
#include "pollux/store.h"
#include "pollux/text.h"

struct profile_kinds_settings {
	struct session *session;
	const struct config *config;
	bool quick;
	const char *device;		/* measure this device alone; NULL: one of each kind */
	/* Called before each measurement, which takes seconds to minutes. exchanges: between the
	 * device and the others of its kind. */
	void (*progress)(const struct device *device, bool exchanges);
};

/* A kind of device, measured on one device; exchanges are measured between several. */
struct profiled_kind {
	const struct device *device;	/* in the profile's list of devices */
	struct measure_result result;
};

struct devices_profile {
	struct device_list devices;
	struct profiled_kind *kinds;	/* owned */
	int n_kinds;
	struct strings left_out;	/* lines: which devices were not measured, and why */
	double time_s;			/* wall clock: when the profile began */
	bool quick;
};

/* -1: nothing was measured, or a measurement could not be kept. The profile is to be released in
 * any case. */
int profile_kinds(const struct profile_kinds_settings *settings, struct devices_profile *profile,
		  struct err *err);
void devices_profile_release(struct devices_profile *profile);

#endif
