/* pack_nodes.h - which nodes each job gets, after its number of devices is decided.
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
#ifndef POLLUX_PACK_NODES_H
#define POLLUX_PACK_NODES_H

#include <stdbool.h>

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
