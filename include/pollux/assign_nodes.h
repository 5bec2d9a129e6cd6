/* assign_nodes.h - which devices each job gets where the devices are on several nodes.
 *
 *	1. A job whose count is what it has keeps its devices, unless rule 5 moves it.
 *	2. The other jobs are placed, those of most devices first; among equals, the smaller index.
 *	3. A job has as many devices on each of its nodes, on the fewest nodes on which its number
 *	   is even (node_sizes.h) and that have room: free devices, or its own.
 *	4. Among such nodes those with least room come first, so that large rooms are left to other
 *	   jobs; then those that the job has devices on; then the lowest. If there are too few, the
 *	   devices that other jobs give up count as room as well.
 *	5. If there are still too few, jobs of fewer devices that may be moved, and are on one node,
 *	   make room on the nodes where fewest devices move. They are then placed by rule 2.
 *	6. A job for which that makes no room gets no devices.
 *
 * On each node the devices follow from their links by the rules of assign.h. 10,000 nodes of 8
 * and 100 jobs take some milliseconds. */
#ifndef POLLUX_ASSIGN_NODES_H
#define POLLUX_ASSIGN_NODES_H

#include <stdbool.h>

#include "pollux/assign.h"

struct assign_nodes_input {
	int n_devices;
	const int *holder;		/* by device, as in assign.h */
	const int *node;		/* by device: its node, 0 to n_nodes - 1 */
	int n_nodes;
	int n_jobs;
	const int *count;		/* by job, as in assign.h */
	const bool *movable;		/* by job: its run may be relaunched on other devices */
	/* The distance of two devices of one node, as in assign.h; NULL: all are equal. */
	unsigned char (*link)(const void *arg, int a, int b);
	const void *link_arg;
};

/* owner[d] (result): as in assign.h. Returns true if every job has its count; a job that does not
 * has none. */
bool assign_on_nodes(const struct assign_nodes_input *in, int *owner);

#endif
