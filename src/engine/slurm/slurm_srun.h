/* slurm_srun.h - how a run's program comes to its nodes; private to src/engine/slurm. */
#ifndef POLLUX_SLURM_SRUN_H
#define POLLUX_SLURM_SRUN_H

#include "pollux/text.h"

/* Adds what Slurm told this job, and where the nodes of the run meet. */
void slurm_add_environment(const char *launch, int nodes, struct strings *env);
/* The command that runs the program under a wrapper on each node: srun, or on one node the wrapper
 * itself. */
void slurm_add_wrapper(const char *dir, int nodes, const char *program, const struct strings *argv,
		       struct strings *wrapped);

#endif
