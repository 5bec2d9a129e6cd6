/* node_places.c - what jobs hold on each node, and which devices of a node they get. */
#include <stdlib.h>

#include "node_places.h"
#include "pollux/mem.h"

/* --- devices by node --- */

static void sort_devices(struct node_places *p)
{
	const struct assign_nodes_input *in = p->in;

	p->first = xcalloc((size_t)in->n_nodes + 2, sizeof(*p->first));
	p->devices = xcalloc((size_t)in->n_devices, sizeof(*p->devices));
	for (int d = 0; d < in->n_devices; d++)
		p->first[in->node[d] + 2]++;
	for (int node = 1; node <= in->n_nodes; node++)
		p->first[node + 1] += p->first[node];
	for (int d = 0; d < in->n_devices; d++)
		p->devices[p->first[in->node[d] + 1]++] = d;
}

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

/* Sorts the sizes of nodes that have devices. */
static void sort_sizes(struct node_places *p)
{
	int n = 0;

	p->sorted = xcalloc((size_t)p->in->n_nodes, sizeof(*p->sorted));
	for (int node = 0; node < p->in->n_nodes; node++)
		if (p->size[node] > 0)
			p->sorted[n++] = p->size[node];
	qsort(p->sorted, (size_t)n, sizeof(*p->sorted), descending);
	p->sizes = (struct node_sizes){ p->sorted, n };
}

/* --- what jobs hold --- */

static void add_held(struct node_job *job, int node)
{
	struct node_parts *held = &job->held;

	if (held->n == 0 || held->items[held->n - 1].node != node) {
		held->items = xgrow(held->items, held->n, sizeof(*held->items));
		held->items[held->n++] = (struct node_part){ .node = node };
	}
	held->items[held->n - 1].devices++;
	job->n_held++;
}

static void find_held(struct node_places *p)
{
	for (int node = 0; node < p->in->n_nodes; node++)
		for (int i = p->first[node]; i < p->first[node + 1]; i++) {
			int holder = p->in->holder[p->devices[i]];

			if (holder == ASSIGN_UNUSABLE)
				continue;
			p->size[node]++;
			if (holder == ASSIGN_FREE)
				p->free[node]++;
			else
				add_held(&p->jobs[holder], node);
		}
}

static struct node_parts copy_of(const struct node_parts *parts)
{
	struct node_parts copy = { xcalloc((size_t)parts->n, sizeof(*copy.items)), parts->n };

	for (int i = 0; i < parts->n; i++)
		copy.items[i] = parts->items[i];
	return copy;
}

void node_places_book(struct node_places *p, int job, int sign)
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

void node_places_queue(struct node_places *p, int job)
{
	int at = p->n_queue++;

	for (; at > 0; at--) {
		int other = p->queue[at - 1], more = p->in->count[other] - p->in->count[job];

		if (more > 0 || (more == 0 && other < job))
			break;
		p->queue[at] = other;
	}
	p->queue[at] = job;
}

void node_places_begin(struct node_places *p, const struct assign_nodes_input *in)
{
	size_t n_nodes = (size_t)in->n_nodes, n_jobs = (size_t)in->n_jobs;

	*p = (struct node_places){
		.in = in, .jobs = xcalloc(n_jobs, sizeof(*p->jobs)),
		.size = xcalloc(n_nodes, sizeof(int)), .room = xcalloc(n_nodes, sizeof(int)),
		.free = xcalloc(n_nodes, sizeof(int)), .own = xcalloc(n_nodes, sizeof(int)),
		.queue = xcalloc(n_jobs, sizeof(int)),
	};
	sort_devices(p);
	find_held(p);
	sort_sizes(p);
	for (int node = 0; node < in->n_nodes; node++)
		p->room[node] = p->size[node];
	for (int j = 0; j < in->n_jobs; j++) {
		struct node_job *job = &p->jobs[j];

		job->leaves = in->count[j] != job->n_held;
		if (!job->leaves) {
			job->placed = copy_of(&job->held);
			node_places_book(p, j, 1);
		} else if (in->count[j] > 0) {
			node_places_queue(p, j);
		}
	}
}

void node_places_end(struct node_places *p)
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

static void set_links(struct one_node *o)
{
	const struct assign_nodes_input *in = o->p->in;

	for (int a = 0; a < o->n_devices; a++)
		for (int b = 0; b < o->n_devices; b++)
			o->links[(long)a * o->n_devices + b] =
				in->link(in->link_arg, o->devices[a], o->devices[b]);
}

static void assign_one(struct one_node *o, int *owner)
{
	assign_devices(o->n_devices, o->holder, o->n_jobs, o->count, o->links, o->owner);
	for (int i = 0; i < o->n_devices; i++)
		owner[o->devices[i]] = o->owner[i] < 0 ? ASSIGN_FREE : o->job[o->owner[i]];
}

/* The parts of all jobs that are placed on a node, as a list from first[node] on. */
struct placed_part {
	int job, devices, next;
};

static struct placed_part *list_placed(const struct node_places *p, int *first)
{
	struct placed_part *parts = NULL;
	int n = 0;

	for (int node = 0; node < p->in->n_nodes; node++)
		first[node] = -1;
	for (int j = p->in->n_jobs - 1; j >= 0; j--)
		for (int i = 0; i < p->jobs[j].placed.n; i++) {
			struct node_part *part = &p->jobs[j].placed.items[i];

			parts = xgrow(parts, n, sizeof(*parts));
			parts[n] = (struct placed_part){ j, part->devices, first[part->node] };
			first[part->node] = n++;
		}
	return parts;
}

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
	if (o->links)
		set_links(o);
	assign_one(o, owner);
	for (int i = 0; i < o->n_jobs; i++)
		o->index[o->job[i]] = 0;
	free(o->job);
	free(o->count);
	free(o->holder);
	free(o->owner);
	free(o->links);
}

void node_places_choose(const struct node_places *p, int *owner)
{
	int *first = xcalloc((size_t)p->in->n_nodes, sizeof(*first));
	struct placed_part *parts = list_placed(p, first);
	struct one_node o = { .p = p, .index = xcalloc((size_t)p->in->n_jobs, sizeof(int)) };

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
	free(parts);
	free(first);
}
