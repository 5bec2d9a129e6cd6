/* take.h - nodes for the jobs of tiresias and optimus, chosen as in the published simulator. */
#ifndef SIM_TAKE_H
#define SIM_TAKE_H

#include "placement.h"

/* Takes GPUs, again and again from the node with most free ones; among equals, the lowest. */
void take_gpus(int *free_gpus, int n_nodes, int gpus, struct placement *taken);

#endif
