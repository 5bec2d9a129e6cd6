/* weigh_plans.c - what a candidate makes of its plans on each kind of device: see job_plans.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "nodes.h"
#include "pollux/mem.h"
#include "tiers.h"

static bool is_barred(const struct decision *d, int j, int kind)
{
	return d->sched_jobs[j].offers[kind].barred;
}

/* --- a plan --- */

/* The goodput of a plan by number of devices; NaN where it does not fit. */
static struct goodput_table *plan_table(const struct decision *d, const struct job_model *m,
				 const struct execution_plan *plan, const char *kind)
{
	int n = most_devices(d);
	struct goodput_table *t = table_on_nodes(d, m, kind, n);

	for (int r = 1; r <= n; r++) {
		struct configuration *c = &t->best[r].configuration;

		if (!job_model_fits(m, c))
			t->goodput[r] = (double)NAN;
		memcpy(c->plan, plan->name, sizeof(c->plan));
	}
	return t;
}

/* Sets what the plan is on each kind, made from the kind where it was measured. */
static void weigh_plan(const struct snapshot *s, struct decision *d, int j, int i)
{
	const struct candidate *c = &d->candidates[j];
	const struct run *run = run_of(c);
	struct plan_view *v = &c->plans->views[i];
	struct knowledge nothing = knowledge_of_nothing();
	struct workload *w = workloads_measured(&s->workloads, v->workload,
						run ? run->devices[0].kind : NULL);
	struct job_model model;
	struct kind_origin origin = { v->workload, w, &model };

	v->known = w;
	knowledge_of_job(w ? &w->k : &nothing, c->job, &model);
	raise_least(d, j, &model);
	tiers_tell_model(d, w ? w->kind : NULL, &model);
	for (int k = 0; k < d->n_kinds; k++) {
		struct kind_view *there = &v->on_kind[k];
		const char *name = d->kinds[k].name;

		there->model = model;
		if (!w)
			continue;
		model_on_kind(s, d, j, &origin, k, &there->model);
		if (!there->model.known || !v->allowed || is_barred(d, j, k))
			continue;
		there->table = plan_table(d, &there->model, plan_at(c->plans, i), name);
		if (name && !workloads_any_plan(&s->workloads, v->workload, name))
			keep_least(there->table, there->model.min_replicas,
				   most_devices(d));
	}
}

/* --- the best plan --- */

/* True if the plan is not known to be too large, or was predicted to be so on the fewest devices:
 * its table tells where it fits. */
static bool may_fit(const struct candidate *c, const struct plan_view *v, int kind)
{
	return !(v->ran_out_on >> kind & 1) ||
	       job_model_lacks_memory(&v->on_kind[kind].model, c->job->declared.min_replicas, NULL);
}

/* The index of the best plan on the fewest devices; -1: no plan is known to fit on any number that
 * the job may have. */
static int first_plan(const struct decision *d, const struct candidate *c,
		      const struct goodput_table *t)
{
	const struct sched_job *job = &d->sched_jobs[c - d->candidates];
	int n = most_devices(d);

	for (int r = job->min_replicas; t && r <= n && r <= job->max_replicas; r++)
		if (t->goodput[r] > 0)
			return job_plan_index(c->plans, t->best[r].configuration.plan);
	return -1;
}

/* The best plan for each number of devices of a kind. NULL: none is known to fit on any. */
static struct goodput_table *compare_plans(const struct decision *d, const struct candidate *c,
					   int kind)
{
	const struct goodput_table *tables[EXECUTION_PLANS_MAX];
	struct goodput_table *best;
	int n_tables = 0;

	for (int i = 0; i < c->plans->declared.count; i++) {
		const struct plan_view *v = &c->plans->views[i];
		const struct goodput_table *t = v->on_kind[kind].table;

		if (t && may_fit(c, v, kind))
			tables[n_tables++] = t;
	}
	if (n_tables == 0)
		return NULL;
	best = goodput_table_best_of(tables, n_tables, most_devices(d));
	if (first_plan(d, c, best) >= 0)
		return best;
	goodput_table_free(best);
	return NULL;
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
	int n = most_devices(d), plan = untried_plan(p, kind), r;
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

void weigh_plans(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct job_plans *p = c->plans;
	int own = c->run ? job_plan_index(p, c->run->configuration.plan) : -1;
	int first = p->trial, home;

	c->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*c->on_kind));
	for (int i = 0; i < p->declared.count; i++)
		weigh_plan(s, d, j, i);
	for (int k = 0; k < d->n_kinds; k++) {
		c->on_kind[k].table = is_barred(d, j, k) ? NULL : compare_plans(d, c, k);
		c->on_kind[k].owns_table = true;
	}
	home = find_home(s, d, j);
	for (int k = 0; home >= 0 && k < d->n_kinds; k++)
		if (!c->on_kind[k].table && !is_barred(d, j, k))
			c->on_kind[k].table = expect_untried(d, c, k);
	if (home >= 0) {
		c->home = home;
		p->trial = -1;
		first = own >= 0 && p->views[own].on_kind[home].table
			? own : first_plan(d, c, own_table(c));
	} else {
		free(c->on_kind);
		c->on_kind = NULL;
		plan_set_bounds(d, j, true);
	}
	run_in_plan(c, first);
}

const struct goodput_table *plan_table_there(const struct decision *d, const struct candidate *c,
					     int plan)
{
	const struct plan_view *v = &c->plans->views[plan];

	return v->on_kind[d->choices[c - d->candidates].kind].table;
}

const struct job_model *plan_model_there(const struct decision *d, const struct candidate *c,
					 int plan)
{
	const struct plan_view *v = &c->plans->views[plan];

	return &v->on_kind[d->choices[c - d->candidates].kind].model;
}
