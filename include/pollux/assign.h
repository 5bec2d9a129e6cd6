/* assign.h - which nodes and devices each job gets, after its number of devices is decided.
 *
 * An earlier rule comes before a later one:
 *
 *	1. A job whose count is unchanged never moves. A job that grows keeps all its devices. A job
 *	   that shrinks keeps those of its devices that are joined best.
 *	2. Free devices are given out before devices that other jobs give up. They go first to the
 *	   jobs that need fewest devices (among equals, to the smaller index), so that as many jobs
 *	   as possible start at once.
 *	3. The cost of the sets, summed over the jobs that get devices, is least. A set costs the
 *	   link of its farthest pair; where these sums are equal, the links of all its pairs.
 *	4. Between sets of equal cost: devices that are left to no job are joined best, by the links
 *	   of all their pairs. So a single device is taken where it breaks no group.
 *	5. Then: free devices, then lowest numbers, in the order of the jobs, with jobs that start
 *	   at once before jobs that wait.
 *
 * Rules 3 to 5 hold exactly for a choice among at most ASSIGN_EXACT devices. Jobs choose among the
 * free devices, and also among those given up if the free devices are not enough; a job that
 * shrinks chooses among its own. If there are more devices, they are picked one at a time: the
 * nearest first, from the smallest group that is large enough, so that whole groups are left to
 * other jobs. Jobs that grow pick first, then those that need most. */
#ifndef POLLUX_ASSIGN_H
#define POLLUX_ASSIGN_H

#include <stdbool.h>

#define ASSIGN_FREE (-1)
#define ASSIGN_UNUSABLE (-2)

#define ASSIGN_EXACT 16
#define ASSIGN_LINK_MAX 7

/* holder[d]: the index of the job that has device d now, ASSIGN_FREE, or ASSIGN_UNUSABLE. A job
 * whose device became unusable gets another. A device in use by a job that is being stopped for
 * good is held by that job, with a count of 0.
 * count[j]: devices decided for job j; the sum is at most the number of usable devices.
 * links[a * n_devices + b]: the distance of devices a and b, 0 (nearest) to ASSIGN_LINK_MAX, the
 * same in both directions; a == b is not looked at. NULL: all distances are equal.
 * owner[d] (result): the index of the job that is to have device d, or ASSIGN_FREE, also for a
 * device that is unusable. */
void assign_devices(int n_devices, const int *holder, int n_jobs, const int *count,
		    const unsigned char *links, int *owner);

/* ---- devices on several nodes ---- */

/* Which devices each job gets where the devices are on several nodes.
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
 * On each node the devices follow from their links by the rules above. 10,000 nodes of 8
 * and 100 jobs take some milliseconds. */

struct assign_nodes_input {
	int n_devices;
	const int *holder;		/* by device, as above */
	const int *node;		/* by device: its node, 0 to n_nodes - 1 */
	int n_nodes;
	int n_jobs;
	const int *count;		/* by job, as above */
	const bool *movable;		/* by job: its run may be relaunched on other devices */
	/* The distance of two devices of one node, as above; NULL: all are equal. */
	unsigned char (*link)(const void *arg, int a, int b);
	const void *link_arg;
};

/* owner[d] (result): as above. Returns true if every job has its count; a job that does not
 * has none. */
bool assign_on_nodes(const struct assign_nodes_input *in, int *owner);

/* ---- nodes of equal devices ---- */

/* Which of equal nodes each job gets, where their devices do not differ.
 *
 *	1. A job whose count is what it holds stays where it is, unless rule 4 moves it.
 *	2. The other jobs are placed, those with the most devices first; among equals, the one with
 *	   the smaller index.
 *	3. A job that fits on a node goes to one node: the fullest that has room; among equals, the
 *	   lowest. A larger job takes empty nodes whole, and its rest goes to one more node, if
 *	   possible to one without a distributed job.
 *	4. Where no node has such room, smaller jobs make room, on the nodes where fewest devices
 *	   move. They are then placed by rule 2.
 *	5. Where that does not make room either, the job takes devices from the emptiest nodes
 *	   first.
 *
 * A distributed job is a job on several nodes. Two of them on one node interfere. Regular counts
 * never need rule 5, and no two distributed jobs then share a node. */

/* True for counts that can always be placed together while their sum is at most n_devices: powers
 * of two that divide a node, a node, and whole nodes (the configurations of Jayaram Subramanya et
 * al., "Sia", SOSP 2023). Each divides the next, so placing the largest first leaves no gaps. On
 * one node (devices_per_node is 0, or n_devices or more) every count is regular. */
bool place_is_regular(int n_devices, int devices_per_node, int count);

/* held[j * n_nodes + n]: devices that job j has on node n. count[j]: devices decided for job j; the
 * sum is at most n_nodes * devices_per_node. placed (result) is like held, with rows that add up to
 * count. */
void place_jobs(int n_nodes, int devices_per_node, int n_jobs, const int *held, const int *count,
		int *placed);

/* Puts a job into a queue of n jobs to be placed: those of most devices come first; among equals,
 * the smaller index. */
void place_queue(int *queue, int *n, const int *count, int job);

#endif
