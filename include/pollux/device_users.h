/* device_users.h - the processes that compute on the GPUs.
 *
 * The device layer finds out who the processes are. pollux/device_owners.h then says which runs
 * they belong to, which processes a person ignores, and which keep a GPU from being given out. */
#ifndef POLLUX_DEVICE_USERS_H
#define POLLUX_DEVICE_USERS_H

#include "pollux/device.h"
#include "pollux/proc.h"

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
	/* Owned, by device: until when it is not given out (store_aside.h), wall clock; NaN. NULL:
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

#endif
