/* device_users.h - whose processes compute on the GPUs, and which of them keep a GPU from being given out.
 *
 * A process of somebody else does while it holds more than DEVICE_USER_MEMORY_BYTES of a GPU's memory, or more
 * than DEVICE_USER_SHARE of its time, until a person says that it is to be ignored ("pollux devices --ignore
 * PID"). One that only draws never does: the driver does not list it among those that compute. A process of a
 * run on a GPU that the run has never does; on another GPU it counts as anybody's.
 *
 *	struct device_user_list users;
 *	if (device_users_find(&store, &devices, &runs, &users, err)) return -1;
 *	device_users_refuse(&users, &runs, &devices);
 *	device_user_list_release(&users);
 *
 * In a container with pids of its own those that the driver tells are the machine's: who they are is not known
 * there, and on a GPU that a run has they are taken for the run's. */
#ifndef POLLUX_DEVICE_USERS_H
#define POLLUX_DEVICE_USERS_H

#include "pollux/device.h"
#include "pollux/proc.h"
#include "pollux/store.h"

#define DEVICE_USER_MEMORY_BYTES (INT64_C(512) << 20)
#define DEVICE_USER_SHARE 0.05

struct device_user {
	struct device_process process;
	struct proc_info info;		/* lives false: it has ended, or is not to be seen from here */
	int64_t job_id;			/* of the run it belongs to; 0: of none */
	bool in_place;			/* the run has this device */
	bool ignored;
	bool blocks;
};

struct device_user_list {
	struct device_user *items;
	int count;
};

/* In two steps: who the processes are, of all that the list of devices has, which may ask a directory of users
 * and is no good within a transaction; then whose they are, and which block. */
void device_users_look(const struct device_list *devices, struct device_user_list *list);
int device_users_match(struct store *store, const struct device_list *devices, const struct run_list *runs,
		       struct device_user_list *list, struct err *err);
/* The processes that a person had ignored and that are to be forgotten: those of which only the number is
 * known (in a container, or where /proc hides them), once a pass sees them on no GPU. The number may be
 * another process's then. *gone is the caller's, for ignored_list_release. */
int device_users_gone(struct store *store, const struct device_list *devices,
		      struct ignored_list *gone, struct err *err);
/* Both at once. runs are those that have not ended. store may be NULL, where there is none: then nothing is
 * ignored. Looks nobody up where there are no processes. */
int device_users_find(struct store *store, const struct device_list *devices, const struct run_list *runs,
		      struct device_user_list *list, struct err *err);
void device_user_list_release(struct device_user_list *list);

/* Makes unusable, with the reason, each device that a process blocks and no run has. A run keeps what it has:
 * that somebody joins it there is no reason to stop it. Returns how many. */
int device_users_refuse(const struct device_user_list *list, const struct run_list *runs,
			struct device_list *devices);

/* Both at once, for those who only want to know what they may have. */
int device_users_check(struct store *store, const struct run_list *runs, struct device_list *devices,
		       struct err *err);

/* The one that holds most of those that block the device; NULL: none. */
const struct device_user *device_user_worst(const struct device_user_list *list, int device);

/* "pid 4242 (alice) 642 MiB, 0 % for 47 h": rounded, so that it stays the same from pass to pass. */
#define DEVICE_USER_SIZE 96
const char *device_user_describe(const struct device_user *u, const struct device_list *devices,
				 char text[DEVICE_USER_SIZE]);

#endif
