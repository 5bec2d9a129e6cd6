/* supervise.h - one process that looks after one run, from its devices to its end.
 *
 * The local engine (engine.h) starts a run's supervisor and forgets it. The supervisor holds
 * run/RUN.lock as long as it lives: an assigned run whose lock is free needs a supervisor, and a
 * running one whose lock is free has lost its supervisor. Starting one too many is harmless: only
 * the one with the lock goes on, and only a run that is still assigned can be claimed. */
#ifndef POLLUX_SUPERVISE_H
#define POLLUX_SUPERVISE_H

#include <stdint.h>

#include "pollux/err.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store.h"

/* From the end of the grace, when all of the group get SIGTERM, to SIGKILL. */
#define SUPERVISE_TERM_WAIT_S 5.0

/* How long a progress bar must live before a profile takes its bars for steps: at the profile's
 * first point, and at the points after one that had steps in its log. */
#define PROFILE_BAR_LIFE_S 5.0
#define PROFILE_KNOWN_BAR_LIFE_S 0.5

/* The supervisor itself. Returns 1 when the run has ended and its devices are free for the next
 * pass; 0 when another supervisor has the run, or when the run could not be started, which a pass
 * at once would only repeat. A run that is running or stopping is adopted: its command is stopped
 * and the job requeued. */
int supervise(const struct paths *paths, int64_t run_id, struct err *err);

#endif
