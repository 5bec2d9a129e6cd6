/* node_sizes.h - on how many nodes a number of devices falls evenly.
 *
 * A number r is even on n nodes if each of the n has r / n of the devices, and if n nodes of the
 * size of the smallest of them are needed for r. So 6 devices are even on two nodes of 4, and 5 are
 * not even on nodes of 4, also where there are five nodes.
 *
 * Of the even numbers, the regular ones leave few gaps: powers of two that divide a node, a node,
 * and whole nodes of one size (on equal nodes, those of place_is_regular() in assign.h). On
 * a single node, every number up to its size is regular.
 *
 * A job may have the regular numbers in its range. If there are none, it may have the even ones. */
#ifndef POLLUX_NODE_SIZES_H
#define POLLUX_NODE_SIZES_H

#include <stdbool.h>

#include "pollux/text.h"

struct node_sizes {
	const int *devices;	/* of each node, descending, at least 1; the caller's */
	int n;
};

/* The fewest nodes on which so many devices are even; 0: on none. */
int node_sizes_place(const struct node_sizes *nodes, int devices);
/* The same among the numbers of nodes above `than`: uneven nodes leave several choices. */
int node_sizes_place_above(const struct node_sizes *nodes, int devices, int than);
/* The fewest nodes on which so many devices are regular; 0: on none. */
int node_sizes_regular_place(const struct node_sizes *nodes, int devices);
/* Which numbers a job may have that asks for least to most devices. */
enum node_rule { NODE_RULE_NONE, NODE_RULE_REGULAR, NODE_RULE_EVEN };
enum node_rule node_sizes_rule(const struct node_sizes *nodes, int least, int most);
/* True if the rule allows so many devices. */
bool node_sizes_allow(const struct node_sizes *nodes, enum node_rule rule, int devices);
/* The least number of devices that such a job may have; 0: none. */
int node_sizes_least(const struct node_sizes *nodes, int least, int most);
int node_sizes_total(const struct node_sizes *nodes);
/* The sizes as text, "4*16 2", and back. Returns the sizes, for the caller to
 * free; NULL: there is none, or the text is malformed. */
void node_sizes_print(const struct node_sizes *nodes, struct text *out);
int *node_sizes_parse(const char *text, struct node_sizes *nodes);
/* True if there are several nodes: else every number that there is may be given. */
static inline bool node_sizes_matter(const struct node_sizes *nodes)
{
	return nodes->n > 1;
}

#endif
