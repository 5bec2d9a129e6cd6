/* run_nodes.c - see run_nodes.h. */
#include <string.h>

#include "pollux/run_nodes.h"

#define NAMED 3

/* True if an earlier device of the run is on the same node. Devices of a node mostly stand
 * together. */
static bool is_on_earlier_node(const struct run *run, int device)
{
	for (int i = device - 1; i >= 0; i--)
		if (!strcmp(run->devices[i].node, run->devices[device].node))
			return true;
	return false;
}

bool run_is_elsewhere(const struct run *run)
{
	return run->devices && run->configuration.replicas > 0 && run->devices[0].node[0];
}

int run_n_nodes(const struct run *run)
{
	int n = 0;

	for (int i = 0; run->devices && i < run->configuration.replicas; i++)
		n += !is_on_earlier_node(run, i);
	return n > 0 ? n : 1;
}

void run_node_names(const struct run *run, struct strings *names)
{
	for (int i = 0; run->devices && i < run->configuration.replicas; i++)
		if (!is_on_earlier_node(run, i))
			strings_add(names, run->devices[i].node);
}

void run_add_nodes(const struct run *run, struct text *out)
{
	struct strings names = { 0 };
	size_t n;

	if (!run_is_elsewhere(run))
		return;
	run_node_names(run, &names);
	n = names.count > NAMED ? NAMED - 1 : names.count;
	for (size_t i = 0; i < n; i++)
		text_addf(out, "%s%s", !i ? "" : i + 1 == names.count ? " and " : ", ",
			  names.items[i]);
	if (n < names.count)
		text_addf(out, " and %zu more", names.count - n);
	strings_release(&names);
}
