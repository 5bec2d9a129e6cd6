/* slurm_own_store.h - the store of a supervisor in a job of Slurm: it has the rows of one run, lies
 * on the node, and goes with the job; private to src/engine/slurm. */
#ifndef POLLUX_SLURM_OWN_STORE_H
#define POLLUX_SLURM_OWN_STORE_H

#include "pollux/err.h"
#include "pollux/paths.h"

struct slurm_own_store {
	const char *run_dir;		/* the run's directory, with the rows */
	const char *launch;		/* the content of its file launch */
	const char *base;		/* has logs/ and checkpoints/; NULL is an error */
	const char *own;		/* a new directory on this node */
};

/* Makes the store and its journal in the run's directory, and names the store's files. */
int slurm_own_store(const struct slurm_own_store *o, struct paths *paths, struct err *err);

#endif
