/* paths.h - where pollux keeps things.
 *
 *	$POLLUX_DIR, else $XDG_STATE_HOME/pollux, else ~/.local/state/pollux     (mode 0700)
 *		pollux.db          the store (0600), with -wal and -shm beside it
 *		schedule.lock      held by the pass that is running
 *		schedule.again     exists if another pass was requested meanwhile
 *		failed-pass        why the last pass failed that nobody watched
 *		supervisor.log     messages of supervisors
 *		logs/ID.log        what job ID printed, over all its runs
 *		logs/ID.store      the name of the store whose job has the log and checkpoints/ID
 *		checkpoints/ID/    given to job ID when it declared no directory of its own; the one
 *		                   of a profile is removed after each of its runs
 *		code/objects/      what git needs to tell which files of a job's code changed
 *		snapshots/NAME/    the code of jobs submitted with --snapshot: code.h
 *		run/RUN.lock       held by the supervisor of a run as long as it lives
 *		run/RUN.sock       receives the run's reports
 *		run/RUN.out        standard output and error of the run, a FIFO: run_log.h
 *		run/RUN.config     the configuration that the run is to change to, if there is one
 *		run/device-N.lock  held by every process of the run that has the device
 *		run/interactive-ID.lock  held by 'pollux run' as long as it lives
 *		run/profile-ID.lock  held by 'pollux profile' as long as it measures job ID
 *		run/tell.lock      held by the process that runs the commands for ends of jobs
 *	$POLLUX_DIR/config, else $XDG_CONFIG_HOME/pollux/config, else ~/.config/pollux/config
 */
#ifndef POLLUX_PATHS_H
#define POLLUX_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"

struct paths {
	char *dir;		/* absolute; all strings are owned */
	char *store;
	char *config;
	char *schedule_lock;
	char *schedule_again;
	char *regular_pass;	/* its time is that of the last one, see pass.h */
	char *failed_pass;	/* exists if the last pass failed, see pass_files.h */
	char *pass_host;	/* names the machine of the passes: pass_files.h */
	char *outage;		/* exists while a cluster's manager does not answer: pass_files.h */
	char *supervisor_log;
};

/* Works out the names from the environment, and from the password database if HOME is unset, as in
 * a bare cron. Touches no file. */
int paths_init(struct paths *p, struct err *err);
void paths_release(struct paths *p);

/* Sets the variables from which paths_init() works out the same names, wherever the process is:
 * POLLUX_DIR where it is set, else XDG_STATE_HOME and XDG_CONFIG_HOME. POLLUX_DIR alone would name
 * another configuration file. */
void paths_to_environment(const struct paths *p);

/* Creates the directory, its parents, and logs/ checkpoints/ run/ in it, all with mode 0700. A
 * directory that belongs to another user, or that others may write to, is refused (EX_NOPERM). */
int paths_create(const struct paths *p, struct err *err);

/* Refuses (EX_NOPERM) a directory that belongs to another user, also where the caller is root and
 * could write there, or that others may write to. Every command asks before it writes its first
 * file. A directory that is not there, or cannot be looked at, passes:
 * whoever opens a file there says why that fails. */
int paths_check_owner(const struct paths *p, struct err *err);

char *paths_log(const struct paths *p, int64_t job_id);		/* the caller frees */
char *paths_checkpoints(const struct paths *p, int64_t job_id);
char *paths_run(const struct paths *p, int64_t run_id, const char *suffix);	/* run/RUN.SUFFIX */
char *paths_device_lock(const struct paths *p, const char *device);
/* The lock that 'pollux profile --devices' holds beside the device's lock. It tells others that the
 * holder measures the device and has no run: see device_users.h. */
char *paths_measure_lock(const struct paths *p, const char *device);

/* Whether there is a store. -1 with *err (EX_NOPERM, EX_OSFILE) if that cannot be told, or if what
 * the store's directory should be is something else. */
int paths_have_store(const struct paths *p, bool *have, struct err *err);

/* True if the directory lies on a network file system, where SQLite's locks may not work. */
bool paths_on_network(const struct paths *p);

/* mkdir -p with mode 0700. */
int paths_make_directory(const char *path, struct err *err);

/* --- names in paths --- */

const char *path_name(const char *path);	/* behind the last slash */
/* The path, as seen from the directory if it is relative (NULL: as it is). The caller frees, here
 * and below. */
char *path_within(const char *directory, const char *path);
/* Looks for a program in a list such as PATH, whose directories may be relative to this one. NULL:
 * not found. */
char *path_search(const char *list, const char *name, const char *directory);

/* --- data files --- */

/* Returns the path of a file or directory in $POLLUX_DATA_DIR/pollux. Without that variable the
 * directory is ../share/pollux as seen from the directory of the running program (an installed
 * program, or build/pollux in a source tree), else ../../share/pollux (build/NAME/pollux). The
 * caller frees; NULL: no such file is there. */
char *paths_data(const char *name);

#endif
