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
	int log_fd;			/* becomes stdout and stderr; stdin is /dev/null */
	const int *keep_fds;		/* stay open in the command, whatever their flags */
	int n_keep;
	const struct device *devices;	/* to be bound to */
	int n_devices;
	/* Called in the parent while the child waits, before it executes anything: -1 ends the child.
	 * If the parent dies in it, so does the child: no command runs that was not written down. */
	int (*record)(pid_t pid, void *arg, struct err *err);
	void *record_arg;
};

/* Fork and exec in a process group of its own, default signal dispositions, nothing blocked, every
 * other descriptor closed. Returns the pid, which the caller reaps; or -1 with *err when the command
 * could not be executed: exit_status 127 (not found) or 126 (cannot be executed) for what is wrong with
 * the command, an EX_* for what may pass (its directory is not there now, no memory). Then there is
 * nothing to reap. */
pid_t child_start(const struct child *c, struct err *err);

#endif
