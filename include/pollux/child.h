/* child.h - start a command. */
#ifndef POLLUX_CHILD_H
#define POLLUX_CHILD_H

#include <sys/types.h>

#include "pollux/device.h"
#include "pollux/err.h"
#include "pollux/text.h"

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

#endif
