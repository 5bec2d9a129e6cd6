/* store_device_measurements.h - what 'pollux profile --devices' found out of kinds of devices. */
#ifndef POLLUX_STORE_DEVICE_MEASUREMENTS_H
#define POLLUX_STORE_DEVICE_MEASUREMENTS_H

#include "pollux/device_measurement.h"
#include "pollux/store.h"

/* Replaces measurements of the same (what, variant, devices, sizes), unless those were steady and
 * the new ones are not. Call inside a transaction. time_s: wall clock, of all of them. */
int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err);
/* Sorted by what, variant, devices, n, m and bytes. Measurements that this version does not know
 * are left out. The caller releases *list by device_measurement_list_release. */
int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err);

#endif
