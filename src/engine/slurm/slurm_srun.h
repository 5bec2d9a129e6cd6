/* slurm_srun.h - how a run's program comes to its nodes; private to src/engine/slurm. */
#ifndef POLLUX_SLURM_SRUN_H
#define POLLUX_SLURM_SRUN_H

#include "pollux/text.h"

/* Returns the address of this node, which is the run's first, as Slurm has it: names may not
 * resolve. The caller frees. */
char *slurm_own_address(const char *launch);
/* Adds what Slurm told this job. nodes: on which the program is started. */
void slurm_add_environment(int nodes, struct strings *env);
/* The command that runs the program under a wrapper on each node: srun, or on one node the wrapper
 * itself. */
void slurm_add_wrapper(const char *dir, int nodes, const char *program, const struct strings *argv,
		       struct strings *wrapped);

#endif
