/* assign_nodes.c - on which nodes each job runs: rules 1 to 6 of assign_nodes.h. */
#include <stdlib.h>
#include <string.h>

#include "node_places.h"
#include "pollux/mem.h"

/* --- room --- */

enum room {
	ROOM_NOW,		/* free devices, and the job's own */
	ROOM_LATER,		/* with those that other jobs give up */
};

static int room_on(const struct node_places *p, int node, enum room room)
{
	int now = p->free[node] + p->own[node];

	return room == ROOM_NOW && now < p->room[node] ? now : p->room[node];
}

static int count_with_room(const struct node_places *p, int devices, enum room room)
{
	int n = 0;

	for (int node = 0; node < p->in->n_nodes; node++)
		n += room_on(p, node, room) >= devices;
	return n;
}

/* The rank of a node by rule 4; devices: those that the job needs there. */
static int rank_of(const struct node_places *p, int node, enum room room)
{
	return 2 * room_on(p, node, room) + (p->own[node] == 0);
}

/* The first n nodes by rank have a rank below *last; of those of rank *last, the first *n_last
 * belong to them. */
static void find_last_rank(const struct node_places *p, int n, int devices, enum room room,
			   int *last, int *n_last)
{
	int n_ranks = 2 * p->sizes.devices[0] + 2;
	int *count = xcalloc((size_t)n_ranks, sizeof(*count));

	for (int node = 0; node < p->in->n_nodes; node++)
		if (room_on(p, node, room) >= devices)
			count[rank_of(p, node, room)]++;
	for (*last = 0, *n_last = n; *n_last > count[*last]; ++*last)
		*n_last -= count[*last];
	free(count);
}

/* Puts the job on n nodes, each with so many devices. False: too few nodes have room. */
static bool place_on_nodes(struct node_places *p, int job, int n, enum room room)
{
	struct node_parts *placed = &p->jobs[job].placed;
	int devices = p->in->count[job] / n, last, n_last;

	if (count_with_room(p, devices, room) < n)
		return false;
	find_last_rank(p, n, devices, room, &last, &n_last);
	placed->items = xcalloc((size_t)n, sizeof(*placed->items));
	for (int node = 0; node < p->in->n_nodes && placed->n < n; node++) {
		int rank = rank_of(p, node, room);

		if (room_on(p, node, room) < devices || rank > last ||
		    (rank == last && n_last-- <= 0))
			continue;
		placed->items[placed->n++] = (struct node_part){ node, devices };
	}
	node_places_book(p, job, 1);
	return true;
}

/* --- jobs that make room --- */

static bool is_movable(const struct node_places *p, int job, int than)
{
	return p->in->movable && p->in->movable[job] && p->jobs[job].placed.n == 1 &&
	       p->in->count[job] < p->in->count[than];
}

/* By node: the room, with the devices of jobs that may be moved. The caller frees it. */
static int *room_by_moving(const struct node_places *p, int than)
{
	size_t bytes = (size_t)p->in->n_nodes * sizeof(int);
	int *room = xmalloc(bytes);

	memcpy(room, p->room, bytes);
	for (int j = 0; j < p->in->n_jobs; j++)
		if (is_movable(p, j, than))
			room[p->jobs[j].placed.items[0].node] += p->jobs[j].placed.items[0].devices;
	return room;
}

/* The smallest job on the node that may be moved; among equals, the last. */
static int smallest_on(const struct node_places *p, int node, int than)
{
	int best = -1;

	for (int j = 0; j < p->in->n_jobs; j++)
		if (is_movable(p, j, than) && p->jobs[j].placed.items[0].node == node &&
		    (best < 0 || p->in->count[j] <= p->in->count[best]))
			best = j;
	return best;
}

static void clear(struct node_places *p, int node, int devices, int than)
{
	while (p->room[node] < devices) {
		int job = smallest_on(p, node, than);

		node_places_book(p, job, -1);
		free(p->jobs[job].placed.items);
		p->jobs[job].placed = (struct node_parts){ 0 };
		p->jobs[job].leaves = true;
		node_places_queue(p, job);
	}
}

/* Makes room for so many devices on n nodes, if that is possible: first on the nodes that lack
 * least. */
static bool make_room(struct node_places *p, int job, int n, int devices)
{
	int *room = room_by_moving(p, job), n_possible = 0;
	int lacking = n - count_with_room(p, devices, ROOM_LATER);

	for (int node = 0; node < p->in->n_nodes; node++)
		n_possible += room[node] >= devices;
	for (int lack = 1; n_possible >= n && lack <= devices; lack++)
		for (int node = 0; node < p->in->n_nodes && lacking > 0; node++)
			if (devices - p->room[node] == lack && room[node] >= devices) {
				clear(p, node, devices, job);
				lacking--;
			}
	free(room);
	return n_possible >= n;
}

/* --- the jobs --- */

static void set_own(struct node_places *p, int job, int sign)
{
	const struct node_parts *held = &p->jobs[job].held;

	for (int i = 0; i < held->n; i++)
		p->own[held->items[i].node] = sign > 0 ? held->items[i].devices : 0;
}

static bool place_with_own(struct node_places *p, int job)
{
	int devices = p->in->count[job];

	for (int n = 0; (n = node_sizes_place_above(&p->sizes, devices, n)) > 0;)
		if (place_on_nodes(p, job, n, ROOM_NOW) || place_on_nodes(p, job, n, ROOM_LATER))
			return true;
	for (int n = 0; (n = node_sizes_place_above(&p->sizes, devices, n)) > 0;)
		if (make_room(p, job, n, devices / n))
			return place_on_nodes(p, job, n, ROOM_LATER);
	return false;
}

static bool place_job(struct node_places *p, int job)
{
	bool placed;

	set_own(p, job, 1);
	placed = place_with_own(p, job);
	set_own(p, job, -1);
	return placed;
}

bool assign_on_nodes(const struct assign_nodes_input *in, int *owner)
{
	struct node_places p;
	bool all = true;

	node_places_begin(&p, in);
	while (p.n_queue > 0) {
		int job = p.queue[0];

		memmove(p.queue, p.queue + 1, (size_t)--p.n_queue * sizeof(*p.queue));
		all &= place_job(&p, job);
	}
	node_places_choose(&p, owner);
	node_places_end(&p);
	return all;
}
