/* place.h - which nodes, once it is decided how many devices each job gets.
 *
 *	1. A job whose count is what it holds stays where it is, unless 4. applies.
 *	2. The others are placed, those with the most devices first, of equals the one with the smaller index.
 *	3. Up to a node's worth goes to one node: the fullest that has room, of equals the lowest. More takes
 *	   empty nodes whole, and the rest on one more, if possible on one without a distributed job.
 *	4. Where there is no such room, smaller jobs make it: those on nodes where fewest devices move. They are
 *	   then placed by 2.
 *	5. Where that does not make room either, the job takes what there is, from the emptiest nodes first.
 *
 * A distributed job is one on several nodes. Two of them on one node interfere. Counts that are regular never
 * need 5, and no two distributed jobs then share a node. */
#ifndef POLLUX_PLACE_H
#define POLLUX_PLACE_H

#include <stdbool.h>

/* Placeable together with any others like it, while their sum is at most n_devices: powers of two that
 * divide a node, a node, whole nodes (the configurations of Jayaram Subramanya et al., "Sia", SOSP 2023).
 * Each divides the next, so that placing the largest first leaves no gaps. On one node (devices_per_node
 * is 0, or n_devices at most) every count is. */
bool place_is_regular(int n_devices, int devices_per_node, int count);

/* held[j * n_nodes + n]: devices that job j has on node n. count[j]: those decided for it; the sum is at
 * most n_nodes * devices_per_node. placed (result) is like held, with rows that add up to count. */
void place_jobs(int n_nodes, int devices_per_node, int n_jobs, const int *held, const int *count,
		int *placed);

#endif
