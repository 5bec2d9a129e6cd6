/* store_machine.h - what is kept of the machine. */
#ifndef POLLUX_STORE_MACHINE_H
#define POLLUX_STORE_MACHINE_H

#include "pollux/configuration.h"
#include "pollux/device.h"
#include "pollux/freeze.h"
#include "pollux/store.h"
#include "pollux/text.h"
#include "pollux/tier_wait.h"

/* --- devices that a profile keeps between its runs --- */

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

/* --- results of the self-tests of freezes --- */

struct freeze_tested {
	bool passed;			/* false also where it was not tested */
	int64_t bytes;			/* moved */
	double freeze_s, thaw_s;
};

/* t NULL: the device did not pass. */
int store_freeze_test_set(struct store *s, const struct device *device, const char *driver,
			  const struct freeze_test *t, const char *why, struct err *err);
/* A device did not bring memory back: what its test said does not hold any more, for any driver. */
int store_freeze_test_revoke(struct store *s, const char *device_id, const char *why,
			     struct err *err);
/* The result of the device with this version of its driver. */
int store_freeze_test_get(struct store *s, const char *device_id, const char *driver,
			  struct freeze_tested *tested, struct err *err);

/* *why, which the caller frees: why it did not pass with this version; NULL: it passed, or was not
 * tested. */
int store_freeze_test_failure(struct store *s, const char *device_id, const char *driver,
			      char **why, struct err *err);

/* --- processes of others that may stay on a GPU --- */

/* A process is identified by its pid, its start and the boot: a later process with the same pid is
 * another one. */
struct ignored_process {
	int64_t pid, start_ticks;
};

struct ignored_list {
	struct ignored_process *items;	/* owned */
	int count;
};

/* Adds the process, and forgets the processes of other boots. */
int store_ignored_add(struct store *s, const struct ignored_process *process, struct err *err);
int store_ignored_remove(struct store *s, int64_t pid, bool *was_there, struct err *err);
/* The processes of this boot. */
int store_ignored_list(struct store *s, struct ignored_list *list, struct err *err);
void ignored_list_release(struct ignored_list *list);

/* --- how long jobs waited for devices of a tier, of the last TIER_WAITS_KEPT_S --- */

/* The caller frees *list. Tiers are distances, as in tier_wait.h. */
int store_locality_list(struct store *s, struct tier_past **list, int *n, struct err *err);
/* Adds a wait, and removes those that are too old. */
int store_locality_add(struct store *s, const struct tier_past *wait, struct err *err);
/* Since when the job waits for devices of a better tier, and until when; NaN, NaN: it does not. */
int store_job_set_tier_wait(struct store *s, int64_t id, double since_s, double until_s,
			    struct err *err);

#endif
