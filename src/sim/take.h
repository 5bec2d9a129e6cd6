/* take.h - nodes for tiresias and optimus, as the published simulator gives them. */
#ifndef SIM_TAKE_H
#define SIM_TAKE_H

#include "placement.h"

/* Take so many GPUs: again and again from the node with most free ones, of equals the lowest. */
void take_gpus(int *free_gpus, int n_nodes, int gpus, struct placement *taken);

#endif
