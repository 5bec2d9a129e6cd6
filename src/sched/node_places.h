/* node_places.h - jobs on nodes while they are being placed; private to src/sched. */
#ifndef SCHED_NODE_PLACES_H
#define SCHED_NODE_PLACES_H

#include "pollux/assign_nodes.h"
#include "pollux/node_sizes.h"

/* Devices of a job on one node. */
struct node_part {
	int node, devices;
};

struct node_parts {
	struct node_part *items;	/* owned */
	int n;
};

struct node_job {
	struct node_parts held, placed;
	int n_held;			/* devices */
	bool leaves;			/* it does not keep what it holds */
};

struct node_places {
	const struct assign_nodes_input *in;
	struct node_job *jobs;
	/* By node: devices that may be given out; of these, left after all that are placed; left of
	 * those that nobody holds. */
	int *size, *room, *free;
	int *own;			/* by node: what the job that is being placed holds there */
	struct node_sizes sizes;
	int *sorted;			/* for sizes */
	int *devices, *first;		/* those of node k: devices[first[k]..first[k + 1]) */
	int *queue, n_queue;		/* jobs to be placed */
};

/* Finds what each job holds, and which jobs keep that. */
void node_places_begin(struct node_places *p, const struct assign_nodes_input *in);
void node_places_end(struct node_places *p);
/* Counts the placed devices of the job as taken (1), or no longer (-1). */
void node_places_book(struct node_places *p, int job, int sign);
void node_places_queue(struct node_places *p, int job);
/* Chooses the devices on each node. */
void node_places_choose(const struct node_places *p, int *owner);

#endif
