/* decide.c - one decision: asks the policy for numbers of GPUs, finds nodes, and moves jobs whose
 * nodes or GPUs differ. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pack_nodes.h"
#include "simulation.h"
#include "take.h"

struct decision {
	struct simulation *s;
	struct sched_job *told;		/* one entry for each active job, like those below */
	struct sched_choice *choices;
	struct placement *placements;
	int *order;			/* in which take.h gives nodes */
};

/* --- nodes as published --- */

struct rank {
	double first, second;	/* the smaller comes first */
	int index;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->first < y->first || x->first > y->first)
		return x->first < y->first ? -1 : 1;
	if (x->second < y->second || x->second > y->second)
		return x->second < y->second ? -1 : 1;
	return x->index - y->index;
}

/* Under tiresias the order is that of the queues; otherwise jobs with fewest GPUs come first. */
static void set_order(const struct decision *d)
{
	int n = d->s->n_active;
	struct rank *ranks = xcalloc((size_t)n, sizeof(*ranks));

	for (int i = 0; i < n; i++) {
		const struct sim_job *job = d->s->active[i];

		ranks[i] = (struct rank){ .index = i, .first = d->choices[i].replicas };
		if (d->s->manner.owners_replicas) {
			ranks[i].first = !isnan(job->demoted_s);
			ranks[i].second = isnan(job->demoted_s) ? 0 : job->demoted_s;
		}
	}
	qsort(ranks, (size_t)n, sizeof(*ranks), by_rank);
	for (int i = 0; i < n; i++)
		d->order[i] = ranks[i].index;
	free(ranks);
}

static void place_as_published(const struct decision *d)
{
	const struct gpu_kind *gpus = &d->s->kinds[0];
	int *free_gpus = xcalloc((size_t)gpus->nodes, sizeof(*free_gpus));

	for (int node = 0; node < gpus->nodes; node++)
		free_gpus[node] = gpus->gpus_per_node;
	for (int i = 0; i < d->s->n_active; i++) {
		const struct placement *held = &d->s->active[i]->placement;

		if (held->replicas != d->choices[i].replicas)
			continue;
		placement_copy(&d->placements[i], held);
		for (int k = 0; k < held->n; k++)
			free_gpus[held->nodes[k]] -= held->gpus[k];
	}
	set_order(d);
	for (int i = 0; i < d->s->n_active; i++) {
		int job = d->order[i];

		if (!d->placements[job].n)
			take_gpus(free_gpus, gpus->nodes, d->choices[job].replicas,
				  &d->placements[job]);
	}
	free(free_gpus);
}

/* --- nodes by pack_nodes.h --- */

static void place_on(const struct decision *d, int kind)
{
	const struct gpu_kind *gpus = &d->s->kinds[kind];
	size_t n_jobs = (size_t)d->s->n_active, nodes = (size_t)gpus->nodes;
	int *held = xcalloc(n_jobs * nodes, sizeof(*held)),
	    *placed = xcalloc(n_jobs * nodes, sizeof(*placed));
	int *count = xcalloc(n_jobs, sizeof(*count));

	for (size_t i = 0; i < n_jobs; i++) {
		const struct sim_job *job = d->s->active[i];
		const struct placement *p = &job->placement;

		if (d->choices[i].kind == kind)
			count[i] = d->choices[i].replicas;
		for (int k = 0; job->kind == kind && k < p->n; k++)
			held[i * nodes + (size_t)(p->nodes[k] - gpus->first_node)] = p->gpus[k];
	}
	place_jobs(gpus->nodes, gpus->gpus_per_node, d->s->n_active, held, count, placed);
	for (size_t i = 0; i < n_jobs; i++)
		for (int node = 0; node < gpus->nodes; node++)
			if (placed[i * nodes + (size_t)node] > 0)
				placement_add(&d->placements[i], gpus->first_node + node,
					      placed[i * nodes + (size_t)node]);
	free(held);
	free(placed);
	free(count);
}

static void place_all_jobs(const struct decision *d)
{
	for (int k = 0; k < d->s->n_kinds; k++)
		place_on(d, k);
}

/* --- carrying it out --- */

/* Marks distributed jobs that share a node with another distributed job. */
static void find_interference(struct simulation *s)
{
	int *distributed = xcalloc((size_t)s->n_nodes, sizeof(*distributed));

	for (int i = 0; i < s->n_active; i++)
		for (int k = 0; s->active[i]->placement.n > 1 && k < s->active[i]->placement.n; k++)
			distributed[s->active[i]->placement.nodes[k]]++;
	for (int i = 0; i < s->n_active; i++) {
		struct sim_job *job = s->active[i];

		job->interfered = false;
		for (int k = 0; job->placement.n > 1 && k < job->placement.n; k++)
			if (distributed[job->placement.nodes[k]] > 1)
				job->interfered = true;
	}
	free(distributed);
}

static void apply_placements(const struct decision *d, struct sim_round *round)
{
	struct simulation *s = d->s;

	for (int i = 0; i < s->n_active; i++) {
		struct sim_job *job = s->active[i];

		if (!placement_equal(&job->placement, &d->placements[i])) {
			if (d->placements[i].n && job->restarts >= 0)
				round->restarts++;
			job_place(s, job, &d->placements[i], d->choices[i].kind);
		}
		round->gpus += job->placement.replicas;
		round->running += job->placement.n > 0;
	}
	assert(round->gpus <= s->n_gpus);
	find_interference(s);
}

static int tell_jobs(const struct decision *d, struct err *err)
{
	struct simulation *s = d->s;

	for (int i = 0; i < s->n_active; i++) {
		struct sim_job *job = s->active[i];

		if (isnan(job->demoted_s) && job->attained_device_s >= TIRESIAS_QUEUE_DEVICE_S)
			job->demoted_s = s->now_s;
		if (job_tell(s, job, &d->told[i], err))
			return -1;
	}
	return 0;
}

struct sched_input sched_input_of(const struct simulation *s, const struct sched_job *told)
{
	const struct sim_options *o = s->options;

	bool by_owner = s->manner.owners_batch || !o->policy->models_goodput;
	struct sched_input in = {
		.jobs = told, .n_jobs = s->n_active, .n_devices = s->n_gpus,
		.now_s = s->now_s, .slice_s = o->slice_s,
		.ended_device_s = s->ended_device_s, .n_ended = s->n_done,
		/* The owner's number of GPUs need not be regular. */
		.devices_per_node = by_owner ? 0 : s->kinds[0].gpus_per_node,
	};

	for (int k = 0; o->n_kinds && k < s->n_kinds; k++)
		in.kinds[in.n_kinds++] = (struct sched_kind){
			s->kinds[k].n_gpus, by_owner ? 0 : s->kinds[k].gpus_per_node,
			s->kinds[k].name,
		};
	return in;
}

static void ask_policy(const struct decision *d, double *decide_s, double *gap)
{
	const struct sim_options *o = d->s->options;
	struct sched_input in = sched_input_of(d->s, d->told);
	double start_s = clock_boot_s();

	*gap = 0;
	in.gap = gap;
	policy_decide(o->policy, &in, o->kinds_blind, d->choices);
	if (d->s->manner.published_nodes && d->s->n_kinds == 1)
		place_as_published(d);
	else
		place_all_jobs(d);
	*decide_s = clock_boot_s() - start_s;
}

int decide_round(struct simulation *s, struct sim_round *round, double *decide_s, double *gap,
		 struct err *err)
{
	size_t n = (size_t)s->n_active;
	struct decision d = {
		.s = s, .told = xcalloc(n, sizeof(*d.told)),
		.choices = xcalloc(n, sizeof(*d.choices)),
		.placements = xcalloc(n, sizeof(*d.placements)),
		.order = xcalloc(n, sizeof(*d.order)),
	};
	int rc = tell_jobs(&d, err);

	if (rc == 0) {
		ask_policy(&d, decide_s, gap);
		*round = (struct sim_round){ .time_s = s->now_s };
		apply_placements(&d, round);
		round->waiting = s->n_active - round->running;
	}
	for (size_t i = 0; i < n; i++)
		placement_release(&d.placements[i]);
	free(d.told);
	free(d.choices);
	free(d.placements);
	free(d.order);
	return rc;
}
