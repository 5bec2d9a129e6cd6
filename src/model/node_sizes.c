/* node_sizes.c - even and regular numbers of devices. */
#include "pollux/node_sizes.h"

#include <stdlib.h>

#include "pollux/mem.h"

/* The nodes of at least this size are the first so many. */
static int nodes_of_size(const struct node_sizes *nodes, int size)
{
	int low = 0, high = nodes->n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (nodes->devices[middle] >= size)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of nodes on which the devices are even, where the smallest has this size; 0: none. */
static int even_on(const struct node_sizes *nodes, int devices, int size)
{
	int n = (devices - 1) / size + 1;

	return devices % n == 0 && nodes_of_size(nodes, devices / n) >= n ? n : 0;
}

static int regular_on(const struct node_sizes *nodes, int devices, int size)
{
	int n = even_on(nodes, devices, size);
	bool divides = (devices & (devices - 1)) == 0 && size % devices == 0;

	if (!n || nodes->n == 1)
		return n;
	return devices / n == size || (n == 1 && divides) ? n : 0;
}

/* Asks each size of node, the largest first, for a number of nodes above `than`. */
static int fewest(const struct node_sizes *nodes, int devices, int than,
		  int (*place)(const struct node_sizes *nodes, int devices, int size))
{
	if (devices < 1)
		return 0;
	for (int i = 0; i < nodes->n; i = nodes_of_size(nodes, nodes->devices[i])) {
		int found = place(nodes, devices, nodes->devices[i]);

		if (found > than)
			return found;
	}
	return 0;
}

int node_sizes_place_above(const struct node_sizes *nodes, int devices, int than)
{
	return fewest(nodes, devices, than, even_on);
}

int node_sizes_place(const struct node_sizes *nodes, int devices)
{
	return node_sizes_place_above(nodes, devices, 0);
}

int node_sizes_regular_place(const struct node_sizes *nodes, int devices)
{
	return fewest(nodes, devices, 0, regular_on);
}

int node_sizes_total(const struct node_sizes *nodes)
{
	int sum = 0;

	for (int i = 0; i < nodes->n; i++)
		sum += nodes->devices[i];
	return sum;
}

bool node_sizes_allow(const struct node_sizes *nodes, enum node_rule rule, int devices)
{
	switch (rule) {
	case NODE_RULE_REGULAR:
		return node_sizes_regular_place(nodes, devices) > 0;
	case NODE_RULE_EVEN:
		return node_sizes_place(nodes, devices) > 0;
	case NODE_RULE_NONE:
		break;
	}
	return false;
}

/* The first number from least to most that the rule allows; 0: none. */
static int first_allowed(const struct node_sizes *nodes, enum node_rule rule, int least, int most)
{
	int total = node_sizes_total(nodes);

	for (int r = least > 1 ? least : 1; r <= most && r <= total; r++)
		if (node_sizes_allow(nodes, rule, r))
			return r;
	return 0;
}

enum node_rule node_sizes_rule(const struct node_sizes *nodes, int least, int most)
{
	if (first_allowed(nodes, NODE_RULE_REGULAR, least, most))
		return NODE_RULE_REGULAR;
	return first_allowed(nodes, NODE_RULE_EVEN, least, most) ? NODE_RULE_EVEN : NODE_RULE_NONE;
}

int node_sizes_least(const struct node_sizes *nodes, int least, int most)
{
	return first_allowed(nodes, node_sizes_rule(nodes, least, most), least, most);
}

/* ---- as text ---- */

#define MOST_NODES 1000000

void node_sizes_print(const struct node_sizes *nodes, struct text *out)
{
	for (int i = 0, n; i < nodes->n; i += n) {
		for (n = 1; i + n < nodes->n && nodes->devices[i + n] == nodes->devices[i];)
			n++;
		text_addf(out, "%s%d", i ? " " : "", nodes->devices[i]);
		if (n > 1)
			text_addf(out, "*%d", n);
	}
}

/* Each part of the text is "4", or "4*16". */
int *node_sizes_parse(const char *text, struct node_sizes *nodes)
{
	int *devices = NULL, n = 0;
	long last = MOST_NODES;

	*nodes = (struct node_sizes){ 0 };
	while (*text) {
		char *end;
		long size = strtol(text, &end, 10), count = 1;
		bool good = end != text;

		if (good && *end == '*') {
			text = end + 1;
			count = strtol(text, &end, 10);
			good = end != text;
		}
		if (!good || size < 1 || size > last || count < 1 || count > MOST_NODES - n) {
			free(devices);
			return NULL;
		}
		last = size;
		for (; count > 0; count--) {
			devices = xgrow(devices, n, sizeof(*devices));
			devices[n++] = (int)size;
		}
		text = end + (*end == ' ');
	}
	*nodes = (struct node_sizes){ devices, n };
	return devices;
}
