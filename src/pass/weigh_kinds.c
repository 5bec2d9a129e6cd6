/* weigh_kinds.c - what a candidate makes of each kind of device: by what was measured there, or
 * else on another kind. */
#include <math.h>
#include <string.h>

#include "kinds.h"
#include "nodes.h"
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

/* The step time of a workload on kind `to` over its step time on the other kind, by what was
 * measured of it on both, and by 'pollux profile --devices'. on_to may be NULL. */
static double step_time_ratio(const struct snapshot *s, const struct workload *from, const char *to,
			      const struct workload *on_to)
{
	static const struct size_times none;

	return kind_ratio(on_to ? &on_to->k.sizes : &none, &from->k.sizes,
			  device_measurement_quotient(speeds_of(s, to), speeds_of(s, from->kind)))
		.value;
}

static void scale_times(struct throughput_params *p, double factor)
{
	double *times[] = { &p->alpha_grad, &p->beta_grad, &p->alpha_sync_local,
			    &p->beta_sync_local, &p->alpha_sync_node, &p->beta_sync_node };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] *= factor;
}

/* On less memory, local batches are smaller by as much than those that fitted. */
static void scale_memory(const struct job_model *from, double part, struct job_model *m)
{
	double fitted = (double)from->goodput.max_local_batch_size / KNOWLEDGE_GROWTH;

	if (!(part < 1) || from->goodput.max_local_batch_size <= 0)
		return;
	m->goodput.max_local_batch_size = fitted * part >= 1 ? (int64_t)(fitted * part) : 1;
}

/* The candidate's model, moved from the kind that it was made on; what is known of sizes on the
 * kind itself stays. */
static struct job_model model_moved(const struct snapshot *s, const struct decision *d,
				    const struct candidate *c, int kind)
{
	const struct device_kind *to = &d->kinds[kind];
	const struct workload *w = workloads_find(&s->workloads, c->job->declared.workload,
						  to->name);
	struct job_model m = c->model;

	m.goodput.residuals = NULL;
	m.memory = (struct memory_bounds){ .shared = c->model.memory.shared };
	m.failed = (struct failed_sizes){ 0 };
	if (w) {
		m.memory = w->k.memory;
		m.failed = w->k.failed;
	}
	scale_times(&m.goodput.params, step_time_ratio(s, c->workload, to->name, w));
	for (int k = 0; k < d->n_kinds; k++)
		if (!strcmp(d->kinds[k].name, c->workload->kind) && d->kinds[k].memory_bytes > 0)
			scale_memory(&c->model, (double)to->memory_bytes /
							(double)d->kinds[k].memory_bytes, &m);
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
				     step_time_ratio(s, other, w->kind, w));
		return;
	}
}

/* --- tables --- */

/* A kind on which the job never ran is tried on the least number of devices. */
static void keep_least(struct goodput_table *t, int least, int n_devices)
{
	bool found = false;

	for (int r = least; r <= n_devices; r++) {
		if (found)
			t->goodput[r] = (double)NAN;
		found = found || t->goodput[r] > 0;
	}
}

static const struct kind_view *same_view(const struct decision *d, int j, int kind)
{
	const struct job_model *m = &d->candidates[j].on_kind[kind].model;

	for (int i = 0; i < j; i++) {
		const struct kind_view *other = d->candidates[i].on_kind
			? &d->candidates[i].on_kind[kind] : NULL;

		if (other && other->owns_table && job_model_equal(&other->model, m))
			return other;
	}
	return NULL;
}

static void set_view(const struct snapshot *s, struct decision *d, int j, int kind)
{
	struct candidate *c = &d->candidates[j];
	struct kind_view *v = &c->on_kind[kind];
	int n = d->n_usable + d->n_elsewhere;
	struct workload *w = workloads_find(&s->workloads, c->job->declared.workload,
					    d->kinds[kind].name);
	bool measured = w && w->measured;
	const struct kind_view *same;

	v->model = c->model;
	if (c->table->assumed || d->sched_jobs[j].barred_kinds & 1U << kind) {
		v->table = c->table->assumed ? c->table : NULL;
		return;
	}
	if (measured)
		knowledge_of_job(&w->k, c->job, &v->model);
	if (!measured || !v->model.known)
		v->model = model_moved(s, d, c, kind);
	else
		expect_sync(s, w, &v->model);
	raise_least(d, j, &v->model);
	tiers_tell_model(d, d->kinds[kind].name, &v->model);
	same = same_view(d, j, kind);
	v->owns_table = !same;
	v->table = same ? same->table : table_on_nodes(d, &v->model, d->kinds[kind].name, n);
	if (!same && !measured)
		keep_least(v->table, v->model.min_replicas, n);
}

/* Plans are compared on the kind on which they were measured, which stands for all. */
static void expect_the_same(struct decision *d, int j)
{
	struct sched_job *job = &d->sched_jobs[j];

	for (int k = 0; k < d->n_kinds; k++)
		if (!(job->barred_kinds & 1U << k))
			job->kind_goodput[k] = d->candidates[j].table->goodput;
}

void weigh_on_kinds(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; d->n_kinds > 0 && j < d->n; j++) {
		struct candidate *c = &d->candidates[j];

		if (!c->table)
			continue;
		if (c->plans) {
			expect_the_same(d, j);
			continue;
		}
		c->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*c->on_kind));
		for (int k = 0; k < d->n_kinds; k++) {
			set_view(s, d, j, k);
			if (c->on_kind[k].table)
				d->sched_jobs[j].kind_goodput[k] = c->on_kind[k].table->goodput;
		}
	}
}
