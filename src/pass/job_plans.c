/* job_plans.c - see job_plans.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "nodes.h"
#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "snapshot.h"
#include "tiers.h"

/* --- memory --- */

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

	if (declared->batch.size == 0)
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
	submitted = configuration_spread(&declared->batch, r);
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
	const struct run *run = run_of(c);
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
		v->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*v->on_kind));
		for (int k = 0; k < d->n_kinds; k++)
			if (d->kinds[k].name ? is_too_large(s, c, i, d->kinds[k].name) : v->ran_out)
				v->ran_out_on |= 1U << k;
		v->known_to_fail = v->ran_out && declared->batch.size > 0;
		for (int k = 0; k < s->devices.count && !v->too_large; k++)
			v->too_large = newest_ran_out(s, v, s->devices.items[k].kind);
	}
	p->n_kinds = d->n_kinds;
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
		for (int k = 0; k < p->n_kinds; k++)
			goodput_table_free(p->views[i].on_kind[k].table);
		free(p->views[i].on_kind);
		free(p->views[i].workload);
	}
	free(p->views);
	execution_plans_release(&p->declared);
	free(p);
}

/* --- what they are worth --- */

int plan_index(const struct candidate *c, const char *name)
{
	return *name ? job_plan_index(c->plans, name) : 0;
}

void prefer_plan(const struct decision *d, struct candidate *c, int kind, int plan, double goodput)
{
	const struct plan_view *v = &c->plans->views[plan];
	const struct goodput_table *t = v->on_kind[kind].table;
	struct goodput_table *best = c->on_kind[kind].table;

	for (int r = 1; r <= most_devices(d); r++)
		if (t->goodput[r] >= goodput && !(best->goodput[r] >= goodput)) {
			best->goodput[r] = t->goodput[r];
			best->best[r] = t->best[r];
		}
}

void run_in_plan(struct candidate *c, int plan)
{
	c->workload = c->plans->views[plan].known;
	c->model = c->plans->views[plan].on_kind[c->home].model;
}

void try_plan(struct candidate *c, int plan)
{
	c->plans->trial = plan;
	run_in_plan(c, plan);
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
	const struct goodput_table *t = v->on_kind[kind].table;
	const struct job_model *m = &v->on_kind[kind].model;
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
	const struct goodput_table *t = c->on_kind ? c->on_kind[kind].table : NULL;
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
	if (own < 0 || place.replicas > most_devices(d) || c->plans->trial >= 0 ||
	    !c->plans->views[own].on_kind[c->home].table ||
	    best_plan_at(c, c->home, place) == own)
		return (double)NAN;
	return plan_goodput_at(c->plans, own, c->home, place);
}

/* --- before the decision --- */

bool names_contain(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

void name_plans(const struct declaration *declared, struct strings *names)
{
	struct execution_plans plans;
	struct err ignored;

	if (execution_plans_parse(declared->plans, &plans, &ignored))
		return;
	for (int i = 0; i < plans.count; i++) {
		char *name = execution_plan_workload(declared->workload, plans.items[i].name,
						     plans.items[i].hash);

		if (!names_contain(names, name))
			strings_add(names, name);
		free(name);
	}
	execution_plans_release(&plans);
}

void limit_plans(struct snapshot *s)
{
	for (int i = 0; i < s->workloads.count; i++) {
		struct workload *w = &s->workloads.items[i];

		for (int d = 0; d < s->devices.count; d++)
			if (!strcmp(s->devices.items[d].kind, w->kind))
				knowledge_limit_memory(&w->k, s->devices.items[d].memory_bytes,
						       s->memory.total_bytes);
	}
}
