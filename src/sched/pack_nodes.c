/* pack_nodes.c - keep, then pack, then make room. */
#include <stdlib.h>
#include <string.h>

#include "pollux/assign.h"
#include "pollux/mem.h"

struct placing {
	int n_nodes, node_size, n_jobs;
	const int *count;
	int *placed;
	int *free;		/* free devices of each node */
	int *distributed;	/* jobs on several nodes, of each node */
	int *queue;		/* of jobs to place, those with most devices first */
	int n_queue;
};

bool place_is_regular(int n_devices, int devices_per_node, int count)
{
	int node = devices_per_node;

	if (count < 1 || count > n_devices)
		return false;
	if (node <= 0 || node >= n_devices || count % node == 0)
		return true;
	return count < node && (count & (count - 1)) == 0 && node % count == 0;
}

void place_queue(int *queue, int *n, const int *count, int job)
{
	int at = (*n)++;

	for (; at > 0; at--) {
		int other = queue[at - 1], more = count[other] - count[job];

		if (more > 0 || (more == 0 && other < job))
			break;
		queue[at] = other;
	}
	queue[at] = job;
}

static int *row_of(const struct placing *p, int job)
{
	return &p->placed[(size_t)job * (size_t)p->n_nodes];
}

static int nodes_of(const struct placing *p, const int *row)
{
	int n = 0;

	for (int node = 0; node < p->n_nodes; node++)
		n += row[node] > 0;
	return n;
}

/* Count the devices of a job as taken (sign 1) or free again (-1). */
static void book(struct placing *p, int job, int sign)
{
	const int *row = row_of(p, job);
	bool distributed = nodes_of(p, row) > 1;

	for (int node = 0; node < p->n_nodes; node++) {
		p->free[node] -= sign * row[node];
		if (row[node] > 0 && distributed)
			p->distributed[node] += sign;
	}
}

/* --- room --- */

/* A job that may be moved to make room for a larger one. */
static bool is_movable(const struct placing *p, int job, int than)
{
	return p->count[job] > 0 && p->count[job] < p->count[than] &&
	       nodes_of(p, row_of(p, job)) == 1;
}

/* The smallest job on the node that may be moved; among equals, the last; -1: none. */
static int smallest_on(const struct placing *p, int node, int job)
{
	int best = -1;

	for (int j = 0; j < p->n_jobs; j++)
		if (row_of(p, j)[node] > 0 && is_movable(p, j, job) &&
		    (best < 0 || p->count[j] <= p->count[best]))
			best = j;
	return best;
}

/* Makes room on the node where fewest devices must be moved: those of smaller jobs on that node
 * alone. False: no node has such room. */
static bool make_room(struct placing *p, int job, int room)
{
	int best = -1;

	for (int node = 0; node < p->n_nodes; node++) {
		int available = p->free[node];

		if (available >= room || (best >= 0 && available <= p->free[best]))
			continue;
		for (int j = 0; j < p->n_jobs; j++)
			if (row_of(p, j)[node] > 0 && is_movable(p, j, job))
				available += row_of(p, j)[node];
		if (available >= room)
			best = node;
	}
	if (best < 0)
		return false;
	while (p->free[best] < room) {
		int other = smallest_on(p, best, job);

		book(p, other, -1);
		memset(row_of(p, other), 0, (size_t)p->n_nodes * sizeof(*p->placed));
		place_queue(p->queue, &p->n_queue, p->count, other);
	}
	return true;
}

/* --- placing --- */

/* The fullest node with this much room that the job is not on yet; -1: none. */
static int best_fit(const struct placing *p, const int *row, int room, bool undisturbed)
{
	int best = -1;

	for (int node = 0; node < p->n_nodes; node++) {
		if (p->free[node] < room || row[node] > 0 || (undisturbed && p->distributed[node]))
			continue;
		if (best < 0 || p->free[node] < p->free[best])
			best = node;
	}
	return best;
}

static bool pack(struct placing *p, int job)
{
	int whole = p->count[job] / p->node_size, rest = p->count[job] % p->node_size, node;
	int *row = row_of(p, job);

	for (;;) {
		int empty = 0;

		for (int n = 0; n < p->n_nodes; n++)
			empty += p->free[n] == p->node_size;
		if (empty >= whole)
			break;
		if (!make_room(p, job, p->node_size))
			return false;
	}
	for (int n = 0; n < p->n_nodes && whole > 0; n++)
		if (p->free[n] == p->node_size) {
			row[n] = p->node_size;
			whole--;
		}
	if (!rest)
		return true;
	node = best_fit(p, row, rest, p->count[job] > p->node_size);
	if (node < 0)
		node = best_fit(p, row, rest, false);
	if (node < 0 && p->count[job] < p->node_size && make_room(p, job, rest))
		node = best_fit(p, row, rest, false);
	if (node < 0)
		return false;
	row[node] = rest;
	return true;
}

static void spread(const struct placing *p, int job)
{
	int left = p->count[job], *row = row_of(p, job);

	memset(row, 0, (size_t)p->n_nodes * sizeof(*row));
	while (left > 0) {
		int best = 0, n;

		for (int node = 1; node < p->n_nodes; node++)
			if (p->free[node] - row[node] > p->free[best] - row[best])
				best = node;
		n = p->free[best] - row[best];
		if (n <= 0)
			return;		/* the caller decided more devices than exist */
		row[best] += n < left ? n : left;
		left -= n < left ? n : left;
	}
}

void place_jobs(int n_nodes, int devices_per_node, int n_jobs, const int *held, const int *count,
		int *placed)
{
	struct placing p = {
		.n_nodes = n_nodes, .node_size = devices_per_node, .n_jobs = n_jobs, .count = count,
		.placed = placed, .free = xcalloc((size_t)n_nodes, sizeof(*p.free)),
		.distributed = xcalloc((size_t)n_nodes, sizeof(*p.distributed)),
		.queue = xcalloc((size_t)n_jobs, sizeof(*p.queue)),
	};

	memset(placed, 0, (size_t)n_jobs * (size_t)n_nodes * sizeof(*placed));
	for (int node = 0; node < n_nodes; node++)
		p.free[node] = devices_per_node;
	for (int j = 0; j < n_jobs; j++) {
		const int *row = &held[(size_t)j * (size_t)n_nodes];
		int sum = 0;

		for (int node = 0; node < n_nodes; node++)
			sum += row[node];
		if (sum == count[j] && sum > 0) {
			memcpy(row_of(&p, j), row, (size_t)n_nodes * sizeof(*row));
			book(&p, j, 1);
		} else if (count[j] > 0) {
			place_queue(p.queue, &p.n_queue, count, j);
		}
	}
	while (p.n_queue > 0) {
		int job = p.queue[0];

		memmove(p.queue, p.queue + 1, (size_t)--p.n_queue * sizeof(*p.queue));
		if (!pack(&p, job))
			spread(&p, job);
		book(&p, job, 1);
	}
	free(p.free);
	free(p.distributed);
	free(p.queue);
}
