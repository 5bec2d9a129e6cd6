/* pass_host.h - the one machine on which passes of a store run, where its runs are on a cluster.
 *
 * A store in a home directory is seen by several machines, but its locks and its database are good
 * for the processes of one. The file 'pass.host' names that machine. A pass on another one is
 * refused while the former machine may be at work; later the other one takes its place. */
#ifndef POLLUX_PASS_HOST_H
#define POLLUX_PASS_HOST_H

#include <stdbool.h>

#include "pollux/err.h"
#include "pollux/paths.h"
#include "pollux/text.h"

/* A pass takes no more than 10 minutes. After this time the former machine is at work no more. */
#define PASS_HOST_QUIET_S 660.0

/* A pass that has the lock makes this machine the one of the passes, and sets the time of the
 * lock's file, which is that of the last pass. EX_TEMPFAIL: passes run on another machine. *moved
 * tells of a machine whose place was taken. */
int pass_host_take(const struct paths *paths, int lock, struct text *moved, struct err *err);
/* Adds the other machine on which passes run, and when the last one was. False: there is none. */
bool pass_host_other(const struct paths *paths, struct text *out);

#endif
