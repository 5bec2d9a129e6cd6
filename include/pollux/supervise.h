/* supervise.h - one process that looks after one run, from its devices to its end.
 *
 * The local engine (engine.h) starts a run's supervisor and forgets it. The supervisor holds
 * run/RUN.lock as long as it lives. A free lock means that an assigned run needs a supervisor, and
 * that a running run has lost its supervisor. A second supervisor does no harm: it ends when it
 * finds the lock held, and only an assigned run can be claimed. */
#ifndef POLLUX_SUPERVISE_H
#define POLLUX_SUPERVISE_H

#include <stdint.h>
#include <sys/types.h>

#include "pollux/err.h"
#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store.h"

/* Time from the end of the grace, when the whole group gets SIGTERM, to SIGKILL. */
#define SUPERVISE_TERM_WAIT_S 5.0

/* How long a progress bar must live before a profile counts its steps: at the profile's first
 * point, and at later points once an earlier one had steps in its log. */
#define PROFILE_BAR_LIFE_S 5.0
#define PROFILE_KNOWN_BAR_LIFE_S 0.5

/* Runs the supervisor. Returns 1 when the run has ended and its devices are free for the next pass.
 * Returns 0 when another supervisor has the run, or when the run could not be started: another pass
 * at once would only fail again. A run that is running or stopping is adopted: its command is
 * stopped and the job requeued. group: the process group of the terminal's 'pollux run' (see
 * below), 0: the run has none. */
int supervise(const struct paths *paths, int64_t run_id, pid_t group, struct err *err);

/* A run in the foreground: its supervisor is a child of 'pollux run' and in a process group of its
 * own, which no key of the terminal reaches. The command is in the group of 'pollux run', and has
 * its standard input, output and error. When 'pollux run' dies the supervisor stops the run. */
struct foreground {
	pid_t supervisor;
	/* gives a double to read: the boot clock's time until which the run lasts */
	int fd;
};

/* Starts the supervisor, "pollux supervise RUN GROUP". The caller reaps it and closes fd. */
int foreground_start(const struct paths *paths, int64_t run_id, struct foreground *f,
		     struct err *err);

/* --- the keeper of a log: see src/engine/local/run_log.h --- */

/* The command of pollux; its only operand is the number of the run. */
#define LOG_KEEPER_COMMAND "keep-log"

/* Moves what comes from standard input to the end of standard output until nobody can write any
 * more. Bytes for which there is no room are dropped, so that the program need not wait, and a line
 * in the log says how many. Returns the status to exit with. */
int log_keeping(void);

/* The turn of a writer of a log, by flock(2): what one writes at the end is not written over by a
 * keeper, which has looked for the end just before. The keeper of an earlier run may live, where a
 * process of that run does. A writer that keeps the turn for a second is passed over. */
void log_take_turn(int log_fd);
void log_end_turn(int log_fd);

#endif
