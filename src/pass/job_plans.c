/* job_plans.c - the execution plans of candidates: which a job may have, and what it makes of each
 * on each kind of device.
 *
 * A job runs in the best of the plans that were measured and fit. If none was, its plans are tried
 * in the order of their declaration: the first that is not known to have run out of memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "stages.h"

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
	const struct run *run = run_of(c);
	/* A job that has made progress under a plan stays in the group of that plan. */
	const char *last = run && isfinite(run->first_step_s) ? run->configuration.plan
							      : c->job->progress.plan;
	const struct execution_plan *had;
	struct err ignored;

	c->plans = p;
	if (execution_plans_parse(declared->plans, &p->declared, &ignored)) {
		free(p);
		return NULL;
	}
	had = execution_plans_find(&p->declared, last);
	p->views = xcalloc((size_t)p->declared.count, sizeof(*p->views));
	for (int i = 0; i < p->declared.count; i++) {
		const struct execution_plan *plan = plan_at(p, i);
		struct plan_view *v = &p->views[i];

		v->workload = execution_plan_workload(declared->workload, plan->name, plan->hash);
		v->allowed = !had || execution_plans_share(had, plan);
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
		kind_views_free(p->views[i].on_kind, p->n_kinds);
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

void run_in_plan(struct candidate *c, int plan)
{
	c->workload = c->plans->views[plan].known;
	c->model = c->plans->views[plan].on_kind[c->home].model;
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
	struct throughput_place place = { now->nodes, now->replicas, now->tier };
	int own = job_plan_index(c->plans, now->plan);

	/* where devices went away, a run may hold more than the tables have rows for */
	if (own < 0 || place.replicas > most_devices(d) || c->plans->trial >= 0 ||
	    !c->plans->views[own].on_kind[c->home].table ||
	    best_plan_at(c, c->home, place) == own)
		return (double)NAN;
	return plan_goodput_at(c->plans, own, c->home, place);
}

/* --- their tables --- */

/* Sets what the plan is on each kind, made from the kind where it was measured. */
static void weigh_plan(const struct snapshot *s, struct decision *d, int j, int i)
{
	const struct candidate *c = &d->candidates[j];
	struct plan_view *v = &c->plans->views[i];
	struct job_model model;
	struct workload *w = find_model(s, d, j, v->workload, &model);
	struct kind_origin origin = { v->workload, w, &model };

	v->known = w;
	for (int k = 0; k < d->n_kinds; k++) {
		struct kind_view *there = &v->on_kind[k];
		const char *name = d->kinds[k].name;
		int n = most_devices(d);

		there->model = model;
		if (!w)
			continue;
		model_on_kind(s, d, j, &origin, k, &there->model);
		if (!there->model.known || !v->allowed || d->sched_jobs[j].offers[k].barred)
			continue;
		there->table = table_on_nodes(d, &there->model, k);
		there->owns_table = true;
		for (int r = 1; r <= n; r++) {
			struct configuration *best = &there->table->best[r].configuration;

			if (!job_model_fits(&there->model, best))
				there->table->goodput[r] = (double)NAN;
			memcpy(best->plan, plan_at(c->plans, i)->name, sizeof(best->plan));
		}
		if (name && !workloads_any_plan(&s->workloads, v->workload, name))
			keep_least(there->table, there->model.min_replicas, n);
	}
}

/* --- the best plan --- */

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
		struct memory_lack ignored;

		/* not known to be too large, or predicted to be so on the fewest devices: then its
		 * table tells where it fits */
		if (t && (!(v->ran_out_on >> kind & 1) ||
			  job_model_lacks_memory(&v->on_kind[kind].model,
						 c->job->declared.min_replicas, &ignored)))
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

/* A table of the plan to be tried on the least number of devices: the first that was measured
 * nowhere and did not run out of memory on the kind. The plan is expected to be as
 * much slower than a measured one as its name tells. NULL: there is none to be tried. */
static struct goodput_table *expect_untried(const struct decision *d, const struct candidate *c,
					    int kind)
{
	const struct job_plans *p = c->plans;
	const struct execution_plan *plan;
	int n = most_devices(d), i = 0, r;
	struct goodput_table *t;
	bool ignored;

	while (i < p->declared.count && (!p->views[i].allowed || p->views[i].known ||
					 (p->views[i].ran_out_on >> kind & 1)))
		i++;
	if (i == p->declared.count)
		return NULL;
	plan = plan_at(p, i);
	r = c->job->declared.min_replicas + plan->width - 1;
	r -= r % plan->width;
	t = goodput_table_assumed(n);
	t->assumed = false;
	for (int k = 1; k <= n; k++)
		t->goodput[k] = (double)NAN;
	for (i = 0; i < p->declared.count && r <= n; i++) {
		double slower = plan_usual_time(plan->name, &ignored) /
				plan_usual_time(plan_at(p, i)->name, &ignored);
		struct job_model m = p->views[i].on_kind[kind].model;

		/* as if memory were no matter */
		m.memory = (struct memory_bounds){ .shared = m.memory.shared };
		m.failed = (struct failed_sizes){ 0 };
		m.needs = (struct memory_model){ .shared = m.needs.shared };
		m.n_peaks = 0;
		if (!m.known || !job_model_best(&m, r, &t->best[r]))
			continue;
		t->goodput[r] = t->best[r].goodput /= slower;
		memcpy(t->best[r].configuration.plan, plan->name,
		       sizeof(t->best[r].configuration.plan));
		return t;
	}
	goodput_table_free(t);
	return NULL;
}

/* --- the job's kind --- */

/* The kind of its run, or else the one where most plans were measured; -1: none has a table. */
static int find_home(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	int home = -1, most = -1;

	if (c->run && c->on_kind[d->sched_jobs[j].kind].table)
		return d->sched_jobs[j].kind;
	for (int k = 0; k < d->n_kinds; k++) {
		const char *kind = d->kinds[k].name;
		int n = 0;

		for (int i = 0; kind && i < c->plans->declared.count; i++) {
			const struct workload *w = workloads_find(
				&s->workloads, c->plans->views[i].workload, kind);

			n += w && w->measured;
		}
		if (c->on_kind[k].table && n > most) {
			home = k;
			most = n;
		}
	}
	return home;
}

void weigh_plans(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct job_plans *p = c->plans;
	int own = c->run ? job_plan_index(p, c->run->configuration.plan) : -1;
	int first = p->trial, home;
	const struct sched_offers *offers = d->sched_jobs[j].offers;

	c->on_kind = xcalloc((size_t)d->n_kinds, sizeof(*c->on_kind));
	for (int i = 0; i < p->declared.count; i++)
		weigh_plan(s, d, j, i);
	for (int k = 0; k < d->n_kinds; k++) {
		c->on_kind[k].table = offers[k].barred ? NULL : compare_plans(d, c, k);
		c->on_kind[k].owns_table = true;
	}
	home = find_home(s, d, j);
	for (int k = 0; home >= 0 && k < d->n_kinds; k++)
		if (!c->on_kind[k].table && !offers[k].barred)
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
