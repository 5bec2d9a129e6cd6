/* guarantee_nodes.c - whether the devices that are promised have room on the nodes. */
#include <stdlib.h>

#include "guarantees.h"
#include "pollux/assign_nodes.h"
#include "pollux/mem.h"

/* needs: by job, of those that are asked about. On several kinds of device it is not known which
 * kind a job will have: the answer is then true. */
bool guarantees_have_room(const struct snapshot *s, const struct decision *d, const int *needs)
{
	size_t size = (size_t)s->devices.count + 1, n = (size_t)d->n_asked + 1;
	struct assign_nodes_input in = { .n_nodes = d->n_nodes, .n_jobs = d->n_asked };
	int *holder, *owner;
	bool *movable, all;

	if (d->n_nodes < 2 || d->n_kinds > 1)
		return true;
	holder = xcalloc(size, sizeof(*holder));
	owner = xcalloc(size, sizeof(*owner));
	movable = xcalloc(n, sizeof(*movable));
	for (int i = 0; i < s->devices.count; i++)
		holder[i] = d->usable[i] ? ASSIGN_FREE : ASSIGN_UNUSABLE;
	in.n_devices = s->devices.count;
	in.holder = holder;
	in.node = d->node_of;
	in.count = needs;
	in.movable = movable;
	all = assign_on_nodes(&in, owner);
	free(holder);
	free(owner);
	free(movable);
	return all;
}

/* The job without a guarantee that gives way: the last one of those that have nothing yet, or else
 * of those that can be relaunched. -1: there is none. */
int gives_way_to_guarantees(const struct decision *d)
{
	for (int running = 0; running < 2; running++)
		for (int j = d->n_asked - 1; j >= 0; j--)
			if (!d->sched_jobs[j].guaranteed && d->choices[j].replicas > 0 &&
			    (running ? d->sched_jobs[j].preemptible
				     : d->sched_jobs[j].replicas == 0))
				return j;
	return -1;
}
