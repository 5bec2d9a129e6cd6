/* affinity.h - bind the calling process, or a stopped one, to processors; private to src/device. */
#ifndef POLLUX_DEVICE_AFFINITY_H
#define POLLUX_DEVICE_AFFINITY_H

#include "pollux/device.h"

/* Binds to the bindings of all n devices together. -1, and nothing is changed: a list is malformed,
 * or the process may use none of the processors. */
int affinity_bind(const struct device *devices, int n, struct err *err);
/* Binds every thread of another process so. A thread that has ended meanwhile is no failure. */
int affinity_rebind(pid_t pid, const struct device *devices, int n, struct err *err);

#endif
