/* job_plans.c - see job_plans.h. */
#include "job_plans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

static const struct execution_plan *plan_at(const struct job_plans *p, int i)
{
	return &p->declared.items[i];
}

static int index_of(const struct job_plans *p, const char *name)
{
	const struct execution_plan *plan = execution_plans_find(&p->declared, name);

	return plan ? (int)(plan - p->declared.items) : -1;
}

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

/* The bit of the kind that the candidate is to have; 0: all devices are of one kind. */
static unsigned kind_bit(const struct decision *d, const struct candidate *c)
{
	return d->n_kinds > 0 ? 1U << d->choices[c - d->candidates].kind : 0;
}

/* The index of the first plan that may fit on the kind; if there is none, of the first plan. */
static int to_be_tried(const struct job_plans *p, unsigned kind)
{
	int first = -1;

	for (int i = 0; i < p->declared.count; i++) {
		if (!p->views[i].allowed)
			continue;
		if (!p->views[i].ran_out && !(p->views[i].ran_out_on & kind))
			return i;
		first = first < 0 ? i : first;
	}
	return first < 0 ? 0 : first;
}

static bool divides(const struct job_plans *p, int i, int devices)
{
	return devices % plan_at(p, i)->width == 0;
}

/* The plan, or another one if so many devices are not a whole number of its replicas. */
static int plan_for(const struct job_plans *p, int plan, int devices)
{
	int other = -1;

	if (divides(p, plan, devices))
		return plan;
	for (int i = 0; i < p->declared.count; i++) {
		if (!p->views[i].allowed || !divides(p, i, devices))
			continue;
		if (!p->views[i].ran_out)
			return i;
		other = other < 0 ? i : other;
	}
	return other < 0 ? plan : other;
}

int plan_width(const struct candidate *c, int plan, int devices)
{
	return plan >= 0 && divides(c->plans, plan, devices) ? plan_at(c->plans, plan)->width : 1;
}

/* The least and the most devices become multiples of the width of the plan to be tried. A run that
 * may be suspended keeps its number. elastic: the policy reads goodput, and gives multiples. */
static void set_bounds(struct decision *d, int j, bool elastic)
{
	const struct candidate *c = &d->candidates[j];
	int trial = c->plans ? c->plans->trial : -1;
	int width = trial >= 0 ? plan_at(c->plans, trial)->width : 1;
	struct sched_job *job = &d->sched_jobs[j];

	if (width == 1 || (c->suspends && (c->run || c->suspended)))
		return;
	job->min_replicas = (job->min_replicas + width - 1) / width * width;
	job->max_replicas -= job->max_replicas % width;
	if (!elastic || job->max_replicas < job->min_replicas)
		job->max_replicas = job->min_replicas;
}

void divide_by_plan(const struct candidate *c, struct goodput_table *t, int n_devices)
{
	for (int r = 1; c->plans && c->plans->trial >= 0 && r <= n_devices; r++)
		if (!divides(c->plans, c->plans->trial, r))
			t->goodput[r] = (double)NAN;
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
			if (is_too_large(s, c, i, d->kinds[k].name))
				v->ran_out_on |= 1U << k;
		v->known_to_fail = v->ran_out && declared->batch_size > 0;
		for (int k = 0; k < s->devices.count && !v->too_large; k++)
			v->too_large = newest_ran_out(s, v, s->devices.items[k].kind);
	}
	p->trial = to_be_tried(p, 0);
	return p;
}

void find_plans(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].job->declared.plans) {
			d->candidates[j].plans = plans_of(s, d, &d->candidates[j]);
			if (!s->policy->models_goodput)
				set_bounds(d, j, false);
		}
}

void job_plans_free(struct job_plans *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->declared.count; i++) {
		goodput_table_free(p->views[i].table);
		free(p->views[i].workload);
	}
	free(p->views);
	execution_plans_release(&p->declared);
	free(p);
}

/* --- what they are worth --- */

static void set_table(const struct decision *d, struct plan_view *v,
		      const struct execution_plan *plan)
{
	int n = d->n_usable + d->n_elsewhere;

	v->table = goodput_table_of(&v->model, n);
	for (int r = 1; r <= n; r++) {
		struct configuration *c = &v->table->best[r].configuration;

		if (!job_model_fits(&v->model, c))
			v->table->goodput[r] = (double)NAN;
		memcpy(c->plan, plan->name, sizeof(c->plan));
	}
}

static void weigh_plan(const struct snapshot *s, const struct decision *d, struct candidate *c,
		       int i)
{
	const struct run *run = c->run ? c->run : c->suspended;
	struct plan_view *v = &c->plans->views[i];
	struct knowledge nothing = knowledge_of_nothing();
	struct workload *w = workloads_measured(&s->workloads, v->workload,
						run ? run->devices[0].kind : NULL);

	v->known = w;
	knowledge_of_job(w ? &w->k : &nothing, c->job, &v->model);
	if (v->model.known && v->allowed)
		set_table(d, v, plan_at(c->plans, i));
}

/* True if the plan is not known to be too large, or was predicted to be so on the fewest devices: its
 * table tells where it fits. */
static bool may_fit(const struct candidate *c, const struct plan_view *v)
{
	return !v->ran_out ||
	       job_model_lacks_memory(&v->model, c->job->declared.min_replicas, NULL);
}

/* Puts the best plan for each number of devices into one table. Returns false if none is known to
 * fit on any number. */
static bool compare(const struct decision *d, struct candidate *c, int *first)
{
	const struct goodput_table *tables[EXECUTION_PLANS_MAX];
	int n = d->n_usable + d->n_elsewhere, n_tables = 0;

	for (int i = 0; i < c->plans->declared.count; i++)
		if (c->plans->views[i].table && may_fit(c, &c->plans->views[i]))
			tables[n_tables++] = c->plans->views[i].table;
	*first = -1;
	if (n_tables == 0)
		return false;
	c->table = goodput_table_best_of(tables, n_tables, n);
	c->owns_table = true;
	for (int r = c->job->declared.min_replicas; r <= n && *first < 0; r++)
		if (c->table->goodput[r] > 0)
			*first = index_of(c->plans, c->table->best[r].configuration.plan);
	if (*first >= 0)
		return true;
	goodput_table_free(c->table);
	c->table = NULL;
	c->owns_table = false;
	return false;
}

void weigh_plans(const struct snapshot *s, struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct job_plans *p = c->plans;
	int first, own = c->run ? index_of(p, c->run->configuration.plan) : -1;

	for (int i = 0; i < p->declared.count; i++)
		weigh_plan(s, d, c, i);
	if (compare(d, c, &first)) {
		p->trial = -1;
		first = own >= 0 && p->views[own].table ? own : first;
	} else {
		first = p->trial;
		set_bounds(d, j, true);
	}
	c->workload = p->views[first].known;
	c->model = p->views[first].model;
}

int plan_index(const struct candidate *c, const char *name)
{
	return *name ? index_of(c->plans, name) : 0;
}

void prefer_plan(const struct decision *d, struct candidate *c, int plan, double goodput)
{
	const struct goodput_table *t = c->plans->views[plan].table;

	for (int r = 1; r <= d->n_usable + d->n_elsewhere; r++)
		if (t->goodput[r] >= goodput && !(c->table->goodput[r] >= goodput)) {
			c->table->goodput[r] = t->goodput[r];
			c->table->best[r] = t->best[r];
		}
}

void try_plan(struct candidate *c, int plan)
{
	c->plans->trial = plan;
	c->workload = c->plans->views[plan].known;
	c->model = c->plans->views[plan].model;
}

double plan_goodput_now(const struct decision *d, const struct candidate *c)
{
	const struct run *run = c->run;
	int own = index_of(c->plans, run->configuration.plan), r = run->configuration.replicas;

	/* where devices went away, a run may hold more than the tables have rows for */
	if (own < 0 || r > d->n_usable + d->n_elsewhere ||
	    c->plans->trial >= 0 || !c->plans->views[own].table ||
	    !strcmp(c->table->best[r].configuration.plan, run->configuration.plan))
		return (double)NAN;
	return c->plans->views[own].table->goodput[r];
}

/* The plan's model, with the memory of the kind that the candidate is to have. */
static struct job_model model_there(const struct decision *d, const struct candidate *c, int plan)
{
	struct job_model m = c->plans->views[plan].model;

	if (d->n_kinds > 0 && !m.needs.shared)
		m.needs.limit_bytes = MEMORY_MODEL_DEVICE_PART *
			(double)d->kinds[d->choices[c - d->candidates].kind].memory_bytes;
	return m;
}

static bool may_fit_there(const struct decision *d, const struct candidate *c, int plan,
			  int replicas)
{
	struct job_model m = model_there(d, c, plan);

	return !(c->plans->views[plan].ran_out_on & kind_bit(d, c)) &&
	       !job_model_lacks_memory(&m, replicas, NULL);
}

/* The plan of most goodput on so many devices that may fit on the kind; -1: none. */
static int best_that_fits(const struct decision *d, const struct candidate *c, int replicas)
{
	const struct job_plans *p = c->plans;
	int best = -1;

	for (int i = 0; i < p->declared.count; i++) {
		const struct goodput_table *t = p->views[i].table;

		if (!t || !(t->goodput[replicas] > 0) || !may_fit_there(d, c, i, replicas))
			continue;
		if (best < 0 || t->goodput[replicas] > p->views[best].table->goodput[replicas])
			best = i;
	}
	return best;
}

/* The best plan by the table; where there are several kinds, one that may fit on the kind. */
static int best_plan(const struct decision *d, const struct candidate *c, int replicas)
{
	int best = replicas <= d->n_usable
		? index_of(c->plans, c->table->best[replicas].configuration.plan) : -1;

	if (best >= 0 && d->n_kinds > 0 && !may_fit_there(d, c, best, replicas))
		best = best_that_fits(d, c, replicas);
	return best;
}

int choose_plan(const struct decision *d, const struct candidate *c, int replicas)
{
	const struct job_plans *p = c->plans;
	const struct run *run = c->run ? c->run : c->suspended;
	int own = p && run ? index_of(p, run->configuration.plan) : -1;

	if (!p)
		return -1;
	/* another plan costs a relaunch: the policy weighs that */
	if (own >= 0 && p->views[own].allowed && run->configuration.replicas == replicas &&
	    !d->choices[c - d->candidates].reconfigure)
		return own;
	if (p->trial >= 0 && !(p->views[p->trial].ran_out_on & kind_bit(d, c)))
		return plan_for(p, p->trial, replicas);
	own = p->trial < 0 ? best_plan(d, c, replicas) : -1;
	return own >= 0 ? own : plan_for(p, to_be_tried(p, kind_bit(d, c)), replicas);
}

/* --- in words --- */

static void add_comparison(const struct decision *d, const struct candidate *c, int chosen,
			   int other, int replicas, struct text *why)
{
	const struct job_plans *p = c->plans;
	struct job_model there = model_there(d, c, other);
	const struct plan_view *a = &p->views[chosen], *b = &p->views[other];
	const char *name = plan_at(p, other)->name;
	double x = a->table ? a->table->goodput[replicas] : (double)NAN;
	double y = b->table ? b->table->goodput[replicas] : (double)NAN;
	struct text needs = TEXT_INIT;

	text_add(why, why->length ? "; " : "");
	if (!b->allowed)
		text_addf(why, "%s cannot read its checkpoints", name);
	else if ((b->ran_out || d->n_kinds > 0) && job_model_lacks_memory(&there, replicas, &needs))
		text_addf(why, "%s %s", name, needs.data);
	else if ((b->ran_out || (b->ran_out_on & kind_bit(d, c))) && b->too_large)
		text_addf(why, "%s ran out of memory with %lld samples on %s", name,
			  (long long)b->too_large->local_batch_size,
			  b->too_large->replicas > 1 ? "each device" : "a device");
	else if (b->ran_out)
		text_addf(why, "%s %s", name, b->known_to_fail ? "failed" : "ran out of memory");
	else if (!divides(p, other, replicas))
		text_addf(why, "%s has %d devices for a replica", name, plan_at(p, other)->width);
	else if (x > 0 && y > 0)
		text_addf(why, "%s would be %.0f %% %s", name, 100 * fabs(1 - y / x),
			  y < x ? "slower" : "faster");
	else if (b->table && job_model_lacks_memory(&there, replicas, &needs))
		text_addf(why, "%s %s", name, needs.data);
	else
		text_addf(why, "%s %s", name, b->table ? "does not fit" : "was not measured");
	text_release(&needs);
}

static void explain_plan(const struct decision *d, const struct candidate *c,
			 struct sched_choice *choice)
{
	int replicas = choice->replicas, chosen = choose_plan(d, c, replicas);
	struct text why = TEXT_INIT, all = TEXT_INIT;

	for (int i = 0; i < c->plans->declared.count; i++)
		if (i != chosen)
			add_comparison(d, c, chosen, i, replicas <= d->n_usable ? replicas : 0,
				       &why);
	text_addf(&all, "plan %s", plan_at(c->plans, chosen)->name);
	if (why.length)
		text_addf(&all, " (%s)", why.data);
	put_reason_first(choice->reason, all.data);
	text_release(&why);
	text_release(&all);
}

void explain_plans(struct decision *d)
{
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].plans && d->choices[j].replicas > 0)
			explain_plan(d, &d->candidates[j], &d->choices[j]);
}
