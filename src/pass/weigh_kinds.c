/* weigh_kinds.c - what a candidate makes of each kind of device: by what was measured there, or
 * else on another kind. */
#include <math.h>
#include <string.h>

#include "job_plans.h"
#include "nodes.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "tiers.h"

/* --- from one kind to another --- */

static const struct device_measurement_list *speeds_of(const struct snapshot *s, const char *kind)
{
	static const struct device_measurement_list none;

	for (int i = 0; i < s->n_speeds; i++)
		if (!strcmp(s->speeds[i].kind, kind))
			return &s->speeds[i].list;
	return &none;
}

struct fit_expectation step_time_ratio(const struct snapshot *s, const struct workload *from,
				       const char *to, const struct workload *on_to)
{
	static const struct observation_list none;
	struct kind_times own = { on_to ? &on_to->k.seen : &none, &from->k.seen };
	struct kind_times others[EXECUTION_PLANS_MAX];
	int n = workloads_other_plans(&s->workloads, from, to, others);

	return kind_ratio_of_plan(&own, others, n,
				  device_measurement_quotient(speeds_of(s, to),
							      speeds_of(s, from->kind)));
}

/* On less memory, local batches are smaller by as much than those that fitted. */
static void scale_memory(double part, struct job_model *m)
{
	double fitted = (double)m->goodput.batch.max_local / KNOWLEDGE_GROWTH;

	if (!(part < 1) || m->goodput.batch.max_local <= 0)
		return;
	m->goodput.batch.max_local = fitted * part >= 1 ? (int64_t)(fitted * part) : 1;
}

/* Takes it that a size needs as much memory on this kind of device, which may have less, as it
 * needs on the kind where it was measured. */
static void move_memory(const struct decision *d, const struct kind_origin *origin, int kind,
			struct job_model *m)
{
	int from = kind_named(d, origin->from->kind);
	double to_bytes = (double)d->kinds[kind].memory_bytes;

	m->peaks_elsewhere = true;
	if (!m->needs.shared)
		m->needs.limit_bytes = MEMORY_MODEL_DEVICE_PART * to_bytes;
	if (!m->needs.known && from >= 0 && d->kinds[from].memory_bytes > 0)
		scale_memory(to_bytes / (double)d->kinds[from].memory_bytes, m);
}

/* The model of the origin, moved to a kind; what is known of sizes on the kind itself stays. */
static struct job_model model_moved(const struct snapshot *s, const struct decision *d,
				    const struct kind_origin *origin, int kind)
{
	const char *to = d->kinds[kind].name;
	const struct workload *w = workloads_find(&s->workloads, origin->name, to);
	struct job_model m = *origin->model;

	m.goodput.residuals = NULL;
	m.memory = (struct memory_bounds){ .shared = origin->model->memory.shared };
	m.failed = (struct failed_sizes){ 0 };
	if (w) {
		m.memory = w->k.memory;
		m.failed = w->k.failed;
	}
	if (!origin->from)
		return m;
	throughput_scale(&m.goodput.params, step_time_ratio(s, origin->from, to, w).value);
	move_memory(d, origin, kind, &m);
	return m;
}

/* Until a workload has run on several devices of a kind, its synchronisation there is that of the
 * first kind where it did, scaled by the ratio of the step times. */
static void expect_sync(const struct snapshot *s, const struct workload *w, struct job_model *m)
{
	for (int i = 0; i < s->workloads.count && w->k.model.max_replicas < 2; i++) {
		const struct workload *other = &s->workloads.items[i];

		if (!other->k.modelled || other->k.model.max_replicas < 2 ||
		    strcmp(other->name, w->name) != 0)
			continue;
		kind_ratio_fill_sync(&m->goodput.params, &w->k.model.fit, &other->k.model.fit,
				     step_time_ratio(s, other, w->kind, w).value);
		return;
	}
}

/* --- tables --- */

bool model_on_kind(const struct snapshot *s, const struct decision *d, int j,
		   const struct kind_origin *origin, int kind, struct job_model *m)
{
	const char *name = d->kinds[kind].name;
	struct workload *w = name ? workloads_find(&s->workloads, origin->name, name) : NULL;
	bool measured = w && w->measured;

	if (!name) {
		*m = *origin->model;
		return true;
	}
	if (measured)
		knowledge_of_job(&w->k, d->candidates[j].job, m);
	if (!measured || !m->known)
		*m = model_moved(s, d, origin, kind);
	else
		expect_sync(s, w, m);
	raise_least(d, j, m);
	tiers_tell_model(d, name, m);
	return measured;
}

void keep_least(struct goodput_table *t, int least, int n_devices)
{
	bool found = false;

	for (int r = least; r <= n_devices; r++) {
		if (found)
			t->goodput[r] = (double)NAN;
		found = found || t->goodput[r] > 0;
	}
}

/* What another candidate with this model makes of the kind; NULL: there is none. Most of a hundred
 * jobs of one workload share a table. */
static const struct kind_view *same_view(const struct decision *d, int j, int kind)
{
	const struct job_model *m = &d->candidates[j].on_kind[kind].model;

	for (int i = 0; i < j; i++) {
		const struct candidate *other = &d->candidates[i];
		const struct kind_view *v = other->on_kind ? &other->on_kind[kind] : NULL;

		if (v && v->owns_table && !other->plans && job_model_equal(&v->model, m))
			return v;
	}
	return NULL;
}

static void set_view(const struct snapshot *s, struct decision *d, int j, int kind)
{
	struct candidate *c = &d->candidates[j];
	struct kind_origin origin = { c->job->declared.workload, c->workload, &c->model };
	struct kind_view *v = &c->on_kind[kind];
	int n = most_devices(d);
	const struct kind_view *same;
	bool measured;

	v->model = c->model;
	/* a run goes on where it is, also on a kind from which the job is barred since */
	if (d->sched_jobs[j].offers[kind].barred && !(c->run && d->sched_jobs[j].kind == kind))
		return;
	measured = model_on_kind(s, d, j, &origin, kind, &v->model);
	same = same_view(d, j, kind);
	v->owns_table = !same;
	v->table = same ? same->table : table_on_nodes(d, &v->model, d->kinds[kind].name, n);
	if (!same && !measured)
		keep_least(v->table, v->model.min_replicas, n);
}

/* What a candidate makes of any kind, where nothing is known of it, or where none of its plans is
 * known to fit; NULL: that differs by kind. */
static struct goodput_table *table_of_any(const struct decision *d, const struct candidate *c)
{
	int n = most_devices(d);
	struct goodput_table *table;

	if (c->model.known)
		return c->plans ? table_on_nodes(d, &c->model, c->workload->kind, n) : NULL;
	table = goodput_table_assumed(n);
	divide_by_plan(c, table, n);
	return table;
}

/* The kind of its run, or where it was measured; or else the first that it may have. */
static int home_of(const struct decision *d, const struct candidate *c)
{
	const struct run *run = run_of(c);
	const char *kind = run ? run->devices[0].kind : c->workload ? c->workload->kind : NULL;
	int home = kind ? kind_named(d, kind) : -1;

	for (int k = 0; k < d->n_kinds && (home < 0 || !c->on_kind[home].table); k++)
		if (c->on_kind[k].table)
			home = k;
	return home < 0 ? 0 : home;
}

void weigh_on_kinds(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct goodput_table *any = table_of_any(d, c);

	c->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*c->on_kind));
	for (int k = 0; k < d->n_kinds; k++)
		if (any)
			c->on_kind[k] = (struct kind_view){
				.model = c->model, .table = any, .owns_table = k == 0,
			};
		else
			set_view(s, d, j, k);
	c->home = home_of(d, c);
}

void offer_tables(const struct decision *d, const struct candidate *c, struct sched_job *job)
{
	int n = most_devices(d);

	for (int k = 0; k < d->n_kinds; k++) {
		const struct goodput_table *table = c->on_kind[k].table;

		job->offers[k].n = job->max_replicas < n ? job->max_replicas : n;
		if (table && (table->assumed || !job->offers[k].barred))
			job->offers[k].goodput[0] = table->goodput;
	}
	if (job->replicas == 0)
		job->kind = c->home;
}
