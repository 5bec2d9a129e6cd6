/* placement.h - the nodes of a job, in the order in which it was given them, with its GPUs on
 * each. */
#ifndef SIM_PLACEMENT_H
#define SIM_PLACEMENT_H

#include <stdbool.h>

struct placement {
	int n;			/* nodes; 0: the job has none */
	int replicas;		/* all GPUs */
	int *nodes, *gpus;	/* owned; n each */
};

void placement_release(struct placement *p);
void placement_add(struct placement *p, int node, int gpus);
bool placement_equal(const struct placement *a, const struct placement *b);
/* releases *to first */
void placement_copy(struct placement *to, const struct placement *from);

/* The smallest rotation of a string; out has room for as many bytes. */
void placement_canonical(const char *digits, char *out);
/* The canonical digits of GPUs on nodes; false for more than size - 1 nodes, or more than 9 GPUs on
 * a node. */
bool placement_digits(const int *gpus, int n, char *out, int size);

#endif
