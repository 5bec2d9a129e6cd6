/* outlook.c - see outlook.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/outlook.h"
#include "stages.h"

struct outlook_owned {
	struct snapshot snapshot;
	struct decision *decision;
};

static enum outlook_bar why_barred(const struct candidate *c, const struct device_kind *kind, int k)
{
	if (!declaration_wants_kind(&c->job->declared, kind->name))
		return BAR_NOT_ASKED_FOR;
	return c->too_small >> k & 1 ? BAR_TOO_SMALL : BAR_RUN_STAYS;
}

/* Tells if the workload, or the plan that is best on the fewest devices, was measured there. */
static void tell_origin(const struct outlook *o, int k, struct outlook_kind *kind)
{
	const struct snapshot *s = &o->owned->snapshot;
	const struct candidate *c = &o->owned->decision->candidates[0];
	const struct workload *from = c->workload, *there;
	int r = o->min_replicas;

	if (!kind->name || !kind->table || kind->table->assumed)
		return;
	if (c->plans) {
		int plan;

		while (r < o->rows && !(outlook_offer(kind, r) > 0))
			r++;
		if (r > o->rows)
			return;
		plan = job_plan_index(c->plans, kind->table->best[r].configuration.plan);
		from = plan >= 0 ? c->plans->views[plan].known : NULL;
	}
	there = from ? workloads_find(&s->workloads, from->name, kind->name) : NULL;
	kind->expected = !there || !there->measured;
	if (!kind->expected || !from || !strcmp(from->kind, kind->name))
		return;
	kind->from = from->kind;
	kind->ratio = step_time_ratio(s, from, o->owned->decision->kinds[k].name, there);
}

static void tell_kind(struct outlook *o, int k)
{
	const struct decision *d = o->owned->decision;
	const struct candidate *c = &d->candidates[0];
	struct outlook_kind *kind = &o->kinds[k];

	*kind = (struct outlook_kind){
		.name = d->kinds[k].name, .n_devices = d->kinds[k].n,
		.best_tier = &d->tiers->best[(size_t)k * (size_t)d->tiers->n_best],
		.nodes = d->kinds[k].nodes,
	};
	kind->offers = &d->sched_jobs[0].offers[k];
	if (c->on_kind && kind->offers->goodput[0])
		kind->table = c->on_kind[k].table;
	else if (kind->name && kind->offers->barred)
		kind->barred = why_barred(c, &d->kinds[k], k);
	tell_origin(o, k, kind);
}

static void tell_plans(struct outlook *o)
{
	const struct job_plans *p = o->owned->decision->candidates[0].plans;
	const char *kind = o->kinds[o->shown].name;

	o->n_plans = p ? p->declared.count : 0;
	o->plans = xcalloc((size_t)o->n_plans + 1, sizeof(*o->plans));
	for (int i = 0; i < o->n_plans; i++) {
		const struct plan_view *v = &p->views[i];
		const struct workload *tried = workloads_find(&o->owned->snapshot.workloads,
							      v->workload,
							      kind ? kind : o->device_kind);

		o->plans[i] = (struct outlook_plan){
			.name = plan_at(p, i)->name, .width = plan_at(p, i)->width,
			.workload = v->workload, .known = v->known ? &v->known->k : NULL,
			.tried = tried ? &tried->k : NULL, .allowed = v->allowed,
			.model = &v->on_kind[o->shown].model,
			.table = v->on_kind[o->shown].table,
		};
	}
}

static void tell(const char *kind, struct outlook *o)
{
	const struct snapshot *s = &o->owned->snapshot;
	const struct decision *d = o->owned->decision;
	const struct candidate *c = &d->candidates[0];

	for (int i = s->devices.count - 1; i >= 0; i--)
		if (s->devices.items[i].usable)
			memcpy(o->device_kind, s->devices.items[i].kind, sizeof(o->device_kind));
	o->n_kinds = d->n_kinds;
	o->rows = most_devices(d);
	o->min_replicas = d->sched_jobs[0].min_replicas;
	o->max_replicas = d->sched_jobs[0].max_replicas;
	o->guaranteed = c->guarantee ? c->guarantee->needs : 0;
	o->workload = c->workload;
	o->shown = kind ? kind_named(d, kind) : -1;
	if (o->shown < 0)
		o->shown = c->home;
	for (int k = 0; k < d->n_kinds; k++)
		tell_kind(o, k);
	o->model = c->on_kind && c->on_kind[o->shown].model.known ? c->on_kind[o->shown].model
								    : c->model;
	tell_plans(o);
}

int outlook_read(struct session *s, const struct config *config, const struct outlook_query *query,
		 struct outlook *o, struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };

	*o = (struct outlook){ .owned = xcalloc(1, sizeof(*o->owned)) };
	if (pass_read_job(&at, config, query->job_id, query->kind, &o->owned->snapshot, err)) {
		outlook_release(o);
		return -1;
	}
	o->owned->decision = pass_weigh(&o->owned->snapshot, query->least_devices);
	tell(query->kind, o);
	return 0;
}

void outlook_release(struct outlook *o)
{
	if (o->owned) {
		decision_free(o->owned->decision);
		snapshot_release(&o->owned->snapshot);
	}
	free(o->owned);
	free(o->plans);
	*o = (struct outlook){ .n_kinds = 0 };
}

/* --- the devices of the last pass --- */

/* A line for each kind: the sizes of its nodes, the memory of a device, its cores, the id of the
 * first, and the kind, with tabs between. */
void outlook_describe_devices(const struct snapshot *s, const struct decision *d, struct text *t)
{
	for (int k = 0; s->jobs.count > 0 && k < d->n_kinds; k++) {
		struct node_sizes one = { &d->kinds[k].n, 1 };
		int i = 0;

		while (i < s->devices.count && !(d->usable[i] && d->kind_of[i] == k))
			i++;
		if (i == s->devices.count)
			continue;
		node_sizes_print(d->kinds[k].nodes.n ? &d->kinds[k].nodes : &one, t);
		text_addf(t, "\t%lld\t%d\t%s\t%s\n", (long long)s->devices.items[i].memory_bytes,
			  s->devices.items[i].cores, s->devices.items[i].id,
			  s->devices.items[i].kind);
	}
}

/* Appends devices like this one. A kind that is on one node shares the node with other kinds. */
static void append_nodes(const struct node_sizes *nodes, const struct device *device, int line,
			 struct device_list *list)
{
	for (int node = 0; node < nodes->n; node++)
		for (int i = 0; i < nodes->devices[node]; i++) {
			struct device *added = devices_append(list);

			*added = *device;
			if (nodes->n > 1)
				snprintf(added->node, sizeof(added->node), "%d.%d", line, node);
			else
				snprintf(added->node, sizeof(added->node), "0");
		}
}

/* Changes the line. False: the line is malformed. */
static bool append_line(char *text, int line, struct device_list *list)
{
	struct device device = { .usable = true };
	char *fields[5], *rest = NULL;
	struct node_sizes nodes;
	int *of_nodes;

	for (int i = 0; i < 5; i++, text = NULL)
		if (!(fields[i] = strtok_r(text, "\t", &rest)))
			return false;
	device.memory_bytes = strtoll(fields[1], NULL, 10);
	device.cores = (int)strtol(fields[2], NULL, 10);
	snprintf(device.id, sizeof(device.id), "%s", fields[3]);
	snprintf(device.kind, sizeof(device.kind), "%s", fields[4]);
	of_nodes = node_sizes_parse(fields[0], &nodes);
	if (of_nodes)
		append_nodes(&nodes, &device, line, list);
	free(of_nodes);
	return of_nodes != NULL;
}

int outlook_read_devices(struct store *store, struct device_list *list, struct err *err)
{
	char *text, *rest = NULL;
	int line = 0;

	if (store_setting_get(store, DEVICES_SETTING, &text, err))
		return -1;
	for (char *p = text ? strtok_r(text, "\n", &rest) : NULL; p && append_line(p, line++, list);
	     p = strtok_r(NULL, "\n", &rest))
		;
	free(text);
	return 0;
}

/* --- all jobs --- */

/* The device-seconds that a run still takes by its last step time; NaN: not known. */
static double left_device_s(const struct job *job, const struct run *run)
{
	double batch_size = (double)configuration_batch_size(&run->configuration), steps_left;

	if (job_total_samples(job) > 0)
		steps_left = (job_total_samples(job) - job->progress.samples) / batch_size;
	else
		steps_left = job_total_steps(job) - job->progress.steps;
	return steps_left > 0 ? steps_left * run->step_time_s * run->configuration.replicas
			      : (double)NAN;
}

int outlook_read_all(struct session *s, const struct config *config,
		     const struct outlook_jobs *jobs, struct outlook_input *in, struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	struct decision *d;

	*in = (struct outlook_input){ .owned = xcalloc(1, sizeof(*in->owned)) };
	if (pass_read_jobs(&at, config, jobs, &in->owned->snapshot, err)) {
		outlook_input_release(in);
		return -1;
	}
	if (in->owned->snapshot.devices.count == 0 || jobs->jobs.count == 0)
		return 0;
	d = in->owned->decision = pass_weigh(&in->owned->snapshot, 0);
	for (int j = 0; j < d->n; j++) {
		const struct job *job = d->candidates[j].job;
		const struct run *run = run_of(&d->candidates[j]);

		d->sched_jobs[j].adapts = job->declared.batch.max > job->declared.batch.size;
		d->sched_jobs[j].tells_its_work = job_total_samples(job) > 0 ||
						  job_total_steps(job) > 0;
		if (!run)
			continue;
		/* what a restart delays is counted from the launch */
		d->sched_jobs[j].launched_s = run->launch_boot_s;
		/* before there is a model */
		if (isnan(d->sched_jobs[j].remaining_samples) && d->sched_jobs[j].tells_its_work)
			d->sched_jobs[j].remaining_device_s = left_device_s(job, run);
	}
	in->input = d->input;
	in->input.n_jobs = d->n;
	return 0;
}

void outlook_input_release(struct outlook_input *in)
{
	if (in->owned) {
		struct snapshot *s = &in->owned->snapshot;

		decision_free(in->owned->decision);
		s->jobs = (struct job_list){ 0 };	/* the caller's */
		s->runs = (struct run_list){ 0 };
		snapshot_release(s);
	}
	free(in->owned);
	*in = (struct outlook_input){ .owned = NULL };
}
