/* device_users.h - who has a device: the processes that compute on it, and the locks that keep
 * others from it. */
#ifndef POLLUX_DEVICE_USERS_H
#define POLLUX_DEVICE_USERS_H

#include "pollux/device.h"
#include "pollux/lock.h"
#include "pollux/paths.h"
#include "pollux/proc.h"

/* --- the processes that compute on the GPUs --- */

/* The device layer finds out who the processes are. pollux/device_owners.h then says which runs
 * they belong to, which processes a person ignores, and which keep a GPU from being given out. */

/* A process with more of a GPU's memory or time than this keeps the GPU from being given out. */
#define DEVICE_USER_MEMORY_BYTES (INT64_C(512) << 20)
#define DEVICE_USER_SHARE 0.05

/* A framework that takes a part of a GPU's memory at its start, whatever it needs. */
enum device_taker { TAKER_NONE, TAKER_JAX, TAKER_TENSORFLOW };

struct device_user {
	struct device_process process;
	/* lives false: the process has ended, or cannot be seen from this container. */
	struct proc_info info;
	char container[PROC_CONTAINER_SIZE];	/* that it is in; "": none */
	/* By the libraries that it has loaded, where it has that part of the memory and no variable
	 * in its environment says what it is to take. */
	enum device_taker taker;
	/* Set by device_owners_match. */
	int64_t job_id;			/* job of the process's run; 0: of no run */
	bool in_place;			/* that run has this device */
	bool supposed;			/* that run only may have started the process's container */
	bool ignored;			/* a person said that the process may stay */
	bool blocks;			/* the process keeps the device from being given out */
};

struct device_user_list {
	struct device_user *items;	/* owned */
	int count;
	/* Owned, by device: until when it is not given out (store_runs.h), wall clock; NaN. NULL:
	 * none is set aside. */
	double *aside_until_s;
};

/* Finds out who the processes in the list of devices are. Asks the directory of users, which may
 * take seconds: never call this inside a transaction. */
void device_users_look(const struct device_list *devices, struct device_user_list *list);
void device_user_list_release(struct device_user_list *list);

/* True if the process has more memory or time of its device than the limits above. */
bool device_user_is_above_limits(const struct device_user *u, const struct device_list *devices);

/* Returns the process with the most memory among those that block the device; NULL: none does. */
const struct device_user *device_user_worst(const struct device_user_list *list, int device);

/* "pid 4242 (alice) 642 MiB, 0 % for 47 h". Share and age are rounded, so that the text stays the
 * same from pass to pass. */
#define DEVICE_USER_SIZE 96
const char *device_user_describe(const struct device_user *u, const struct device_list *devices,
				 char text[DEVICE_USER_SIZE]);

/* --- who holds a device that no run and no profile has --- */

#define DEVICE_LOCK_MEASURE "pollux profile --devices"
#define DEVICE_LOCK_ENDED "a process of an ended run"
#define DEVICE_LOCK_OTHER "another user"
/* it may be free: no descriptor was left, or the file may not be read */
#define DEVICE_LOCK_UNKNOWN "perhaps somebody (its lock cannot be read)"

/* Returns one of these texts, by the locks of the device; NULL: nobody holds it. */
const char *device_lock_holder(const struct paths *paths, const char *device_id);

/* --- the lock that keeps other people's pollux from a device --- */

/* A GPU has a file of its own in the shared directory. The processors have one file: a slot of the
 * CPU locks the bytes of its processors, so that two people's slots exclude each other where they
 * have a processor in common, whatever their numbers of slots. Where n slots share a processor,
 * each of them locks an n-th of its bytes.
 *
 * The locks are of the kind of lock.h: they belong to the descriptor and to all its copies, and are
 * free when the last process that has one has ended. */

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
