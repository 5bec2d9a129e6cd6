/* run_nodes.h - the nodes of a run, in the order of its devices. A run on this machine has one
 * node, whose name is "". */
#ifndef POLLUX_RUN_NODES_H
#define POLLUX_RUN_NODES_H

#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/text.h"

/* True if the run's devices are of machines that an engine names. */
bool run_is_elsewhere(const struct run *run);
/* The number of nodes, at least 1. */
int run_n_nodes(const struct run *run);
/* Adds the name of each node. */
void run_node_names(const struct run *run, struct strings *names);
/* "n1, n2 and 14 more"; names at most three. Adds nothing for a run on this machine. */
void run_add_nodes(const struct run *run, struct text *out);

#endif
