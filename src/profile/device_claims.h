/* device_claims.h - the locks of devices that a measurement takes; private to src/profile. */
#ifndef POLLUX_PROFILE_DEVICE_CLAIMS_H
#define POLLUX_PROFILE_DEVICE_CLAIMS_H

#include "pollux/config.h"
#include "pollux/paths.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"

struct device_claims {
	const struct paths *paths;
	struct store *store;
	const struct device_list *devices;
	struct run_list runs;		/* that have not ended */
	struct reserved_list reserved;	/* devices reserved by profiles of jobs */
	/* For each device, a descriptor or less than 0: its lock, the mark that tells other
	 * processes that a measurement holds the lock, and the lock that other users see. */
	int *locks, *marks, *shared;
};

/* Reads who has what; c->paths and c->store are set. Lists the devices, whose owner is the
 * caller. */
int device_claims_open(struct device_claims *c, const struct config *config, bool in_full,
		       struct device_list *devices, struct err *err);
/* Takes the lock of device d, unless somebody has or is about to have the device: EX_TEMPFAIL. */
int device_claims_take(struct device_claims *c, int d, struct err *err);
/* Gives all locks back. */
void device_claims_drop(struct device_claims *c);
void device_claims_release(struct device_claims *c);

#endif
