/* local.h - the parts of the local engine's table; private to src/engine/local. */
#ifndef POLLUX_LOCAL_H
#define POLLUX_LOCAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pollux/device.h"
#include "pollux/engine.h"
#include "pollux/job.h"
#include "pollux/proc.h"

/* --- the handle of a run: local_processes.c --- */

/* The text is "local supervisor=12 leader=34 start=5678 guardian=11 keeper=13 group=/path
 * socket=/path", in one line.
 * Values that are not known are left out. The socket's path comes last and ends with the text. */
struct local_handle {
	int64_t supervisor_pid;		/* 0: none yet */
	int64_t leader_pid;		/* the command's first process; 0: none yet */
	int64_t leader_start_ticks;	/* with the pid, names one process; 0: unknown */
	int64_t guardian_pid;		/* above the supervisor that started the run; 0: none */
	int64_t keeper_pid;		/* run_log.h; 0: none, or unknown */
	char *group;			/* owned; directory of its control group; "": none */
	char *socket_path;		/* owned; where the run's reports go; "": none yet */
};

/* text NULL: the run was not started yet. */
void local_handle_parse(const char *text, struct local_handle *h);
char *local_handle_text(const struct local_handle *h);		/* the caller frees */
void local_handle_release(struct local_handle *h);

/* local_processes.c */
/* True if the process is "pollux COMMAND RUN": the number could be another process's by now. */
bool local_is_command(int64_t pid, const char *command, int64_t run_id);
/* The same of a supervisor of the run, or its guardian. */
bool local_is_supervisor(const struct run *run, int64_t pid);
void local_leave_out(struct pid_list *list, pid_t pid);		/* takes it off the list */
bool local_owns_process(const struct run *run, int64_t pid);
enum engine_containment local_containment(struct text *detail);
bool local_dies_of(const struct run *run, int signal);
int64_t local_command_pid(const struct run *run);
const char *local_stuck(const struct engine_context *at, const struct run *run);

/* containers */
enum engine_container local_container(const struct run *run, const char *id, int64_t start_ticks);
/* The containers whose ids the processes wrote to the files of --cidfile: "docker ID" for each,
 * added where it is not there yet. */
void local_add_containers(const struct pid_list *processes, struct strings *containers);
/* Kills those that live, by "docker kill ID", and says so, or that one lives on. */
void local_kill_containers(const struct strings *containers, const struct strings *env,
			   struct text *said);

/* local.c: the reason for which a message asks the supervisor to stop its run, where the store
 * cannot be written; STOP_NONE: it is another message. */
enum stop_reason local_stop_asked(const char *message, size_t n);

/* --- child.c: starts a command --- */

struct child {
	const char *program;		/* absolute path */
	const struct strings *argv, *env;
	const char *directory;
	const char *limits;		/* the limits to run under (proc.h); NULL: the parent's */
	int log_fd;			/* becomes stdout and stderr; stdin is /dev/null */
	/* Not 0: the child stays in the parent's session, joins this process group, and gets the
	 * three descriptors of stdio as its standard input, output and error. */
	pid_t group;
	const int *stdio;
	const int *keep_fds;		/* stay open in the command; negative entries are skipped */
	int n_keep;
	const struct device *devices;	/* that the command is bound to */
	int n_devices;
	/* Called in the parent while the child waits, before the child executes anything. -1 ends
	 * the child. If the parent dies in this call, the child ends, too: no command runs that was
	 * not recorded. */
	int (*record)(pid_t pid, void *arg, struct err *err);
	void *record_arg;
};

/* Forks and executes the command in a session of its own (but see group), with default signal
 * actions, no signal blocked and every other descriptor closed. Returns the pid; the caller reaps
 * the process.
 *
 * -1: the command could not be executed, and there is nothing to reap. exit_status is 127 (not
 * found) or 126 (cannot be executed) for an error of the command, or an EX_* for an error that may
 * pass (its directory is missing now, no memory). */
pid_t child_start(const struct child *c, struct err *err);

/* supervise.c */
/* Starts "pollux supervise RUN" as a daemon: own session, no terminal, stderr to supervisor.log. */
int supervisor_spawn(const struct paths *paths, int64_t run_id, struct err *err);
/* Tells the run's supervisor to look into the store now. Without this it looks every two
 * seconds. */
void supervisor_wake(const struct run *run);
/* supervisor_saving.c: ends a run whose processes cannot exist any more, as after a reboot. The
 * work since the last record, in the store or kept beside its lock, is lost. */
int run_end_lost(const struct paths *paths, struct store *store, struct run *run, struct err *err);

#endif
