/* nodes.c - which numbers of devices candidates may have on several nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "nodes.h"
#include "pollux/mem.h"

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

static int shape_of(struct decision *d, const char *kind)
{
	int k = 0;

	while (k < d->n_shapes && kind && strcmp(d->shapes[k].kind, kind) != 0)
		k++;
	if (k == SCHED_KINDS)
		return -1;
	if (k == d->n_shapes) {
		d->shapes[d->n_shapes++].kind = kind;
		d->shapes[k].devices = xcalloc((size_t)d->n_nodes, sizeof(int));
	}
	return k;
}

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

void find_nodes(const struct snapshot *s, struct decision *d)
{
	bool several = kinds_are_told_apart(s);

	number_nodes(s, d);
	for (int i = 0; d->n_nodes > 1 && i < s->devices.count; i++) {
		int k = d->usable[i] ? shape_of(d, several ? s->devices.items[i].kind : NULL) : -1;

		if (k >= 0)
			d->shapes[k].devices[d->node_of[i]]++;
	}
	for (int k = 0; k < d->n_shapes; k++) {
		struct node_shape *shape = &d->shapes[k];
		int n = d->n_nodes;

		qsort(shape->devices, (size_t)n, sizeof(int), descending);
		while (n > 0 && shape->devices[n - 1] == 0)
			n--;
		shape->sizes = (struct node_sizes){ shape->devices, n };
	}
}

void forget_nodes(struct decision *d)
{
	for (int k = 0; k < d->n_shapes; k++)
		free(d->shapes[k].devices);
	free(d->node_of);
}

const struct node_sizes *nodes_of_kind(const struct decision *d, const char *kind)
{
	for (int k = 0; k < d->n_shapes; k++)
		if (!kind || !d->shapes[k].kind || !strcmp(d->shapes[k].kind, kind))
			return &d->shapes[k].sizes;
	return NULL;
}

struct goodput_table *table_on_nodes(const struct decision *d, const struct job_model *m,
				     const char *kind, int n_devices)
{
	const struct node_sizes *nodes = nodes_of_kind(d, kind);

	if (!nodes)
		nodes = nodes_of_kind(d, NULL);
	return nodes ? goodput_table_on(m, n_devices, nodes) : goodput_table_of(m, n_devices);
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

static bool may_have(const struct candidate *c, const struct node_shape *shape)
{
	return !shape->kind || declaration_wants_kind(&c->job->declared, shape->kind);
}

/* The number next to these, below (-1) or above (1), that is regular; 0: none. */
static int regular_near(const struct node_sizes *nodes, int devices, int step)
{
	int total = node_sizes_total(nodes);

	for (int r = devices + step; r > 0 && r <= total; r += step)
		if (node_sizes_regular_place(nodes, r))
			return r;
	return 0;
}

/* "4" or "4 to 8". */
static void add_sizes(const struct node_sizes *nodes, struct text *out)
{
	int most = nodes->devices[0], least = nodes->devices[nodes->n - 1];

	text_addf(out, least < most ? "%d to %d" : "%d", least, most);
}

static char *describe_unfit(const struct candidate *c, const struct sched_job *job,
			    const struct node_sizes *nodes)
{
	int least = job->min_replicas, most = job->max_replicas;
	int below = regular_near(nodes, least, -1), above = regular_near(nodes, most, 1);
	struct text out = TEXT_INIT;

	text_addf(&out, least < most ? "asks for %d to %d devices" : "asks for %d devices", least,
		  most);
	text_add(&out, ", which fall evenly on no nodes of ");
	add_sizes(nodes, &out);
	if (below || above)
		text_addf(&out, ": 'pollux edit %lld -r %d'", (long long)c->job->id,
			  below ? below : above);
	if (below && above)
		text_addf(&out, " or '-r %d'", above);
	text_add(&out, below || above ? " would do" : "");
	return text_detach(&out);
}

/* The least number that the candidate may have; 0: none. *unfit: nodes that have as many devices as
 * it asks for, but not evenly. */
static int least_on_nodes(const struct decision *d, int j, const struct node_sizes **unfit)
{
	const struct sched_job *job = &d->sched_jobs[j];
	int found = 0;

	*unfit = NULL;
	for (int k = 0; k < d->n_shapes; k++) {
		const struct node_sizes *nodes = &d->shapes[k].sizes;
		int least;

		if (!may_have(&d->candidates[j], &d->shapes[k]))
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
			pass_over(d, d->candidates[j].job, false,
				  describe_unfit(&d->candidates[j], &d->sched_jobs[j], unfit),
				  (double)NAN);
			continue;
		}
		if (least && !d->candidates[j].run)
			d->sched_jobs[j].min_replicas = least;
		d->candidates[n] = d->candidates[j];
		d->sched_jobs[n++] = d->sched_jobs[j];
	}
	d->n = n;
}

/* Leaves the numbers on a kind that the job may have, and the number that it has. Returns the
 * largest of them. */
static int keep_on(struct decision *d, int j, int k)
{
	const struct sched_job *job = &d->sched_jobs[j];
	const struct node_sizes *nodes = nodes_of_kind(d, d->kinds[k].name);
	double *goodput = nodes ? lower_offers(d, j, k) : NULL;
	enum node_rule rule;
	int most = 0;

	if (!goodput)
		return 0;
	rule = node_sizes_rule(nodes, d->candidates[j].job->declared.min_replicas,
			       job->max_replicas);
	for (int r = 1; r <= job->offers[k].n; r++)
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

static int reach_of(const struct snapshot *s, const struct sched_job *job)
{
	bool known = false;
	int reach = job->max_replicas;

	for (int k = 0; k < SCHED_KINDS; k++)
		known |= job->offers[k].goodput[0] != NULL;
	if (s->policy->models_goodput && !known)
		reach = job->min_replicas;
	return reach > job->replicas ? reach : job->replicas;
}

void tell_reach(const struct snapshot *s, struct decision *d)
{
	struct sched_input *in = &d->input;
	int n_devices = sched_devices(in);
	int64_t reach = 0;

	if (d->n_nodes < 2)
		return;
	for (int j = 0; j < in->n_jobs; j++) {
		if (in->jobs[j].min_replicas > n_devices)
			return;		/* it is told how many there are */
		reach += reach_of(s, &in->jobs[j]);
	}
	for (int k = 0; k < in->n_kinds; k++)
		if (reach < in->kinds[k].n_devices)
			in->kinds[k].n_devices = (int)reach;
}

/* --- after the policy --- */

int lower_on_nodes(const struct decision *d, int j, int below)
{
	const struct candidate *c = &d->candidates[j];
	const struct sched_job *job = &d->sched_jobs[j];
	int kind = d->choices[j].kind, least = plan_least(c, job, c->job->declared.min_replicas);
	const struct node_sizes *nodes = nodes_of_kind(d, d->kinds[kind].name);
	bool known = job->offers[kind].goodput[0] != NULL;
	enum node_rule rule = NODE_RULE_NONE;
	int r = below - 1;

	if (nodes)
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
