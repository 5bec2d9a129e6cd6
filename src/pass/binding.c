/* binding.c - see binding.h. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "pollux/core_share.h"
#include "pollux/mem.h"

/* A run that goes on or starts. */
struct binding {
	int candidate;			/* -1: nothing is decided on its job */
	const struct run *run;		/* NULL: it starts */
	struct cores_run share;
	char cores[RUN_CORES_SIZE];	/* out */
};

/* --- processors in words --- */

/* A binding "" means every processor. */
static struct core_set read_set(const char *list)
{
	struct core_set set = { { 0 } };
	long first, last;

	if (!*list)
		memset(&set, 0xff, sizeof(set));
	while (device_next_span(&list, &first, &last))
		for (long p = first; p >= 0 && p <= last && p < CORES_MAX; p++)
			core_set_add(&set, (int)p);
	return set;
}

static void add_set(struct core_set *set, const struct core_set *other)
{
	for (int p = 0; p < CORES_MAX; p++)
		if (core_set_has(other, p))
			core_set_add(set, p);
}

static int count_set(const struct core_set *set)
{
	int n = 0;

	for (int p = 0; p < CORES_MAX; p++)
		n += core_set_has(set, p);
	return n;
}

/* Writes "0-3,8". A list that has no room is left empty: the run is bound as its devices are. */
static void write_set(const struct core_set *set, char *list, size_t size)
{
	struct text t = TEXT_INIT;

	for (int p = 0; p < CORES_MAX; p++) {
		int last = p;

		if (!core_set_has(set, p))
			continue;
		while (last + 1 < CORES_MAX && core_set_has(set, last + 1))
			last++;
		text_addf(&t, last > p ? "%s%d-%d" : "%s%d", t.length ? "," : "", p, last);
		p = last;
	}
	*list = '\0';
	if (t.length > 0 && t.length < size)
		memcpy(list, t.data, t.length + 1);
	text_release(&t);
}

/* --- what runs want --- */

static int cores_of_plan(const struct job *job, const char *name)
{
	const struct execution_plan *plan;
	struct execution_plans plans;
	struct err ignored;
	int cores;

	if (!job->declared.plans ||
	    execution_plans_parse(job->declared.plans, &plans, &ignored))
		return 0;
	plan = execution_plans_find(&plans, name);
	cores = plan ? plan->cores : 0;
	execution_plans_release(&plans);
	return cores;
}

/* The processors of one core of a slot, which may run several threads; 1 for a GPU. */
static int processors_of_core(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);
	struct core_set near = read_set(device->binding);
	int n = device->cores > 0 ? count_set(&near) / device->cores : 1;

	return backend && backend->owns_binding && n > 1 ? n : 1;
}

/* What cores bring the job in this plan on the kind of device. */
static void set_gain(const struct snapshot *s, const struct job *job, const struct configuration *c,
		     const struct device *first, struct cores_run *share)
{
	char *name = execution_plan_workload_of(job->declared.workload, job->declared.plans,
						c->plan);
	const struct workload *w = workloads_find(&s->workloads, name, first->kind);

	if (w && w->k.cores.known) {
		share->part = w->k.cores.part;
		share->base = w->k.cores.base * c->replicas;
	}
	free(name);
}

/* Returns what the run wants. */
static struct cores_run *add_binding(struct decision *d, int candidate, const struct run *run,
				     const struct job *job, const struct configuration *c,
				     const struct device *first)
{
	int cores = cores_of_plan(job, c->plan);
	struct binding *b;

	d->bindings = xgrow(d->bindings, d->n_bindings, sizeof(*d->bindings));
	b = &d->bindings[d->n_bindings++];
	*b = (struct binding){ .candidate = candidate, .run = run };
	b->share.wanted = cores * c->replicas * processors_of_core(first);
	if (run && run->cores[0])
		b->share.now = read_set(run->cores);
	return &b->share;
}

static const struct job *job_of(const struct snapshot *s, const struct run *run)
{
	for (int i = 0; i < s->jobs.count; i++)
		if (s->jobs.items[i].id == run->job_id)
			return &s->jobs.items[i];
	return NULL;
}

/* True if the run stays on its devices and nothing is decided on its job. */
static bool stays(const struct decision *d, const struct run *run)
{
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].run == run || d->candidates[j].suspended == run)
			return false;
	return run->stop_reason == STOP_NONE && run->suspension != SUSPENSION_ASKED &&
	       run_held(run) > 0;
}

/* Runs that are there take first. */
static void list_runs(const struct snapshot *s, struct decision *d)
{
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct job *job = job_of(s, run);

		if (job && stays(d, run))
			set_gain(s, job, &run->configuration, &run->devices[0],
				 add_binding(d, -1, run, job, &run->configuration,
					     &run->devices[0]));
	}
	for (int round = 0; round < 2; round++)
		for (int j = 0; j < d->n; j++) {
			const struct candidate *c = &d->candidates[j];
			const struct configuration *sizes = &d->sizes[j].configuration;
			const struct device *first;
			int i = 0;

			if (d->choices[j].replicas == 0 || (c->run == NULL) != (round == 1))
				continue;
			while (i < s->devices.count - 1 && !decision_gives(d, j, i))
				i++;
			first = &s->devices.items[i];
			set_gain(s, c->job, sizes, first,
				 add_binding(d, j, comes_back(d, j) ? c->suspended : c->run, c->job,
					     sizes, first));
		}
}

/* --- sharing --- */

static bool has_device(const struct decision *d, const struct binding *b, const struct snapshot *s,
		       int device)
{
	if (b->candidate >= 0)
		return decision_gives(d, b->candidate, device);
	for (int i = 0; i < run_held(b->run); i++)
		if (device_is_same(&b->run->devices[i], &s->devices.items[device]))
			return true;
	return false;
}

static void share_cores(const struct snapshot *s, struct decision *d)
{
	struct cores_device *devices = xcalloc((size_t)s->devices.count, sizeof(*devices));
	struct cores_run *runs = xcalloc((size_t)d->n_bindings, sizeof(*runs));

	for (int b = 0; b < d->n_bindings; b++)
		runs[b] = d->bindings[b].share;
	for (int i = 0; i < s->devices.count; i++) {
		devices[i].near = read_set(s->devices.items[i].binding);
		devices[i].run = s->devices.items[i].usable ? CORES_IDLE : CORES_KEPT;
		for (int b = 0; b < d->n_bindings; b++) {
			if (!has_device(d, &d->bindings[b], s, i))
				continue;
			if (devices[i].run >= 0)
				add_set(&runs[b].near, &devices[i].near);
			else
				devices[i].run = b;
		}
	}
	cores_share(devices, s->devices.count, runs, d->n_bindings);
	for (int b = 0; b < d->n_bindings; b++)
		if (runs[b].bound)
			write_set(&runs[b].given, d->bindings[b].cores,
				  sizeof(d->bindings[b].cores));
	free(devices);
	free(runs);
}

static bool any_wants(const struct decision *d)
{
	for (int b = 0; b < d->n_bindings; b++)
		if (d->bindings[b].share.wanted > 0)
			return true;
	return false;
}

/* On a cluster its manager binds runs: the processors of its nodes are not known here. */
void bind_runs(const struct snapshot *s, struct decision *d)
{
	if (s->devices.count > 0 && s->devices.items[0].node[0])
		return;
	list_runs(s, d);
	if (any_wants(d))
		share_cores(s, d);
}

void forget_bindings(struct decision *d)
{
	free(d->bindings);
}

/* --- what comes of it --- */

void copy_cores(const struct decision *d, int j, char *text, size_t size)
{
	*text = '\0';
	for (int b = 0; b < d->n_bindings; b++)
		if (d->bindings[b].candidate == j)
			snprintf(text, size, "%s", d->bindings[b].cores);
}

void plan_bindings(const struct decision *d, struct plan *p)
{
	for (int b = 0; b < d->n_bindings; b++) {
		const struct binding *is = &d->bindings[b];

		if (is->run && strcmp(is->run->cores, is->cores) != 0)
			plan_add(p, ACTION_BIND, is->run->job_id, is->run, is->cores);
	}
}
