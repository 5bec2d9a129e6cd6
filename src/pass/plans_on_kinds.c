/* plans_on_kinds.c - what a candidate makes of its plans on each kind of device: see
 * job_plans.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "nodes.h"
#include "pollux/mem.h"

static bool is_barred(const struct decision *d, int j, int kind)
{
	return d->sched_jobs[j].offers[kind].barred;
}

static void weigh_plan_on(const struct snapshot *s, struct decision *d, int j, int i, int kind)
{
	const struct candidate *c = &d->candidates[j];
	struct plan_view *v = &c->plans->views[i];
	struct kind_view *there = &v->on_kind[kind];
	struct kind_origin origin = { v->workload, v->known, &v->model };
	const char *name = d->kinds[kind].name;

	there->model = v->model;
	if (!v->known)
		return;
	model_on_kind(s, d, j, &origin, kind, &there->model);
	if (!there->model.known || !v->allowed || is_barred(d, j, kind))
		return;
	there->table = plan_table(d, &there->model, plan_at(c->plans, i), name);
	if (name && !workloads_any_plan(&s->workloads, v->workload, name))
		keep_least(there->table, there->model.min_replicas, d->n_usable + d->n_elsewhere);
}

/* --- where no measured plan fits --- */

/* The plan to be tried on a kind: the first that was measured nowhere and did not run out of memory
 * there; -1: none. */
static int untried_plan(const struct job_plans *p, int kind)
{
	for (int i = 0; i < p->declared.count; i++)
		if (p->views[i].allowed && !p->views[i].known &&
		    !(p->views[i].ran_out_on >> kind & 1))
			return i;
	return -1;
}

/* The best configuration of a plan on r devices of a kind, if memory were no matter. */
static bool best_without_limits(const struct plan_view *v, int kind, int r,
				struct goodput_choice *choice)
{
	struct job_model m = v->on_kind[kind].model;

	m.memory = (struct memory_bounds){ .shared = m.memory.shared };
	m.failed = (struct failed_sizes){ 0 };
	m.needs = (struct memory_model){ .shared = m.needs.shared };
	m.n_peaks = 0;
	return m.known && job_model_best(&m, r, choice);
}

/* A table of the plan to be tried on the least number of devices. The plan is expected to be as
 * much slower than a measured one as its name tells. NULL: there is none to be tried. */
static struct goodput_table *expect_untried(const struct decision *d, const struct candidate *c,
					    int kind)
{
	const struct job_plans *p = c->plans;
	int n = d->n_usable + d->n_elsewhere, plan = untried_plan(p, kind), r;
	struct goodput_table *t;
	bool ignored;

	if (plan < 0)
		return NULL;
	r = c->job->declared.min_replicas + plan_at(p, plan)->width - 1;
	r -= r % plan_at(p, plan)->width;
	t = goodput_table_assumed(n);
	t->assumed = false;
	for (int k = 1; k <= n; k++)
		t->goodput[k] = (double)NAN;
	for (int i = 0; i < p->declared.count && r <= n; i++) {
		double slower = plan_usual_time(plan_at(p, plan)->name, &ignored) /
				plan_usual_time(plan_at(p, i)->name, &ignored);

		if (!best_without_limits(&p->views[i], kind, r, &t->best[r]))
			continue;
		t->goodput[r] = t->best[r].goodput /= slower;
		memcpy(t->best[r].configuration.plan, plan_at(p, plan)->name,
		       sizeof(t->best[r].configuration.plan));
		return t;
	}
	goodput_table_free(t);
	return NULL;
}

/* --- the job's kind --- */

static int measured_plans(const struct snapshot *s, const struct job_plans *p, const char *kind)
{
	int n = 0;

	for (int i = 0; kind && i < p->declared.count; i++) {
		const struct workload *w = workloads_find(&s->workloads, p->views[i].workload,
							  kind);

		n += w && w->measured;
	}
	return n;
}

static int find_home(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	int home = -1, most = -1;

	if (c->run && c->on_kind[d->sched_jobs[j].kind].table)
		return d->sched_jobs[j].kind;
	for (int k = 0; k < d->n_kinds; k++) {
		int n = measured_plans(s, c->plans, d->kinds[k].name);

		if (!c->on_kind[k].table || n <= most)
			continue;
		home = k;
		most = n;
	}
	return home;
}

int weigh_plans_on_kinds(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct job_plans *p = c->plans;
	int home;

	c->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*c->on_kind));
	p->n_kinds = d->n_kinds;
	for (int i = 0; i < p->declared.count; i++) {
		p->views[i].on_kind = xcalloc((size_t)d->n_kinds, sizeof(struct kind_view));
		for (int k = 0; k < d->n_kinds; k++)
			weigh_plan_on(s, d, j, i, k);
	}
	for (int k = 0; k < d->n_kinds; k++) {
		c->on_kind[k].table = is_barred(d, j, k) ? NULL : compare_plans(d, c, k);
		c->on_kind[k].owns_table = true;
	}
	home = find_home(s, d, j);
	for (int k = 0; home >= 0 && k < d->n_kinds; k++)
		if (!c->on_kind[k].table && !is_barred(d, j, k))
			c->on_kind[k].table = expect_untried(d, c, k);
	for (int i = 0; i < p->declared.count; i++) {
		p->views[i].model = p->views[i].on_kind[home < 0 ? 0 : home].model;
		p->views[i].table = p->views[i].on_kind[home < 0 ? 0 : home].table;
	}
	if (home >= 0)
		return home;
	free(c->on_kind);
	c->on_kind = NULL;
	return -1;
}

const struct goodput_table *plan_table_there(const struct decision *d, const struct candidate *c,
					     int plan)
{
	const struct plan_view *v = &c->plans->views[plan];

	return v->on_kind ? v->on_kind[d->choices[c - d->candidates].kind].table : v->table;
}

const struct job_model *plan_model_there(const struct decision *d, const struct candidate *c,
					 int plan)
{
	const struct plan_view *v = &c->plans->views[plan];

	return v->on_kind ? &v->on_kind[d->choices[c - d->candidates].kind].model : &v->model;
}
