/* tiers.c - the tiers of the usable devices, and what candidates make of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "kinds.h"
#include "pollux/mem.h"
#include "tiers.h"

/* --- which tiers there are --- */

/* Marks the devices of the kind that jobs may have now, or when other people leave them. */
static void mark_kind(const struct snapshot *s, const struct decision *d, int kind, bool *in)
{
	for (int i = 0; i < s->devices.count; i++)
		in[i] = (d->usable[i] || (s->elsewhere && s->elsewhere[i])) &&
			d->kind_of[i] == kind;
}

void tiers_find(const struct snapshot *s, struct decision *d)
{
	struct pass_tiers *t = xcalloc(1, sizeof(*t));
	size_t n = (size_t)s->devices.count, kinds = (size_t)d->n_kinds;
	bool *in = xcalloc(n, sizeof(*in));

	d->tiers = t;
	/* Tiers are those of one machine. */
	if (d->n_nodes < 2)
		t->links = (struct tier_links){ s->devices.count, s->devices.links };
	t->n_best = most_devices(d) + 1;
	t->best = xcalloc(kinds * (size_t)t->n_best, sizeof(*t->best));
	for (int k = 0; t->links.links && k < d->n_kinds; k++) {
		mark_kind(s, d, k, in);
		t->several |= tier_best_by_number(&t->links, in,
						  &t->best[(size_t)k * (size_t)t->n_best],
						  t->n_best);
	}
	free(in);
	for (int j = 0; j < d->n; j++)
		t->pinned |= d->candidates[j].job->declared.worst_tier != TIER_UNKNOWN;
	t->kept = xcalloc(n, sizeof(*t->kept));
	t->promised = xcalloc(n, sizeof(*t->promised));
	t->holds = xcalloc((size_t)d->n, sizeof(*t->holds));
}

void tiers_free(struct pass_tiers *t)
{
	if (!t)
		return;
	free(t->holds);
	free(t->promised);
	free(t->kept);
	free(t->best);
	free(t);
}

bool tiers_are_better(const struct decision *d, int j)
{
	return d->tiers && d->tiers->holds[j].moves;
}

void tiers_tell_model(const struct decision *d, const char *kind, struct job_model *m)
{
	int k = kind ? kind_named(d, kind) : 0;

	if (!d->tiers)
		return;
	/* a kind that cannot be used counts as the first */
	m->best_tier = &d->tiers->best[(size_t)(k < 0 ? 0 : k) * (size_t)d->tiers->n_best];
	m->n_best_tier = d->tiers->n_best;
}

/* --- what candidates make of them --- */

static const struct job_model *model_on(const struct decision *d, int j, int kind)
{
	const struct candidate *c = &d->candidates[j];
	const struct goodput_table *table = c->on_kind ? c->on_kind[kind].table : NULL;

	return table && !table->assumed ? &c->on_kind[kind].model : NULL;
}

static double value_at(const struct job_model *m, struct throughput_place place)
{
	struct goodput_choice choice;

	return m && m->known && job_model_best_at(m, place, &choice) ? choice.goodput
								     : (double)NAN;
}

/* The best of the plans that are compared. */
static double value_of_plans(const struct job_plans *p, int kind, struct throughput_place place)
{
	double best = (double)NAN;

	for (int i = 0; p->trial < 0 && i < p->declared.count; i++)
		best = fmax(best, plan_goodput_at(p, i, kind, place));
	return best;
}

static double value_of_place(const struct decision *d, int j, int kind,
			     struct throughput_place place)
{
	const struct candidate *c = &d->candidates[j];

	if (place.replicas >= d->tiers->n_best)
		return (double)NAN;
	return c->plans ? value_of_plans(c->plans, kind, place)
			: value_at(model_on(d, j, kind), place);
}

double tiers_value(const struct decision *d, int j, int kind, int r, enum configuration_tier tier)
{
	struct throughput_place place = throughput_place_on(1, r);

	place.tier = tier;
	return value_of_place(d, j, kind, place);
}

double tiers_value_in_run(const struct decision *d, int j, enum configuration_tier tier)
{
	const struct candidate *c = &d->candidates[j];
	const struct configuration *run = c->run ? &c->run->configuration
						 : &c->suspended->configuration;
	struct throughput_place place = throughput_place_on(1, run->replicas);
	int plan = c->plans ? job_plan_index(c->plans, run->plan) : -1;

	place.tier = tier;
	if (c->plans && plan >= 0 && c->plans->trial < 0 && place.replicas < d->tiers->n_best)
		return plan_goodput_at(c->plans, plan, d->choices[j].kind, place);
	return c->plans ? (double)NAN : value_of_place(d, j, d->choices[j].kind, place);
}

/* What a candidate makes of the devices that its run has. */
static double value_held(const struct decision *d, int j, const struct run *run)
{
	struct throughput_place place = throughput_place_on(run->configuration.nodes,
							    run->configuration.replicas);

	place.tier = run->configuration.tier;
	return value_of_place(d, j, d->sched_jobs[j].kind, place);
}

bool tiers_set_value(struct decision *d, int j, int kind, int r, double value)
{
	const struct sched_job *job = &d->sched_jobs[j];
	double now = offers_at(job, kind, 0, r).goodput;

	if (r > job->max_replicas || isnan(now) || !(isnan(value) || value < now))
		return false;
	lower_offers(d, j, kind)[r] = value;
	return true;
}

enum configuration_tier tiers_given(const struct snapshot *s, const struct decision *d, int j)
{
	bool *in = xcalloc((size_t)s->devices.count, sizeof(*in));
	int link = TIER_NONE;

	for (int i = 0; i < s->devices.count; i++)
		in[i] = decision_gives(d, j, i);
	if (d->tiers && d->tiers->links.links)
		link = tier_of_set(&d->tiers->links, in);
	free(in);
	return link == TIER_NONE ? TIER_UNKNOWN : (enum configuration_tier)(TIER_FAST + link);
}

/* The most devices that can be joined as well as the job demands. */
static int most_joined(const struct snapshot *s, const struct decision *d,
		       enum configuration_tier worst)
{
	struct tier_links links = { s->devices.count, s->devices.links };
	bool *in = xcalloc((size_t)s->devices.count, sizeof(*in));
	int most = 1;

	for (int k = 0; links.links && k < d->n_kinds; k++) {
		int n;

		mark_kind(s, d, k, in);
		n = tier_largest_set(&links, in, (int)worst - TIER_FAST);
		most = n > most ? n : most;
	}
	free(in);
	return most;
}

/* True if an engine names the machines of the devices. Tiers are those of one machine. */
static bool is_of_cluster(const struct snapshot *s)
{
	return s->devices.count > 0 && *s->devices.items[0].node;
}

bool waits_for_tier(const struct snapshot *s, const struct job *job, struct decision *d)
{
	enum configuration_tier worst = job->declared.worst_tier;
	int least = job->declared.min_replicas;

	if (is_of_cluster(s))
		return false;
	if (worst == TIER_UNKNOWN || least < 2 || most_joined(s, d, worst) >= least)
		return false;
	pass_over(d, job, false, xasprintf("no %d devices here are joined as --tier %s demands",
					   least, worst_tier_names.names[worst]), (double)NAN);
	return true;
}

static void obey_tier(const struct snapshot *s, struct decision *d, int j)
{
	enum configuration_tier worst = d->candidates[j].job->declared.worst_tier;
	struct sched_job *job = &d->sched_jobs[j];
	int most;

	if (worst == TIER_UNKNOWN || is_of_cluster(s))
		return;
	most = most_joined(s, d, worst);
	if (most < job->max_replicas)
		job->max_replicas = most > job->min_replicas ? most : job->min_replicas;
}

void tiers_weigh(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; d->tiers->pinned && j < d->n; j++)
		obey_tier(s, d, j);
	for (int j = 0; (d->tiers->several || d->n_nodes > 1) && j < d->n; j++) {
		const struct run *run = d->candidates[j].run;
		int r = run ? run->configuration.replicas : 0;
		double value;

		if (r < 2 || (run->configuration.tier == TIER_UNKNOWN &&
			      run->configuration.nodes < 2))
			continue;
		value = value_held(d, j, run);
		if (value > 0)
			tiers_set_value(d, j, d->sched_jobs[j].kind, r, value);
	}
}
