/* assign_pool.h - devices to choose from, and the jobs that choose; private to src/sched. */
#ifndef POLLUX_ASSIGN_POOL_H
#define POLLUX_ASSIGN_POOL_H

#include <stdbool.h>

struct taker {
	int job;			/* written to owner[] */
	int need;			/* devices, at least 1 */
	/* it may take devices that are given up; others take free ones only */
	bool waits;
};

struct assign_pool {
	int n_devices;
	const unsigned char *links;	/* as in assign.h; NULL: all the same */
	bool leaves_groups;	/* rule 4: what is left should be joined well */
	int *device;			/* n of them: n_free free ones, then those given up */
	int n, n_free;
	/* in the order of rule 5; if one waits, all n_free are taken */
	struct taker *takers;
	int n_takers;
	/* per device: the takers' present devices, then the result */
	int *owner;
};

static inline int assign_link(const struct assign_pool *p, int a, int b)
{
	return p->links[(long)a * p->n_devices + b];
}

/* Rules 3 and 4; n is at most ASSIGN_EXACT, links is not NULL. */
void assign_exactly(struct assign_pool *p);
/* Approximates rules 3 and 4 by picking one device at a time; links is not NULL. */
void assign_greedily(struct assign_pool *p);

#endif
