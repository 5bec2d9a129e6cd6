/* shared_lock.h - the lock that keeps other people's pollux from a device.
 *
 * A GPU has a file of its own in the shared directory. The processors have one file: a slot of the
 * CPU locks the bytes of its processors, so that two people's slots exclude each other where they
 * have a processor in common, whatever their numbers of slots. Where n slots share a processor,
 * each of them locks an n-th of its bytes.
 *
 * The locks are of the kind of lock.h: they belong to the descriptor and to all its copies, and are
 * free when the last process that has one has ended. */
#ifndef POLLUX_SHARED_LOCK_H
#define POLLUX_SHARED_LOCK_H

#include "pollux/device.h"
#include "pollux/lock.h"
#include "pollux/paths.h"

#define SHARED_LOCK_NONE (-3)
/* of a file in the shared directory, as in device-cpu.lock */
#define SHARED_LOCK_PREFIX "device-"
#define SHARED_LOCK_SUFFIX ".lock"

/* Takes the lock without waiting. Runs of one user and store that share the device (device->seat)
 * may have it at the same time, but nobody else may. Returns the descriptor, which is
 * close-on-exec; LOCK_HELD: somebody has the device, or a part of it; SHARED_LOCK_NONE: there is no
 * shared directory; -1 with *err. */
int shared_lock_take(const struct paths *paths, const struct device *device, struct err *err);

/* After lock_release(fd): takes the lock of a device of the same kind again. False: somebody has
 * it. */
bool shared_lock_again(int fd, const struct paths *paths, const struct device *device);

/* Returns the name of the lock's file. The caller frees. */
char *shared_lock_path(const char *directory, const struct device *device);

/* Looks at the lock without taking it; free, too, where there is no shared directory. */
enum lock_state shared_lock_look(const struct paths *paths, const struct device *device);

/* True if devices with other names may have a part of the device's lock: for slots of the CPU. */
bool shared_lock_is_in_parts(const struct device *device);

/* True if the locks of both cannot be held by two descriptors at a time. */
bool shared_locks_meet(const struct device *a, const struct device *b);

#endif
