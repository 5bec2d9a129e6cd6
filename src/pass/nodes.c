/* nodes.c - devices on several nodes: which numbers of them candidates may have, which devices they
 * get, and what becomes of choices that find no room. Where all devices are on one node, n_nodes is
 * 1, and nothing here has any effect.
 *
 * A job has the numbers of devices of node_sizes.h: the regular ones in its range, or else the even
 * ones. A job that asks for a range without either waits, and is told the numbers near it. A
 * decision that cannot be placed, since the nodes' free devices are here and there, becomes one of
 * fewer devices, or the job waits for room. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/assign.h"
#include "pollux/mem.h"
#include "stages.h"

/* --- the nodes --- */

struct named {
	const char *node;
	int device;
};

static int by_node(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->node, y->node);

	return order ? order : (x->device > y->device) - (x->device < y->device);
}

/* Numbers the nodes in the order in which the list of devices names them. */
static void number_nodes(const struct snapshot *s, struct decision *d)
{
	size_t n = (size_t)s->devices.count;
	struct named *named = xcalloc(n, sizeof(*named));
	int *first = xcalloc(n, sizeof(*first));	/* by device: the first of its node */

	for (size_t i = 0; i < n; i++)
		named[i] = (struct named){ s->devices.items[i].node, (int)i };
	qsort(named, n, sizeof(*named), by_node);
	for (size_t i = 0, of = 0; i < n; i++) {
		if (strcmp(named[of].node, named[i].node) != 0)
			of = i;
		first[named[i].device] = named[of].device;
	}
	d->node_of = xcalloc(n, sizeof(*d->node_of));
	for (size_t i = 0; i < n; i++)
		d->node_of[i] = first[i] == (int)i ? d->n_nodes++ : d->node_of[first[i]];
	free(named);
	free(first);
}

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

void find_nodes(const struct snapshot *s, struct decision *d)
{
	number_nodes(s, d);
	for (int k = 0; d->n_nodes > 1 && k < d->n_kinds; k++) {
		int *devices = xcalloc((size_t)d->n_nodes, sizeof(*devices)), n = d->n_nodes;

		for (int i = 0; i < s->devices.count; i++)
			devices[d->node_of[i]] += d->usable[i] && d->kind_of[i] == k;
		qsort(devices, (size_t)n, sizeof(*devices), descending);
		while (n > 0 && devices[n - 1] == 0)
			n--;
		d->kinds[k].by_node = devices;
		d->kinds[k].nodes = (struct node_sizes){ devices, n };
	}
}

struct goodput_table *table_on_nodes(const struct decision *d, const struct job_model *m, int kind)
{
	const struct node_sizes *nodes = &d->kinds[kind < 0 ? 0 : kind].nodes;

	return nodes->n ? goodput_table_on(m, most_devices(d), nodes)
			: goodput_table_of(m, most_devices(d));
}

int decision_nodes(const struct decision *d, int j, int n_devices)
{
	bool *seen = xcalloc((size_t)d->n_nodes, sizeof(*seen));
	int n = 0;

	for (int i = 0; i < n_devices; i++)
		if (decision_gives(d, j, i)) {
			n += !seen[d->node_of[i]];
			seen[d->node_of[i]] = true;
		}
	free(seen);
	return n > 0 ? n : 1;
}

/* --- before the policy --- */

/* The number next to these, below (-1) or above (1), that is regular; 0: none. */
static int regular_near(const struct node_sizes *nodes, int devices, int step)
{
	int total = node_sizes_total(nodes);

	for (int r = devices + step; r > 0 && r <= total; r += step)
		if (node_sizes_regular_place(nodes, r))
			return r;
	return 0;
}

static void pass_over_unfit(struct decision *d, int j, const struct node_sizes *nodes)
{
	const struct sched_job *job = &d->sched_jobs[j];
	int least = job->min_replicas, most = job->max_replicas;
	int below = regular_near(nodes, least, -1), above = regular_near(nodes, most, 1);
	struct verdict *v = &pass_over(d, d->candidates[j].job, (struct fact){
		FACT_ASKS, .n = least, .devices = least < most ? most : least,
	})->verdict;

	verdict_add(v, (struct fact){ FACT_UNEVEN, .n = nodes->devices[nodes->n - 1],
				      .of = nodes->devices[0] });
	if (below || above)
		verdict_add(v, (struct fact){
			FACT_UNEVEN_EDIT, .job = d->candidates[j].job->id,
			.n = below ? below : above, .of = below ? above : 0,
		});
}

/* The least number that the candidate may have; 0: none. *unfit: nodes that have as many devices as
 * it asks for, but not evenly. */
static int least_on_nodes(const struct decision *d, int j, const struct node_sizes **unfit)
{
	const struct declaration *declared = &d->candidates[j].job->declared;
	const struct sched_job *job = &d->sched_jobs[j];
	int found = 0;

	*unfit = NULL;
	for (int k = 0; k < d->n_kinds; k++) {
		const struct node_sizes *nodes = &d->kinds[k].nodes;
		int least;

		if (nodes->n == 0 ||
		    (d->kinds[k].name && !declaration_wants_kind(declared, d->kinds[k].name)))
			continue;
		least = node_sizes_least(nodes, job->min_replicas, job->max_replicas);
		if (least && (!found || least < found))
			found = least;
		if (!least && !*unfit && node_sizes_total(nodes) >= job->min_replicas)
			*unfit = nodes;
	}
	return found;
}

void raise_least(const struct decision *d, int j, struct job_model *m)
{
	const struct node_sizes *unfit;
	int width = m->width > 1 ? m->width : 1, least;

	if (!m->known)
		return;
	least = least_on_nodes(d, j, &unfit);
	if (least <= m->min_replicas)
		return;
	m->min_replicas = least;
	least = (least + width - 1) / width * width;
	if (m->max_replicas < least)
		m->max_replicas = least;
}

/* A job that has devices keeps its range: it may go on as it is. */
void fit_to_nodes(const struct snapshot *s, struct decision *d)
{
	int n = 0;

	for (int j = 0; j < d->n; j++) {
		const struct node_sizes *unfit;
		int least = least_on_nodes(d, j, &unfit);

		if (!least && unfit && !d->candidates[j].run && !s->weighs_only) {
			pass_over_unfit(d, j, unfit);
			continue;
		}
		if (least && !d->candidates[j].run)
			d->sched_jobs[j].min_replicas = least;
		keep_candidate(d, j, &n);
	}
	d->n = n;
}

/* Leaves the numbers on a kind that the job may have, and the number that it has. Returns the
 * largest of them. */
static int keep_on(struct decision *d, int j, int kind)
{
	const struct sched_job *job = &d->sched_jobs[j];
	const struct node_sizes *nodes = &d->kinds[kind].nodes;
	double *goodput = nodes->n ? lower_offers(d, j, kind) : NULL;
	enum node_rule rule;
	int most = 0;

	if (!goodput)
		return 0;
	rule = node_sizes_rule(nodes, d->candidates[j].job->declared.min_replicas,
			       job->max_replicas);
	for (int r = 1; r <= job->offers[kind].n; r++)
		if (isfinite(goodput[r]) &&
		    (r == job->replicas || node_sizes_allow(nodes, rule, r)))
			most = r;
		else
			goodput[r] = (double)NAN;
	return most;
}

void keep_to_nodes(const struct snapshot *s, struct decision *d)
{
	(void)s;
	for (int j = 0; j < d->n; j++) {
		struct sched_job *job = &d->sched_jobs[j];
		int most = 0;

		for (int k = 0; k < d->n_kinds; k++) {
			int on_kind = keep_on(d, j, k);

			most = on_kind > most ? on_kind : most;
		}
		if (most > 0)
			job->max_replicas = most > job->min_replicas ? most : job->min_replicas;
	}
}

void tell_reach(const struct snapshot *s, struct decision *d)
{
	struct sched_input *in = &d->input;
	int n_devices = sched_devices(in);
	int64_t reach = 0;

	if (d->n_nodes < 2)
		return;
	for (int j = 0; j < in->n_jobs; j++) {
		const struct sched_job *job = &in->jobs[j];
		bool known = !s->policy->models_goodput;
		int most;

		if (job->min_replicas > n_devices)
			return;		/* it is told how many there are */
		for (int k = 0; k < SCHED_KINDS; k++)
			known |= job->offers[k].goodput[0] != NULL;
		most = known ? job->max_replicas : job->min_replicas;
		reach += most > job->replicas ? most : job->replicas;
	}
	for (int k = 0; k < in->n_kinds; k++)
		if (reach < in->kinds[k].n_devices)
			in->kinds[k].n_devices = (int)reach;
}

/* --- after the policy --- */

/* The largest number below this that the job may have, or has; 0: none. */
static int lower_on_nodes(const struct decision *d, int j, int below)
{
	const struct candidate *c = &d->candidates[j];
	const struct sched_job *job = &d->sched_jobs[j];
	int kind = d->choices[j].kind, least = plan_least(c, job, c->job->declared.min_replicas);
	const struct node_sizes *nodes = &d->kinds[kind].nodes;
	bool known = job->offers[kind].goodput[0] != NULL;
	enum node_rule rule = NODE_RULE_NONE;
	int r = below - 1;

	if (nodes->n)
		rule = node_sizes_rule(nodes, least, job->max_replicas);
	for (; r >= least; r--)
		if (r == job->replicas || (node_sizes_allow(nodes, rule, r) && plan_suits(c, r) &&
					   (!known || offers_at(job, kind, 0, r).goodput > 0)))
			return r;
	return 0;
}

void round_to_nodes(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; d->n_nodes > 1 && !s->policy->models_goodput && j < d->n_asked; j++) {
		struct sched_choice *choice = &d->choices[j];

		if (choice->replicas && choice->replicas != d->sched_jobs[j].replicas)
			choice->replicas = lower_on_nodes(d, j, choice->replicas + 1);
	}
}

/* --- which devices --- */

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

/* Lowers the choice to the next number below, or to none. */
static void lower(struct decision *d, int j)
{
	struct sched_choice *choice = &d->choices[j];
	const struct node_sizes *nodes = &d->kinds[choice->kind].nodes;
	int n = nodes->n ? node_sizes_place(nodes, choice->replicas) : 1;
	int each = choice->replicas / (n > 0 ? n : 1);

	choice->replicas = lower_on_nodes(d, j, choice->replicas);
	choice->reconfigure = false;
	choice->next_start_s = (double)NAN;
	choice->verdict = verdict_of((struct fact){
		choice->replicas > 0 ? FACT_FEWER_BY_ROOM : FACT_WAITS_FOR_ROOM,
		.devices = choice->replicas, .n = each, .of = n,
	});
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
	bool all = false;

	/* A run that was not launched yet is where it is to be. */
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];

		a.movable[j] = c->run && c->run->state == RUN_RUNNING && c->relaunchable &&
			       !c->suspends;
	}
	while (!all) {
		all = true;
		memset(a.placed, 0, n * sizeof(*a.placed));
		for (int k = 0; k < d->n_kinds; k++)
			all &= assign_kind(&a, k);
		if (!all)
			make_room(&a);
	}
	for (int j = 0; j < d->n; j++) {
		bool moves = false;	/* to other devices, of which it has as many */

		for (int i = 0; a.movable[j] && i < s->devices.count; i++)
			moves |= holder[i] == j && d->owner[i] != j;
		if (moves && d->choices[j].replicas == d->sched_jobs[j].replicas)
			verdict_put_first(&d->choices[j].verdict,
					  (struct fact){ .kind = FACT_MAKES_ROOM });
	}
	free(a.own);
	free(a.owner);
	free(a.count);
	free(a.movable);
	free(a.placed);
}
