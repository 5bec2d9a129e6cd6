/* Even and regular numbers of devices: by hand on uneven nodes, and by search on equal ones. */
#include "pollux/assign.h"
#include "pollux/mem.h"
#include "pollux/node_sizes.h"
#include "tap.h"

static const struct {
	const char *name;
	int devices[5], n, replicas, even, regular;
} cases[] = {
	{ "one device of a node is even and regular", { 4, 4, 4 }, 3, 1, 1, 1 },
	{ "three devices of a node of four are even and not regular", { 4, 4, 4 }, 3, 3, 1, 0 },
	{ "a whole node is even and regular", { 4, 4, 4 }, 3, 4, 1, 1 },
	{ "five devices on nodes of four are not even", { 4, 4, 4, 4, 4 }, 5, 5, 0, 0 },
	{ "six devices on nodes of four are twice three", { 4, 4, 4 }, 3, 6, 2, 0 },
	{ "eight devices on nodes of four are two whole nodes", { 4, 4, 4 }, 3, 8, 2, 2 },
	{ "nine devices on nodes of four are three times three", { 4, 4, 4 }, 3, 9, 3, 0 },
	{ "more devices than there are have no place", { 4, 4, 4 }, 3, 16, 0, 0 },
	{ "eight devices take a large node before two small ones", { 8, 4, 4 }, 3, 8, 1, 1 },
	{ "five devices of a large node are even and not regular", { 8, 4, 4 }, 3, 5, 1, 0 },
	{ "twelve devices are a third on each of three nodes", { 8, 4, 4 }, 3, 12, 3, 3 },
	{ "sixteen devices on unequal nodes have no place", { 8, 4, 4 }, 3, 16, 0, 0 },
	{ "twelve devices are half on each large node, or a third on all",
	  { 8, 8, 4 }, 3, 12, 2, 3 },
	{ "six devices are a whole node of six", { 8, 6, 6 }, 3, 6, 1, 1 },
	{ "four devices divide a node of eight and are regular", { 8, 6, 6 }, 3, 4, 1, 1 },
	{ "four devices divide no node of six and are not regular", { 6, 6 }, 2, 4, 1, 0 },
	{ "a single node takes any number of devices", { 6 }, 1, 5, 1, 1 },
	{ "three devices take three nodes of one", { 1, 1, 1 }, 3, 3, 3, 3 },
	{ "no devices take no nodes", { 4, 4 }, 2, 0, 0, 0 },
	{ "a device has no place without nodes", { 0 }, 0, 1, 0, 0 },
};

static void test_by_hand(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_sizes nodes = { cases[i].devices, cases[i].n };

		is_int(node_sizes_place(&nodes, cases[i].replicas), cases[i].even, cases[i].name);
		is_int(node_sizes_regular_place(&nodes, cases[i].replicas), cases[i].regular,
		       "the regular place is that worked out by hand");
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
	is_int(differ, 0, "regular numbers on equal nodes are those of assign.h");
}

static void test_ranges(void)
{
	static const int devices[] = { 4, 4, 4 };
	struct node_sizes nodes = { devices, 3 };

	is_int(node_sizes_least(&nodes, 5, 5), 0, "exactly 5 devices have no place on nodes of 4");
	is_int(node_sizes_least(&nodes, 5, 8), 8, "5 to 8 devices are at least eight");
	is_int(node_sizes_least(&nodes, 3, 5), 4, "3 to 5 devices are at least four");
	is_int(node_sizes_least(&nodes, 3, 3), 3, "exactly 3 devices are three of a node");
	is_int(node_sizes_least(&nodes, 5, 7), 6, "5 to 7 devices are at least twice three");
	is_int(node_sizes_least(&nodes, 13, 99), 0,
	       "more devices than there are have no least number");
	ok(node_sizes_rule(&nodes, 1, 8) == NODE_RULE_REGULAR,
	   "1 to 8 devices follow the rule of regular numbers");
	ok(!node_sizes_allow(&nodes, NODE_RULE_REGULAR, 3),
	   "the rule of regular numbers forbids three");
	ok(node_sizes_allow(&nodes, NODE_RULE_REGULAR, 8),
	   "the rule of regular numbers allows eight");
	ok(node_sizes_rule(&nodes, 5, 7) == NODE_RULE_EVEN,
	   "5 to 7 devices follow the rule of even numbers");
	ok(node_sizes_allow(&nodes, NODE_RULE_EVEN, 6), "the rule of even numbers allows six");
	ok(!node_sizes_allow(&nodes, NODE_RULE_EVEN, 7), "the rule of even numbers forbids seven");
	ok(node_sizes_rule(&nodes, 5, 5) == NODE_RULE_NONE, "exactly 5 devices follow no rule");
	ok(!node_sizes_allow(&nodes, NODE_RULE_NONE, 4), "the rule of no numbers forbids four");
	is_int(node_sizes_total(&nodes), 12, "the total is the sum of all nodes");
}

static void test_text(void)
{
	static const int devices[] = { 8, 4, 4, 4, 2 };
	static const char *const wrong[] = { "", "x", "0", "4*", "4*0", "2 4", "4*9999999", "-1",
					     "4;2" };
	struct node_sizes nodes = { devices, 5 }, back;
	scoped(text_release) struct text t = TEXT_INIT;
	autofree int *read = NULL;

	node_sizes_print(&nodes, &t);
	is_str(t.data, "8 4*3 2", "sizes of nodes are printed as text");
	read = node_sizes_parse(t.data, &back);
	ok(read && back.n == 5 && !memcmp(read, devices, sizeof(devices)),
	   "printed sizes of nodes are read back");
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
