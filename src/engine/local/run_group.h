/* run_group.h - the control group (version 2) that holds every process of a run, whatever the
 * process does; private to src/engine/local.
 *
 * A group is a directory "pollux-STORE-RUN.ID" beside the supervisor, in the control group that the
 * supervisor is in: that is possible for root, and for users in a tree that is delegated to them,
 * as the units of a systemd user session are. STORE is a hash of the store's directory. ID is the
 * beginning of the store's identity: a store that took another one's place has groups of its own.
 * A group limits nothing but the memory of a run whose job declares that. $POLLUX_CGROUP names
 * another directory for the groups, or is "none". */
#ifndef POLLUX_RUN_GROUP_H
#define POLLUX_RUN_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/paths.h"

/* Returns the directory in which groups of runs can be made; the caller frees. NULL with *err: no
 * group can be made by this process, and why. */
char *run_group_base(struct err *err);

/* Leaves the group of a run, of a path in the file system of control groups: if a process of a run
 * does a pass, the groups of new runs lie beside its group, not inside. */
void run_group_leave(char *path);
/* Makes the group of a run, and returns its directory; the caller frees. */
char *run_group_make(const struct paths *paths, int64_t run_id, const char *store_id,
		     struct err *err);
/* Moves a process into the group. What the process starts from then on is in the group, too. */
int run_group_add(const char *group, pid_t pid, struct err *err);
/* Sets the most memory that the group may have, without swap; 0: any. When there is no more, the
 * kernel kills every process of the group. False: nothing is limited, as the group has no
 * controller for memory and may not be given one. */
bool run_group_limit_memory(const char *group, int64_t bytes);
/* How many processes of the group the kernel has killed for want of memory. *peak_bytes: the most
 * that the group had; 0: not known. */
int64_t run_group_memory_kills(const char *group, int64_t *peak_bytes);
/* Kills every process of the group at once, as far as the kernel can (Linux 5.14). */
void run_group_kill(const char *group);
/* Removes the group and the groups that the job made below. False: a process is left there. */
bool run_group_remove(const char *group);

/* Kills and removes the groups of this store's runs that is_over(run id, arg) says have ended. */
void run_group_clean(const struct paths *paths, bool (*is_over)(int64_t run_id, const void *arg),
		     const void *arg);

/* --- where no control group can be made, a tiny process above each supervisor --- */

/* A process whose parent has died becomes a child of the nearest living subreaper above. That
 * subreaper is the supervisor or, once the supervisor was killed, the guardian. The processes of
 * the run so descend from the guardian, and the supervisor that takes over finds them. The guardian
 * reaps, ends when it has no children, and holds no file open. */

/* Forks. The parent becomes the guardian and does not return; the child goes on, in a session of
 * its own. Returns the guardian's pid, 0: there is none. Call before the store is opened. */
pid_t guardian_start(void);
/* Ends the guardian of a supervisor whose run has no processes left, so that what the supervisor
 * starts next does not descend from it. */
void guardian_dismiss(pid_t guardian);

#endif
