/* Even and regular numbers of devices: by hand on uneven nodes, and by search on equal ones. */
#include "pollux/node_sizes.h"
#include "pollux/pack_nodes.h"
#include "tap.h"

static const struct {
	const char *name;
	int devices[5], n, replicas, even, regular;
} cases[] = {
	{ "one of a node", { 4, 4, 4 }, 3, 1, 1, 1 },
	{ "three of a node of four: even, and leaves a gap", { 4, 4, 4 }, 3, 3, 1, 0 },
	{ "a node", { 4, 4, 4 }, 3, 4, 1, 1 },
	{ "five on nodes of four: not even", { 4, 4, 4, 4, 4 }, 5, 5, 0, 0 },
	{ "six on nodes of four: two of three", { 4, 4, 4 }, 3, 6, 2, 0 },
	{ "whole nodes", { 4, 4, 4 }, 3, 8, 2, 2 },
	{ "three of three", { 4, 4, 4 }, 3, 9, 3, 0 },
	{ "more than there are", { 4, 4, 4 }, 3, 16, 0, 0 },
	{ "a large node before two small ones", { 8, 4, 4 }, 3, 8, 1, 1 },
	{ "five of a large node", { 8, 4, 4 }, 3, 5, 1, 0 },
	{ "twelve: a third of them on each node", { 8, 4, 4 }, 3, 12, 3, 3 },
	{ "sixteen: the nodes are not equal", { 8, 4, 4 }, 3, 16, 0, 0 },
	{ "twelve: half on each large node, or all three", { 8, 8, 4 }, 3, 12, 2, 3 },
	{ "six is a node", { 8, 6, 6 }, 3, 6, 1, 1 },
	{ "four divides no node of six, but one of eight", { 8, 6, 6 }, 3, 4, 1, 1 },
	{ "four divides neither node", { 6, 6 }, 2, 4, 1, 0 },
	{ "a single node takes any number", { 6 }, 1, 5, 1, 1 },
	{ "nodes of one", { 1, 1, 1 }, 3, 3, 3, 3 },
	{ "none", { 4, 4 }, 2, 0, 0, 0 },
	{ "no nodes", { 0 }, 0, 1, 0, 0 },
};

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_sizes nodes = { cases[i].devices, cases[i].n };

		is_int(node_sizes_place(&nodes, cases[i].replicas), cases[i].even, cases[i].name);
		is_int(node_sizes_regular_place(&nodes, cases[i].replicas), cases[i].regular,
		       "  regular");
	}
}

/* On equal nodes the regular numbers are those of the simulator. */
static void test_like_the_simulator(void)
{
	int devices[6], differ = 0;

	for (int size = 1; size <= 9; size++)
		for (int n = 1; n <= 6; n++) {
			struct node_sizes nodes = { devices, n };

			devices[n - 1] = size;
			for (int k = 0; k < n; k++)
				devices[k] = size;
			for (int r = 0; r <= n * size + 1; r++)
				differ += place_is_regular(n * size, size, r) !=
					  (node_sizes_regular_place(&nodes, r) > 0);
		}
	is_int(differ, 0, "equal nodes: the regular numbers of pack_nodes.h");
}

static void test_ranges(void)
{
	static const int devices[] = { 4, 4, 4 };
	struct node_sizes nodes = { devices, 3 };

	is_int(node_sizes_least(&nodes, 5, 5), 0, "exactly 5 on nodes of 4: never");
	is_int(node_sizes_least(&nodes, 5, 8), 8, "5 to 8: eight");
	is_int(node_sizes_least(&nodes, 3, 5), 4, "3 to 5: four");
	is_int(node_sizes_least(&nodes, 3, 3), 3, "exactly 3: three of a node");
	is_int(node_sizes_least(&nodes, 5, 7), 6, "5 to 7: no regular one, so twice three");
	is_int(node_sizes_least(&nodes, 13, 99), 0, "more than there are");
	ok(node_sizes_rule(&nodes, 1, 8) == NODE_RULE_REGULAR, "1 to 8: regular numbers");
	ok(!node_sizes_allow(&nodes, NODE_RULE_REGULAR, 3), "  not three");
	ok(node_sizes_allow(&nodes, NODE_RULE_REGULAR, 8), "  eight");
	ok(node_sizes_rule(&nodes, 5, 7) == NODE_RULE_EVEN, "5 to 7: even ones");
	ok(node_sizes_allow(&nodes, NODE_RULE_EVEN, 6), "  six");
	ok(!node_sizes_allow(&nodes, NODE_RULE_EVEN, 7), "  not seven");
	ok(node_sizes_rule(&nodes, 5, 5) == NODE_RULE_NONE, "5: none");
	ok(!node_sizes_allow(&nodes, NODE_RULE_NONE, 4), "  not even four");
	is_int(node_sizes_total(&nodes), 12, "the sum");
}

static void test_text(void)
{
	static const int devices[] = { 8, 4, 4, 4, 2 };
	static const char *const wrong[] = { "", "x", "0", "4*", "4*0", "2 4", "4*9999999", "-1",
					     "4;2" };
	struct node_sizes nodes = { devices, 5 }, back;
	struct text t = TEXT_INIT;
	int *read;

	node_sizes_print(&nodes, &t);
	is_str(t.data, "8 4*3 2", "sizes as text");
	read = node_sizes_parse(t.data, &back);
	ok(read && back.n == 5 && !memcmp(read, devices, sizeof(devices)), "and back");
	free(read);
	text_release(&t);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!node_sizes_parse(wrong[i], &back) && back.n == 0, wrong[i]);
}

int main(void)
{
	test_by_hand();
	test_like_the_simulator();
	test_ranges();
	test_text();
	return done();
}
