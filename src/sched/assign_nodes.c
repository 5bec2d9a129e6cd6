/* assign_nodes.c - on which nodes each job runs: the rules of assign.h for several nodes. */
#include <stdlib.h>
#include <string.h>

#include "pollux/assign.h"
#include "pollux/mem.h"
#include "pollux/node_sizes.h"

/* Devices of a job on one node. */
struct node_part {
	int node, devices;
};

struct node_parts {
	struct node_part *items;	/* owned */
	int n;
};

struct node_job {
	struct node_parts held, placed;
	int n_held;			/* devices */
	bool leaves;			/* it does not keep what it holds */
};

struct node_places {
	const struct assign_nodes_input *in;
	struct node_job *jobs;
	/* By node: devices that may be given out; of these, left after all that are placed; left of
	 * those that nobody holds. */
	int *size, *room, *free;
	int *own;			/* by node: what the job that is being placed holds there */
	struct node_sizes sizes;
	int *sorted;			/* for sizes */
	int *devices, *first;		/* those of node k: devices[first[k]..first[k + 1]) */
	int *queue, n_queue;		/* jobs to be placed */
};

/* --- what jobs hold --- */

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

/* Counts the placed devices of the job as taken (1), or no longer (-1). */
static void book(struct node_places *p, int job, int sign)
{
	const struct node_parts *placed = &p->jobs[job].placed;

	for (int i = 0; i < placed->n; i++) {
		int node = placed->items[i].node, devices = placed->items[i].devices;
		int others = devices - p->own[node];

		p->room[node] -= sign * devices;
		/* A job that takes devices takes its own first, then free ones. */
		if (sign > 0 && p->jobs[job].leaves && others > 0)
			p->free[node] -= others < p->free[node] ? others : p->free[node];
	}
}

/* Lists the devices by node, and finds what jobs hold there. */
static void find_held(struct node_places *p)
{
	const struct assign_nodes_input *in = p->in;

	for (int d = 0; d < in->n_devices; d++)
		p->first[in->node[d] + 2]++;
	for (int node = 1; node <= in->n_nodes; node++)
		p->first[node + 1] += p->first[node];
	for (int d = 0; d < in->n_devices; d++)
		p->devices[p->first[in->node[d] + 1]++] = d;
	for (int i = 0; i < in->n_devices; i++) {
		int holder = in->holder[p->devices[i]], node = in->node[p->devices[i]];
		struct node_job *job = holder >= 0 ? &p->jobs[holder] : NULL;

		if (holder == ASSIGN_UNUSABLE)
			continue;
		p->size[node]++;
		p->free[node] += holder == ASSIGN_FREE;
		if (!job)
			continue;
		if (job->held.n == 0 || job->held.items[job->held.n - 1].node != node) {
			job->held.items = xgrow(job->held.items, job->held.n,
						sizeof(*job->held.items));
			job->held.items[job->held.n++] = (struct node_part){ .node = node };
		}
		job->held.items[job->held.n - 1].devices++;
		job->n_held++;
	}
}

/* Finds what each job holds, and which jobs keep that. */
static void begin(struct node_places *p, const struct assign_nodes_input *in)
{
	size_t n_nodes = (size_t)in->n_nodes, n_jobs = (size_t)in->n_jobs;
	int n = 0;
	*p = (struct node_places){
		.in = in, .jobs = xcalloc(n_jobs, sizeof(*p->jobs)),
		.size = xcalloc(n_nodes, sizeof(int)), .room = xcalloc(n_nodes, sizeof(int)),
		.free = xcalloc(n_nodes, sizeof(int)), .own = xcalloc(n_nodes, sizeof(int)),
		.queue = xcalloc(n_jobs, sizeof(int)), .sorted = xcalloc(n_nodes, sizeof(int)),
		.first = xcalloc(n_nodes + 2, sizeof(int)),
		.devices = xcalloc((size_t)in->n_devices, sizeof(int)),
	};
	find_held(p);
	for (int node = 0; node < in->n_nodes; node++)
		if (p->size[node] > 0)
			p->sorted[n++] = p->size[node];
	qsort(p->sorted, (size_t)n, sizeof(*p->sorted), descending);
	p->sizes = (struct node_sizes){ p->sorted, n };
	for (int node = 0; node < in->n_nodes; node++)
		p->room[node] = p->size[node];
	for (int j = 0; j < in->n_jobs; j++) {
		struct node_job *job = &p->jobs[j];

		job->leaves = in->count[j] != job->n_held;
		if (!job->leaves) {
			job->placed = (struct node_parts){
				xcalloc((size_t)job->held.n, sizeof(*job->held.items)), job->held.n,
			};
			for (int i = 0; i < job->held.n; i++)
				job->placed.items[i] = job->held.items[i];
			book(p, j, 1);
		} else if (in->count[j] > 0) {
			place_queue(p->queue, &p->n_queue, in->count, j);
		}
	}
}

static void end(struct node_places *p)
{
	for (int j = 0; j < p->in->n_jobs; j++) {
		free(p->jobs[j].held.items);
		free(p->jobs[j].placed.items);
	}
	free(p->jobs);
	free(p->size);
	free(p->room);
	free(p->free);
	free(p->own);
	free(p->sorted);
	free(p->devices);
	free(p->first);
	free(p->queue);
}

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

/* The rank of a node by rule 4. */
static int rank_of(const struct node_places *p, int node, enum room room)
{
	return 2 * room_on(p, node, room) + (p->own[node] == 0);
}

/* Puts the job on n nodes, each with so many devices. False: too few nodes have room. */
static bool place_on_nodes(struct node_places *p, int job, int n, enum room room)
{
	struct node_parts *placed = &p->jobs[job].placed;
	int devices = p->in->count[job] / n, n_ranks = 2 * p->sizes.devices[0] + 2;
	autofree int *count = NULL;
	int last = 0, n_last = n;

	if (count_with_room(p, devices, room) < n)
		return false;
	/* The first n nodes by rank have a rank below `last`; of those of rank `last`, the first
	 * n_last belong to them. */
	count = xcalloc((size_t)n_ranks, sizeof(*count));
	for (int node = 0; node < p->in->n_nodes; node++)
		if (room_on(p, node, room) >= devices)
			count[rank_of(p, node, room)]++;
	for (; n_last > count[last]; last++)
		n_last -= count[last];
	placed->items = xcalloc((size_t)n, sizeof(*placed->items));
	for (int node = 0; node < p->in->n_nodes && placed->n < n; node++) {
		int rank = rank_of(p, node, room);

		if (room_on(p, node, room) < devices || rank > last ||
		    (rank == last && n_last-- <= 0))
			continue;
		placed->items[placed->n++] = (struct node_part){ node, devices };
	}
	book(p, job, 1);
	return true;
}

/* --- jobs that make room --- */

static bool is_movable(const struct node_places *p, int job, int than)
{
	return p->in->movable && p->in->movable[job] && p->jobs[job].placed.n == 1 &&
	       p->in->count[job] < p->in->count[than];
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

static void move_away(struct node_places *p, int job)
{
	book(p, job, -1);
	free(p->jobs[job].placed.items);
	p->jobs[job].placed = (struct node_parts){ 0 };
	p->jobs[job].leaves = true;
	place_queue(p->queue, &p->n_queue, p->in->count, job);
}

/* Makes room for so many devices on n nodes, if that is possible: first on the nodes that lack
 * least. */
static bool make_room(struct node_places *p, int job, int n, int devices)
{
	int n_nodes = p->in->n_nodes, n_possible = 0;
	/* By node: the room, with the devices of jobs that may be moved. */
	autofree int *room = xcalloc((size_t)n_nodes, sizeof(*room));
	int lacking = n - count_with_room(p, devices, ROOM_LATER);

	for (int node = 0; node < n_nodes; node++)
		room[node] = p->room[node];
	for (int j = 0; j < p->in->n_jobs; j++)
		if (is_movable(p, j, job))
			room[p->jobs[j].placed.items[0].node] += p->jobs[j].placed.items[0].devices;
	for (int node = 0; node < n_nodes; node++)
		n_possible += room[node] >= devices;
	for (int lack = 1; n_possible >= n && lack <= devices; lack++)
		for (int node = 0; node < n_nodes && lacking > 0; node++) {
			if (devices - p->room[node] != lack || room[node] < devices)
				continue;
			while (p->room[node] < devices)
				move_away(p, smallest_on(p, node, job));
			lacking--;
		}
	return n_possible >= n;
}

/* --- the jobs --- */

static void set_own(struct node_places *p, int job, int sign)
{
	const struct node_parts *held = &p->jobs[job].held;

	for (int i = 0; i < held->n; i++)
		p->own[held->items[i].node] = sign > 0 ? held->items[i].devices : 0;
}

static bool place_job(struct node_places *p, int job)
{
	int devices = p->in->count[job];
	bool placed = false;

	set_own(p, job, 1);
	for (int n = 0; !placed && (n = node_sizes_place_above(&p->sizes, devices, n)) > 0;)
		placed = place_on_nodes(p, job, n, ROOM_NOW) ||
			 place_on_nodes(p, job, n, ROOM_LATER);
	for (int n = 0; !placed && (n = node_sizes_place_above(&p->sizes, devices, n)) > 0;)
		placed = make_room(p, job, n, devices / n) &&
			 place_on_nodes(p, job, n, ROOM_LATER);
	set_own(p, job, -1);
	return placed;
}

/* --- devices of one node --- */

/* The jobs and devices of one node, with indexes of their own. */
struct one_node {
	const struct node_places *p;
	const int *devices;
	int n_devices;
	int *job, n_jobs;		/* by index there */
	int *index;			/* by job: its index there + 1; 0: it has none */
	int *holder, *count, *owner;
	unsigned char *links;
};

static int index_of(struct one_node *o, int job)
{
	if (!o->index[job]) {
		o->job[o->n_jobs++] = job;
		o->index[job] = o->n_jobs;
	}
	return o->index[job] - 1;
}

/* The parts of all jobs that are placed on a node, as a list. */
struct placed_part {
	int job, devices, next;
};

static void choose_on(struct one_node *o, const struct placed_part *parts, int part, int *owner)
{
	size_t n = (size_t)o->n_devices, most;

	/* Jobs that are placed here, or hold devices here. */
	most = n;
	for (int i = part; i >= 0; i = parts[i].next)
		most++;
	o->n_jobs = 0;
	o->job = xcalloc(most, sizeof(*o->job));
	o->count = xcalloc(most, sizeof(*o->count));
	o->holder = xcalloc(n, sizeof(*o->holder));
	o->owner = xcalloc(n, sizeof(*o->owner));
	o->links = o->p->in->link ? xmalloc(n * n) : NULL;
	/* Placed jobs in the order of their indexes, which breaks ties. */
	for (int i = part; i >= 0; i = parts[i].next)
		o->count[index_of(o, parts[i].job)] = parts[i].devices;
	for (int i = 0; i < o->n_devices; i++) {
		int holder = o->p->in->holder[o->devices[i]];

		o->holder[i] = holder >= 0 ? index_of(o, holder) : holder;
	}
	for (int a = 0; o->links && a < o->n_devices; a++)
		for (int b = 0; b < o->n_devices; b++)
			o->links[(long)a * o->n_devices + b] =
				o->p->in->link(o->p->in->link_arg, o->devices[a], o->devices[b]);
	assign_devices(o->n_devices, o->holder, o->n_jobs, o->count, o->links, o->owner);
	for (int i = 0; i < o->n_devices; i++)
		owner[o->devices[i]] = o->owner[i] < 0 ? ASSIGN_FREE : o->job[o->owner[i]];
	for (int i = 0; i < o->n_jobs; i++)
		o->index[o->job[i]] = 0;
	free(o->job);
	free(o->count);
	free(o->holder);
	free(o->owner);
	free(o->links);
}

/* Chooses the devices on each node. */
static void choose_devices(const struct node_places *p, int *owner)
{
	int *first = xcalloc((size_t)p->in->n_nodes, sizeof(*first)), n = 0;
	autofree struct placed_part *parts = NULL;
	struct one_node o = { .p = p, .index = xcalloc((size_t)p->in->n_jobs, sizeof(int)) };

	for (int node = 0; node < p->in->n_nodes; node++)
		first[node] = -1;
	for (int j = p->in->n_jobs - 1; j >= 0; j--)
		for (int i = 0; i < p->jobs[j].placed.n; i++) {
			struct node_part *part = &p->jobs[j].placed.items[i];

			parts = xgrow(parts, n, sizeof(*parts));
			parts[n] = (struct placed_part){ j, part->devices, first[part->node] };
			first[part->node] = n++;
		}

	for (int d = 0; d < p->in->n_devices; d++)
		owner[d] = ASSIGN_FREE;
	for (int node = 0; node < p->in->n_nodes; node++) {
		if (first[node] < 0)
			continue;
		o.devices = &p->devices[p->first[node]];
		o.n_devices = p->first[node + 1] - p->first[node];
		choose_on(&o, parts, first[node], owner);
	}
	free(o.index);
	free(first);
}

/* --- all --- */

bool assign_on_nodes(const struct assign_nodes_input *in, int *owner)
{
	struct node_places p;
	bool all = true;

	begin(&p, in);
	while (p.n_queue > 0) {
		int job = p.queue[0];

		memmove(p.queue, p.queue + 1, (size_t)--p.n_queue * sizeof(*p.queue));
		all &= place_job(&p, job);
	}
	choose_devices(&p, owner);
	end(&p);
	return all;
}
