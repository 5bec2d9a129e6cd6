/* store_profiles.h - devices that a profile keeps between its runs. */
#ifndef POLLUX_STORE_PROFILES_H
#define POLLUX_STORE_PROFILES_H

#include "pollux/device.h"
#include "pollux/store.h"
#include "pollux/text.h"

/* Adds to *reason that the profile's process was killed, and how many points were measured. */
int store_profile_killed(struct store *s, int64_t job_id, struct text *reason, struct err *err);

struct reserved_device {
	int64_t job_id;
	struct device device;		/* id, binding, kind, cores are filled */
};

struct reserved_list {
	struct reserved_device *items;	/* owned */
	int count;
};

/* Reserves the device for the job until the job has ended. Call this inside the transaction in
 * which the device was seen to be free. */
int store_device_reserve(struct store *s, int64_t job_id, const struct device *device,
			 struct err *err);
int store_devices_release(struct store *s, int64_t job_id, struct err *err);
/* By job; a profile is in the list from its start until it has ended. */
int store_reserved_list(struct store *s, struct reserved_list *list, struct err *err);
void reserved_list_release(struct reserved_list *list);

#endif
