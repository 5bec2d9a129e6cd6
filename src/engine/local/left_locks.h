/* left_locks.h - locks of devices that the processes of a run hold because its supervisor died;
 * private to src/engine/local.
 *
 * A supervisor lets go of the locks of its devices after the store says that the run has left them,
 * and takes them before the store says that it is back. The processes share these locks. If the
 * supervisor dies in between, they go on holding them. */
#ifndef POLLUX_RUN_LEFT_LOCKS_H
#define POLLUX_RUN_LEFT_LOCKS_H

#include "pollux/paths.h"
#include "pollux/proc.h"

/* Lets go of every device lock, of the store and of the shared directory, that one of these
 * processes holds. False: a lock is held, and the kernel does not give its descriptor to this
 * process. */
bool left_locks_release(const struct paths *paths, const struct pid_list *list);

#endif
