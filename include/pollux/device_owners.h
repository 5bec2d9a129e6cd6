/* device_owners.h - which runs the processes on the GPUs belong to, and which processes keep a GPU
 * from being given out.
 *
 * A process of another person keeps a GPU from being given out while the process is above the
 * limits of pollux/device_users.h, until somebody says "pollux devices --ignore PID". A process
 * that only draws is not listed by the driver; what such processes have of the memory counts as one
 * unknown process, where it is more than a desktop takes. A process of a run does not block the
 * GPUs of that run; on other GPUs it counts as anybody's.
 *
 * In a container with pids of its own the driver tells the machine's pids. Their processes cannot
 * be seen there: a process on a GPU that a run has is taken for the run's. */
#ifndef POLLUX_DEVICE_OWNERS_H
#define POLLUX_DEVICE_OWNERS_H

#include "pollux/device.h"
#include "pollux/device_users.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"

/* Sets, for each process that device_users_look() found, the job of the process and whether the
 * process blocks its device. runs: all that have not ended. store NULL: there is no store, and no
 * process is ignored. */
int device_owners_match(struct store *store, const struct device_list *devices,
			const struct run_list *runs, struct device_user_list *list,
			struct err *err);
/* device_users_look, then device_owners_match: not for use inside a transaction. */
int device_owners_find(struct store *store, const struct device_list *devices,
		       const struct run_list *runs, struct device_user_list *list,
		       struct err *err);

/* Marks as unusable, with the reason, each device that a process blocks, or on which CUDA does not
 * start (pollux/store_runs.h), and that no run has. A run keeps its devices when another process
 * comes. Returns the number of devices refused. */
int device_owners_refuse(const struct device_user_list *list, const struct run_list *runs,
			 struct device_list *devices);

/* device_owners_find, then device_owners_refuse. */
int device_owners_check(struct store *store, const struct run_list *runs,
			struct device_list *devices, struct err *err);

/* The ignored processes that the pass forgets: those known only by their number (in a container, or
 * where /proc hides processes) that are on no GPU now, because the number may soon be another
 * process's. *gone is the caller's, for ignored_list_release. */
int device_owners_gone(struct store *store, const struct device_list *devices,
		       struct ignored_list *gone, struct err *err);

#endif
