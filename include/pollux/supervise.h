/* supervise.h - one process that looks after one run, from its devices to its end.
 *
 * The pass that assigns a run starts its supervisor with supervisor_spawn and forgets it. The supervisor
 * holds run/RUN.lock as long as it lives: an assigned run whose lock is free needs a supervisor, and a
 * running one whose lock is free has lost it; spawning one too many is harmless, since only the one with
 * the lock goes on, and only a run that is still assigned can be claimed. */
#ifndef POLLUX_SUPERVISE_H
#define POLLUX_SUPERVISE_H

#include <stdint.h>

#include "pollux/err.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store.h"

/* From the end of the grace, when all of the group get SIGTERM, to SIGKILL. */
#define SUPERVISE_TERM_WAIT_S 5.0

/* Of a profile, progress bars are taken for the steps after so long: at its first point, and once one had steps
 * in its log. */
#define PROFILE_BAR_LIFE_S 5.0
#define PROFILE_KNOWN_BAR_LIFE_S 0.5

/* Start "pollux supervise RUN" as a daemon: own session, no terminal, stderr to supervisor.log. */
int supervisor_spawn(const struct paths *paths, int64_t run_id, struct err *err);

/* The supervisor itself. Returns 1 when the run has ended and its devices are free for the next pass,
 * 0 when it was not this process's to look after (or could not be started, which a pass at once would
 * only repeat). A run that is running or stopping is adopted: its command is stopped and the job
 * requeued. */
int supervise(const struct paths *paths, int64_t run_id, struct err *err);

/* Tell the supervisor to look into the store now; it looks every two seconds anyway. */
void supervisor_wake(const struct run *run);

/* End a run whose processes cannot be there any more (another boot): accounts for what was lost. */
int run_end_lost(struct store *store, struct run *run, struct err *err);

#endif
