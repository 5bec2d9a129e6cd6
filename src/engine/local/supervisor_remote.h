/* supervisor_remote.h - what is different in a supervisor whose programs run under a wrapper;
 * private to src/engine. */
#ifndef POLLUX_RUN_SUPERVISOR_REMOTE_H
#define POLLUX_RUN_SUPERVISOR_REMOTE_H

#include "supervisor.h"

/* What a supervisor does in another way whose programs run under a wrapper, perhaps on several
 * machines, and whose orders come in files: src/engine/slurm. */
struct supervisor_remote {
	/* At each look: takes orders, and shows that the supervisor lives. */
	void (*look)(struct supervisor *s);
	/* No process of the run is left: looks how the programs ended. */
	void (*conclude)(struct supervisor *s);
	/* Makes the command that runs the program under its wrapper, and adds variables. */
	void (*wrap)(struct supervisor *s, const struct strings *argv, struct strings *wrapped,
		     struct strings *env);
	/* The address of the first node, for the programs of the others. */
	const char *(*master)(void);
	/* The process on this machine that the programs here descend from; 0: not known yet. */
	pid_t (*ancestor)(void);
	/* Sends a signal to the programs, or to all of their processes. False: the processes here
	 * are to be signalled. */
	bool (*signal)(struct supervisor *s, int signal_number, bool all);
};
/* NULL in a supervisor of programs on this machine. */
extern const struct supervisor_remote *supervisor_remote;

#endif
