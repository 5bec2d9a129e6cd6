/* take.c - takes GPUs from the emptiest node first. */
#include "take.h"

void take_gpus(int *free_gpus, int n_nodes, int gpus, struct placement *taken)
{
	while (gpus > 0) {
		int best = 0, n;

		for (int node = 1; node < n_nodes; node++)
			if (free_gpus[node] > free_gpus[best])
				best = node;
		n = free_gpus[best] < gpus ? free_gpus[best] : gpus;
		if (n <= 0)
			return;
		placement_add(taken, best, n);
		free_gpus[best] -= n;
		gpus -= n;
	}
}
