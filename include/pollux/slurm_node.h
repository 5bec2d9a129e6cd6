/* slurm_node.h - what runs in a job of Slurm: pollux supervise DIRECTORY [PROGRAM ARGV0 ARG ...] */
#ifndef POLLUX_SLURM_NODE_H
#define POLLUX_SLURM_NODE_H

#include "pollux/err.h"

/* The supervisor of the run in the directory, on the first node. 0, or -1 with *err. */
int slurm_supervise(const char *dir, struct err *err);
/* Runs the program on this node of the run, argv: its path, then its arguments from argv[0] on.
 * Returns its exit status; -1 with *err: it was not begun. */
int slurm_wrap(const char *dir, char *const *argv, struct err *err);

#endif
