/* affinity.h - bind the calling process; private to src/device. */
#ifndef POLLUX_DEVICE_AFFINITY_H
#define POLLUX_DEVICE_AFFINITY_H

#include "pollux/device.h"

/* To the bindings of all n devices together. -1, and nothing is changed, where one is no list, or the process
 * may use none of them. */
int affinity_bind(const struct device *devices, int n, struct err *err);

#endif
