/* run_devices.h - the rows of a run's devices; private to the store. */
#ifndef POLLUX_STORE_RUN_DEVICES_H
#define POLLUX_STORE_RUN_DEVICES_H

#include "pollux/job.h"
#include "pollux/store.h"

/* Puts the devices into run->devices, which has run->configuration.replicas of them. */
int run_devices_read(struct store *s, struct run *run, struct err *err);
/* Adds the devices of a new run, not yet in use. */
int run_devices_add(struct store *s, const struct run *run, struct err *err);
int run_devices_replace(struct store *s, const struct run *run, struct err *err);
/* Fails if another run uses one of the devices, because a unique index forbids it. */
int run_devices_set_in_use(struct store *s, int64_t run_id, bool in_use, struct err *err);
/* *free: no run uses a device of this run. */
int run_devices_are_free(struct store *s, int64_t run_id, bool *free, struct err *err);

#endif
