/* binding.c - which processors each run is bound to. Where no run wants processors (--plan
 * NAME:cores=C), runs are bound as their devices are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "pollux/core_share.h"
#include "pollux/mem.h"
#include "stages.h"

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

/* Adds a run that goes on or starts: the processors that it wants, and what they bring the job in
 * its plan on the kind of device. candidate -1: nothing is decided on its job. */
static void add_binding(const struct snapshot *s, struct decision *d, int candidate,
			const struct run *run)
{
	bool decided = candidate >= 0;
	const struct job *job = decided ? d->candidates[candidate].job
					: snapshot_job(s, run->job_id);
	const struct configuration *c = decided ? &d->sizes[candidate].configuration
						: &run->configuration;
	const struct device *first = decided ? &s->devices.items[first_device(s, d, candidate)]
					     : &run->devices[0];
	const struct device_backend *backend = device_backend_of(first->id);
	char *name = execution_plan_workload_of(job->declared.workload, job->declared.plans,
						c->plan);
	const struct workload *w = workloads_find(&s->workloads, name, first->kind);
	struct core_set near = read_set(first->binding);
	struct execution_plans plans;
	struct binding *b;
	int processors = 0, threads;

	for (int p = 0; p < CORES_MAX; p++)
		processors += core_set_has(&near, p);
	/* a core of a slot may run several threads */
	threads = backend && backend->owns_binding && first->cores > 0
		? processors / first->cores : 1;
	d->bindings = xgrow(d->bindings, d->n_bindings, sizeof(*d->bindings));
	b = &d->bindings[d->n_bindings++];
	*b = (struct binding){ .candidate = candidate, .run = run };
	if (job->declared.plans &&
	    execution_plans_parse(job->declared.plans, &plans, &(struct err){ 0 }) == 0) {
		const struct execution_plan *plan = execution_plans_find(&plans, c->plan);

		if (plan)
			b->share.wanted = plan->cores * c->replicas * (threads > 1 ? threads : 1);
		execution_plans_release(&plans);
	}
	if (run && run->cores[0])
		b->share.now = read_set(run->cores);
	if (w && w->k.cores.known) {
		b->share.part = w->k.cores.part;
		b->share.base = w->k.cores.base * c->replicas;
	}
	free(name);
}

/* Runs that are there take first. */
static void list_runs(const struct snapshot *s, struct decision *d)
{
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		bool stays = run->stop_reason == STOP_NONE &&
			     run->suspension != SUSPENSION_ASKED && run_held(run) > 0;

		for (int j = 0; j < d->n; j++)
			stays &= run_of(&d->candidates[j]) != run;
		if (stays && snapshot_job(s, run->job_id))
			add_binding(s, d, -1, run);
	}
	for (int round = 0; round < 2; round++)
		for (int j = 0; j < d->n; j++) {
			const struct candidate *c = &d->candidates[j];

			if (d->choices[j].replicas > 0 && (c->run == NULL) == (round == 1))
				add_binding(s, d, j, comes_back(d, j) ? c->suspended : c->run);
		}
}

/* --- sharing --- */

static bool has_device(const struct snapshot *s, const struct decision *d, const struct binding *b,
		       int device)
{
	return b->candidate >= 0 ? decision_gives(d, b->candidate, device)
				 : run_holds(b->run, &s->devices.items[device]);
}

static void share_cores(const struct snapshot *s, struct decision *d)
{
	struct cores_device *devices = xcalloc((size_t)s->devices.count, sizeof(*devices));
	struct cores_run *runs = xcalloc((size_t)d->n_bindings, sizeof(*runs));

	for (int b = 0; b < d->n_bindings; b++)
		runs[b] = d->bindings[b].share;
	for (int i = 0; i < s->devices.count; i++) {
		const struct device *device = &s->devices.items[i];

		devices[i].near = read_set(device->binding);
		devices[i].run = device->usable ? CORES_IDLE : CORES_KEPT;
		for (int b = 0; b < d->n_bindings; b++) {
			if (!has_device(s, d, &d->bindings[b], i))
				continue;
			if (devices[i].run < 0)
				devices[i].run = b;
			else	/* the run beside it has them, too */
				add_set(&runs[b].near, &devices[i].near);
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

/* On a cluster its manager binds runs: the processors of its nodes are not known here. */
void bind_runs(const struct snapshot *s, struct decision *d)
{
	bool any_wants = false;

	if (s->devices.count > 0 && s->devices.items[0].node[0])
		return;
	list_runs(s, d);
	for (int b = 0; b < d->n_bindings; b++)
		any_wants |= d->bindings[b].share.wanted > 0;
	if (any_wants)
		share_cores(s, d);
}

/* --- what comes of it --- */

void copy_cores(const struct decision *d, int j, char *text, size_t size)
{
	*text = '\0';
	for (int b = 0; b < d->n_bindings; b++)
		if (d->bindings[b].candidate == j)
			snprintf(text, size, "%s", d->bindings[b].cores);
}

void add_bindings(const struct decision *d, struct actions *p)
{
	for (int b = 0; b < d->n_bindings; b++) {
		const struct binding *is = &d->bindings[b];

		if (is->run && strcmp(is->run->cores, is->cores) != 0)
			actions_add(p, ACTION_BIND, is->run->job_id, is->run, is->cores);
	}
}
