/* guardian.h - where no control group can be made, a tiny process above each supervisor; private to
 * src/engine/local.
 *
 * A process whose parent has died becomes a child of the nearest living subreaper above. That
 * subreaper is the supervisor or, once the supervisor was killed, the guardian. The processes of
 * the run so descend from the guardian, and the supervisor that takes over finds them. The guardian
 * reaps, ends when it has no children, and holds no file open. */
#ifndef POLLUX_GUARDIAN_H
#define POLLUX_GUARDIAN_H

#include <sys/types.h>

/* Forks. The parent becomes the guardian and does not return; the child goes on, in a session of
 * its own. Returns the guardian's pid, 0: there is none. Call before the store is opened. */
pid_t guardian_start(void);
/* Ends the guardian of a supervisor whose run has no processes left, so that what the supervisor
 * starts next does not descend from it. */
void guardian_dismiss(pid_t guardian);

#endif
