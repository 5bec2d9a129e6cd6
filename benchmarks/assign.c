/* assign.c - how long it takes to say which devices, once it is decided how many.
 *
 *	assign
 *
 * Random links, all devices free. 16 devices: the needs that make assign_exact.c look at most pairs
 * of sets, and eight jobs of two. 64 and 1,024: jobs of 1 to 8, one device at a time. 80,000: 100
 * jobs of 8 to 4,096 on 10,000 nodes of 8, of which one in eight is half taken. Of several calls
 * the median and the maximum, in milliseconds of processor time. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/assign.h"
#include "pollux/text.h"
#include "timing.h"

#define MAX_DEVICES 1024
#define TARGET_MS 20.0

static uint64_t state = 1;
static unsigned char links[MAX_DEVICES * MAX_DEVICES];
static int holder[MAX_DEVICES], owner[MAX_DEVICES], count[MAX_DEVICES];

static int random_below(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)(state >> 33) % n;
}

static void make_links(int n)
{
	for (int a = 0; a < n; a++)
		for (int b = 0; b < a; b++)
			links[a * n + b] = links[b * n + a] = (unsigned char)random_below(4);
}

static double measure(const char *what, int n_devices, int n_jobs, int times)
{
	double ms[100] = { 0 };

	for (int d = 0; d < n_devices; d++)
		holder[d] = ASSIGN_FREE;
	for (int i = 0; i < times; i++) {
		double start_ms;

		make_links(n_devices);
		start_ms = cpu_ms();
		assign_devices(n_devices, holder, n_jobs, count, links, owner);
		ms[i] = cpu_ms() - start_ms;
	}
	qsort(ms, (size_t)times, sizeof(*ms), number_compare);
	printf("%4d devices, %s: median %.2f ms, at most %.2f ms\n", n_devices, what, ms[times / 2],
	       ms[times - 1]);
	return ms[times / 2];
}

static int fill(int n_devices)
{
	int n = 0;

	for (int left = n_devices; left > 0; n++) {
		count[n] = 1 + random_below(left < 8 ? left : 8);
		left -= count[n];
	}
	return n;
}

/* --- nodes --- */

#define NODES 10000
#define NODE 8
#define JOBS 100
#define NODES_TARGET_MS 250.0

static bool measure_nodes(void)
{
	static int node[NODES * NODE], held_by[NODES * NODE], given[NODES * NODE], wanted[JOBS + 1];
	struct assign_nodes_input in = {
		.n_devices = NODES * NODE, .holder = held_by, .node = node, .n_nodes = NODES,
		.n_jobs = JOBS + 1, .count = wanted,
	};
	double ms[20];
	bool all = true;

	for (int d = 0; d < NODES * NODE; d++) {
		node[d] = d / NODE;
		held_by[d] = node[d] % 8 == 0 && d % NODE < 4 ? JOBS : ASSIGN_FREE;
	}
	for (int j = 0; j < JOBS; j++)
		wanted[j] = (8 << (j % 10)) * 3 / 4;
	wanted[JOBS] = NODES / 8 * 4;	/* stays */
	for (int i = 0; i < 20; i++) {
		double start_ms = cpu_ms();

		all &= assign_on_nodes(&in, given);
		ms[i] = cpu_ms() - start_ms;
	}
	qsort(ms, 20, sizeof(*ms), number_compare);
	printf("%d devices, 100 jobs on 10,000 nodes: median %.2f ms, at most %.2f ms%s\n",
	       NODES * NODE, ms[10], ms[19], all ? "" : "; NOT ALL PLACED");
	printf("     target: below %g ms: %s\n", NODES_TARGET_MS,
	       ms[10] < NODES_TARGET_MS ? "met" : "MISSED");
	return all && ms[10] < NODES_TARGET_MS;
}

int main(void)
{
	static const int hardest[] = { 1, 1, 1, 2, 5, 3, 1, 1, 1 };
	double ms;

	for (int j = 0; j < 9; j++)
		count[j] = hardest[j];
	ms = measure("9 jobs, the hardest case", 16, 9, 100);
	printf("     target: below %g ms: %s\n", TARGET_MS, ms < TARGET_MS ? "met" : "MISSED");
	for (int j = 0; j < 8; j++)
		count[j] = 2;
	measure("8 jobs of 2", 16, 8, 100);
	measure("jobs of 1 to 8", 64, fill(64), 100);
	measure("jobs of 1 to 8", MAX_DEVICES, fill(MAX_DEVICES), 5);
	return measure_nodes() && ms < TARGET_MS ? 0 : 1;
}
