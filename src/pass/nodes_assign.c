/* nodes_assign.c - which devices on which nodes, and what becomes of choices that find no room. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "guarantees.h"
#include "nodes.h"
#include "pollux/assign_nodes.h"
#include "pollux/mem.h"

struct assigning {
	const struct snapshot *s;
	struct decision *d;
	const int *holder;
	int *own;		/* the holders of the devices of one kind; other devices unusable */
	int *count;		/* by job, and 0 for the runs that leave */
	bool *movable;
	int *owner;
	bool *placed;		/* by job */
};

static unsigned char link_of(const void *arg, int a, int b)
{
	const struct snapshot *s = arg;

	return (unsigned char)devices_link(&s->devices, a, b);
}

/* A run that was not launched yet is where it is to be. */
static bool is_movable(const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];

	return c->run && c->run->state == RUN_RUNNING && c->relaunchable && !c->suspends;
}

static bool assign_kind(struct assigning *a, int kind)
{
	struct decision *d = a->d;
	int n = a->s->devices.count;
	struct assign_nodes_input in = {
		.n_devices = n, .holder = a->own, .node = d->node_of, .n_nodes = d->n_nodes,
		.n_jobs = d->n + 1, .count = a->count, .movable = a->movable, .link = link_of,
		.link_arg = a->s,
	};
	bool all;

	for (int i = 0; i < n; i++)
		a->own[i] = d->kind_of[i] == kind ? a->holder[i] : ASSIGN_UNUSABLE;
	for (int j = 0; j < d->n; j++)
		a->count[j] = d->choices[j].kind == kind ? d->choices[j].replicas : 0;
	all = assign_on_nodes(&in, a->owner);
	for (int i = 0; i < n; i++)
		if (d->kind_of[i] == kind) {
			d->owner[i] = a->owner[i];
			if (a->owner[i] >= 0)
				a->placed[a->owner[i]] = true;
		}
	return all;
}

static bool assign_all(struct assigning *a)
{
	bool all = true;

	for (int j = 0; j < a->d->n; j++)
		a->placed[j] = false;
	for (int k = 0; k < a->d->n_kinds; k++)
		all &= assign_kind(a, k);
	return all;
}

/* "8 devices on one node", "4 devices on each of 2 nodes" */
static void describe_place(const struct decision *d, int j, int devices, char *text, size_t size)
{
	int kind = d->choices[j].kind;
	const struct node_sizes *nodes = nodes_of_kind(d, d->kinds[kind].name);
	int n = nodes ? node_sizes_place(nodes, devices) : 1;

	n = n > 0 ? n : 1;
	if (n > 1)
		snprintf(text, size, "%d device%s on each of %d nodes", devices / n,
			 devices == n ? "" : "s", n);
	else
		snprintf(text, size, "%d device%s on one node", devices, devices == 1 ? "" : "s");
}

/* Lowers the choice to the next number below, or to none. */
static void lower(struct decision *d, int j)
{
	struct sched_choice *choice = &d->choices[j];
	char place[64];

	describe_place(d, j, choice->replicas, place, sizeof(place));
	choice->replicas = lower_on_nodes(d, j, choice->replicas);
	choice->reconfigure = false;
	choice->next_start_s = (double)NAN;
	if (choice->replicas > 0)
		snprintf(choice->reason, sizeof(choice->reason),
			 "%d device%s: other jobs leave no room for %s", choice->replicas,
			 choice->replicas == 1 ? "" : "s", place);
	else
		snprintf(choice->reason, sizeof(choice->reason),
			 "waits for room: %s; the devices that other jobs leave are elsewhere",
			 place);
}

/* True if the job has a run that goes on elsewhere, on as many devices. */
static bool moves(const struct assigning *a, int j)
{
	const struct candidate *c = &a->d->candidates[j];

	if (!a->movable[j] || a->d->choices[j].replicas != a->d->sched_jobs[j].replicas)
		return false;
	for (int i = 0; i < a->s->devices.count; i++)
		if (a->holder[i] == j && a->d->owner[i] != j)
			return c->run != NULL;
	return false;
}

/* A job that was moved and found no other room is not moved. A guaranteed job keeps its number as
 * long as another one can give way. */
static void make_room(struct assigning *a)
{
	struct decision *d = a->d;
	int other = gives_way_to_guarantees(d);
	bool gives_way = false;

	for (int j = 0; j < d->n; j++) {
		if (d->choices[j].replicas == 0 || a->placed[j])
			continue;
		if (a->movable[j] && d->choices[j].replicas == d->sched_jobs[j].replicas)
			a->movable[j] = false;
		else if (!d->sched_jobs[j].guaranteed || other < 0)
			lower(d, j);
		else if (a->placed[other])
			gives_way = true;
	}
	if (gives_way)
		lower(d, other);
}

void assign_to_nodes(const struct snapshot *s, struct decision *d, const int *holder)
{
	size_t n_devices = (size_t)s->devices.count, n = (size_t)d->n + 1;
	struct assigning a = {
		.s = s, .d = d, .holder = holder,
		.own = xcalloc(n_devices, sizeof(int)), .owner = xcalloc(n_devices, sizeof(int)),
		.count = xcalloc(n, sizeof(int)), .movable = xcalloc(n, sizeof(bool)),
		.placed = xcalloc(n, sizeof(bool)),
	};

	for (int j = 0; j < d->n; j++)
		a.movable[j] = is_movable(d, j);
	while (!assign_all(&a))
		make_room(&a);
	for (int j = 0; j < d->n; j++)
		if (moves(&a, j))
			put_reason_first(d->choices[j].reason, "makes room on its node");
	free(a.own);
	free(a.owner);
	free(a.count);
	free(a.movable);
	free(a.placed);
}
