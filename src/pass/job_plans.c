/* job_plans.c - see job_plans.h. */
#include "job_plans.h"
#include "nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "tiers.h"

/* --- memory --- */

static bool ran_out_on(const struct snapshot *s, const struct job *job, const char *plan,
		       const char *kind)
{
	for (int i = 0; i < s->ran_out.count; i++) {
		const struct ran_out *r = &s->ran_out.items[i];

		if (r->job_id == job->id && !strcmp(r->plan, plan) && !strcmp(r->kind, kind))
			return true;
	}
	return false;
}

/* True if the plan ran out of memory on this kind, with the sizes of the submission or smaller
 * ones, and nothing else is known to fit. */
static bool is_too_large(const struct snapshot *s, const struct candidate *c, int i,
			 const char *kind)
{
	const struct declaration *declared = &c->job->declared;
	const struct plan_view *v = &c->plans->views[i];
	struct workload *w = workloads_find(&s->workloads, v->workload, kind);
	int width = plan_at(c->plans, i)->width;
	int devices = (declared->min_replicas + width - 1) / width * width, r = devices / width;
	struct configuration submitted;
	struct goodput_choice best;
	struct job_model m;
	int64_t too_large;

	if (declared->batch_size == 0)
		return ran_out_on(s, c->job, plan_at(c->plans, i)->name, kind);
	too_large = w ? sizes_too_large(&w->k.memory, &w->k.failed, r) : 0;
	/* A run may have worked for a while before its memory ran out. Then its sizes are not known
	 * to be too large. */
	if (too_large == 0 && ran_out_on(s, c->job, plan_at(c->plans, i)->name, kind))
		return true;
	if (!w)
		return false;
	if (w->measured) {
		knowledge_of_job(&w->k, c->job, &m);
		if (m.known)
			return !job_model_best(&m, devices, &best) ||
			       !job_model_fits(&m, &best.configuration);
	}
	submitted = configuration_spread(declared->batch_size, r, declared->max_local_batch_size,
					 declared->min_batch_size, declared->max_batch_size);
	return too_large > 0 && submitted.local_batch_size >= too_large;
}

static bool is_too_large_everywhere(const struct snapshot *s, const struct decision *d,
				    const struct candidate *c, int i)
{
	bool any = false;

	for (int k = 0; k < s->devices.count; k++) {
		const char *kind = s->devices.items[k].kind;

		if (!d->usable[k] || !declaration_wants_kind(&c->job->declared, kind))
			continue;
		any = true;
		if (!is_too_large(s, c, i, kind))
			return false;
	}
	return any;
}

bool plan_is_left(const struct snapshot *s, const struct candidate *c, const char *kind)
{
	for (int i = 0; i < c->plans->declared.count; i++)
		if (c->plans->views[i].allowed && !is_too_large(s, c, i, kind))
			return true;
	return false;
}

bool has_other_plan(const struct candidate *c, const char *plan)
{
	for (int i = 0; c->plans && i < c->plans->declared.count; i++)
		if (c->plans->views[i].allowed && !c->plans->views[i].ran_out &&
		    strcmp(plan_at(c->plans, i)->name, plan) != 0)
			return true;
	return false;
}

/* --- which plans --- */

/* A job that has made progress under a plan stays in the group of that plan. */
static bool is_allowed(const struct candidate *c, const struct execution_plan *plan)
{
	const struct run *run = c->run ? c->run : c->suspended;
	const char *last = run && isfinite(run->first_step_s) ? run->configuration.plan
							      : c->job->progress.plan;
	const struct execution_plan *had = execution_plans_find(&c->plans->declared, last);

	return !had || execution_plans_share(had, plan);
}

static const struct configuration *newest_ran_out(const struct snapshot *s,
						  const struct plan_view *v, const char *kind)
{
	const struct workload *w = workloads_find(&s->workloads, v->workload, kind);

	return w && w->k.memory.n_ran_out > 0 ? &w->k.memory.ran_out[0].configuration : NULL;
}

static struct job_plans *plans_of(const struct snapshot *s, const struct decision *d,
				  struct candidate *c)
{
	const struct declaration *declared = &c->job->declared;
	struct job_plans *p = xcalloc(1, sizeof(*p));
	struct err ignored;

	c->plans = p;
	if (execution_plans_parse(declared->plans, &p->declared, &ignored)) {
		free(p);
		return NULL;
	}
	p->views = xcalloc((size_t)p->declared.count, sizeof(*p->views));
	for (int i = 0; i < p->declared.count; i++) {
		const struct execution_plan *plan = plan_at(p, i);
		struct plan_view *v = &p->views[i];

		v->workload = execution_plan_workload(declared->workload, plan->name, plan->hash);
		v->allowed = is_allowed(c, plan);
		v->ran_out = is_too_large_everywhere(s, d, c, i);
		for (int k = 0; k < d->n_kinds; k++)
			if (d->kinds[k].name ? is_too_large(s, c, i, d->kinds[k].name) : v->ran_out)
				v->ran_out_on |= 1U << k;
		v->known_to_fail = v->ran_out && declared->batch_size > 0;
		for (int k = 0; k < s->devices.count && !v->too_large; k++)
			v->too_large = newest_ran_out(s, v, s->devices.items[k].kind);
	}
	p->trial = plan_to_try(p, 0);
	return p;
}

void find_plans(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].job->declared.plans) {
			d->candidates[j].plans = plans_of(s, d, &d->candidates[j]);
			if (!s->policy->models_goodput)
				plan_set_bounds(d, j, false);
		}
}

void job_plans_free(struct job_plans *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->declared.count; i++) {
		for (int k = 0; p->views[i].on_kind && k < p->n_kinds; k++)
			goodput_table_free(p->views[i].on_kind[k].table);
		free(p->views[i].on_kind);
		free(p->views[i].workload);
	}
	free(p->views);
	execution_plans_release(&p->declared);
	free(p);
}

/* --- what they are worth --- */

struct goodput_table *plan_table(const struct decision *d, const struct job_model *m,
				 const struct execution_plan *plan, const char *kind)
{
	int n = d->n_usable + d->n_elsewhere;
	struct goodput_table *t = table_on_nodes(d, m, kind, n);

	for (int r = 1; r <= n; r++) {
		struct configuration *c = &t->best[r].configuration;

		if (!job_model_fits(m, c))
			t->goodput[r] = (double)NAN;
		memcpy(c->plan, plan->name, sizeof(c->plan));
	}
	return t;
}

static void make_model(const struct snapshot *s, const struct decision *d, struct candidate *c,
		       int i)
{
	const struct run *run = c->run ? c->run : c->suspended;
	struct plan_view *v = &c->plans->views[i];
	struct knowledge nothing = knowledge_of_nothing();
	struct workload *w = workloads_measured(&s->workloads, v->workload,
						run ? run->devices[0].kind : NULL);

	v->known = w;
	knowledge_of_job(w ? &w->k : &nothing, c->job, &v->model);
	raise_least(d, (int)(c - d->candidates), &v->model);
	tiers_tell_model(d, w ? w->kind : NULL, &v->model);
}

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
	int n = d->n_usable + d->n_elsewhere;

	for (int r = job->min_replicas; r <= n && r <= job->max_replicas; r++)
		if (t->goodput[r] > 0)
			return job_plan_index(c->plans, t->best[r].configuration.plan);
	return -1;
}

struct goodput_table *compare_plans(const struct decision *d, const struct candidate *c, int kind)
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
	best = goodput_table_best_of(tables, n_tables, d->n_usable + d->n_elsewhere);
	if (first_plan(d, c, best) >= 0)
		return best;
	goodput_table_free(best);
	return NULL;
}

void weigh_plans(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct job_plans *p = c->plans;
	int first, home, own = c->run ? job_plan_index(p, c->run->configuration.plan) : -1;

	for (int i = 0; i < p->declared.count; i++)
		make_model(s, d, c, i);
	home = weigh_plans_on_kinds(s, d, j);
	if (home >= 0) {
		c->home = home;
		p->trial = -1;
		first = own >= 0 && p->views[own].table ? own : first_plan(d, c, own_table(c));
	} else {
		first = p->trial;
		plan_set_bounds(d, j, true);
	}
	c->workload = p->views[first].known;
	c->model = p->views[first].model;
}

int plan_index(const struct candidate *c, const char *name)
{
	return *name ? job_plan_index(c->plans, name) : 0;
}

void prefer_plan(const struct decision *d, struct candidate *c, int kind, int plan, double goodput)
{
	const struct plan_view *v = &c->plans->views[plan];
	const struct goodput_table *t = v->on_kind[kind].table;
	struct goodput_table *best = c->on_kind[kind].table;

	for (int r = 1; r <= d->n_usable + d->n_elsewhere; r++)
		if (t->goodput[r] >= goodput && !(best->goodput[r] >= goodput)) {
			best->goodput[r] = t->goodput[r];
			best->best[r] = t->best[r];
		}
}

void try_plan(struct candidate *c, int plan)
{
	c->plans->trial = plan;
	c->workload = c->plans->views[plan].known;
	c->model = c->plans->views[plan].model;
}

/* True if the row of the table is for such devices: those of the best tier, on the fewest nodes. */
static bool is_in_table(const struct goodput_table *t, struct throughput_place place)
{
	const struct configuration *row = &t->best[place.replicas].configuration;

	return place.nodes <= row->nodes &&
	       (place.tier == TIER_UNKNOWN || place.tier == row->tier);
}

double plan_goodput_at(const struct job_plans *p, int plan, int kind, struct throughput_place place)
{
	const struct plan_view *v = &p->views[plan];
	bool by_kind = kind >= 0 && v->on_kind;
	const struct goodput_table *t = by_kind ? v->on_kind[kind].table : v->table;
	const struct job_model *m = by_kind ? &v->on_kind[kind].model : &v->model;
	int r = place.replicas;
	struct goodput_choice there;

	if (!t || !(t->goodput[r] > 0))
		return (double)NAN;
	if (is_in_table(t, place))
		return t->goodput[r];
	return job_model_best_at(m, place, &there) && job_model_fits(m, &there.configuration)
		? there.goodput : (double)NAN;
}

int best_plan_at(const struct candidate *c, int kind, struct throughput_place place)
{
	const struct goodput_table *t = kind >= 0 && c->on_kind ? c->on_kind[kind].table
								: own_table(c);
	const struct job_plans *p = c->plans;
	double most = 0;
	int best = -1;

	if (!t)
		return -1;
	if (is_in_table(t, place))
		return job_plan_index(p, t->best[place.replicas].configuration.plan);
	for (int i = 0; i < p->declared.count; i++)
		if (plan_goodput_at(p, i, kind, place) > most) {
			best = i;
			most = plan_goodput_at(p, i, kind, place);
		}
	return best;
}

double plan_goodput_now(const struct decision *d, const struct candidate *c)
{
	const struct configuration *now = &c->run->configuration;
	struct throughput_place place = throughput_place_on(now->nodes, now->replicas);
	int own = job_plan_index(c->plans, now->plan);

	place.tier = now->tier;
	/* where devices went away, a run may hold more than the tables have rows for */
	if (own < 0 || place.replicas > d->n_usable + d->n_elsewhere || c->plans->trial >= 0 ||
	    !c->plans->views[own].table || best_plan_at(c, -1, place) == own)
		return (double)NAN;
	return plan_goodput_at(c->plans, own, -1, place);
}
