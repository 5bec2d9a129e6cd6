/* plan_choice.c - the plan in which a candidate is to run on its devices, and why in no other: see
 * job_plans.h. */
#include <math.h>
#include <string.h>

#include "job_plans.h"

/* The bit of the kind that the candidate is to have. */
static unsigned kind_bit(const struct decision *d, const struct candidate *c)
{
	return 1U << d->choices[c - d->candidates].kind;
}

int plan_to_try(const struct job_plans *p, unsigned kind)
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

void plan_set_bounds(struct decision *d, int j, bool elastic)
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

bool plan_suits(const struct candidate *c, int devices)
{
	return !c->plans || c->plans->trial < 0 || divides(c->plans, c->plans->trial, devices);
}

int plan_least(const struct candidate *c, const struct sched_job *job, int declared)
{
	int trial = c->plans ? c->plans->trial : -1;

	return trial >= 0 && plan_at(c->plans, trial)->width > 1 ? job->min_replicas : declared;
}

void divide_by_plan(const struct candidate *c, struct goodput_table *t, int n_devices)
{
	for (int r = 1; c->plans && c->plans->trial >= 0 && r <= n_devices; r++)
		if (!divides(c->plans, c->plans->trial, r))
			t->goodput[r] = (double)NAN;
}

/* --- the choice --- */

/* The best plan on the kind that the candidate is to have, or the leaner one that is to leave
 * memory of the host; -1: none is known to fit. */
static int best_plan(const struct decision *d, const struct candidate *c,
		     struct throughput_place place)
{
	const struct sched_choice *choice = &d->choices[c - d->candidates];

	if (place.replicas > d->n_usable)
		return -1;
	if (choice->way > 0)
		return c->on_kind[choice->kind].ways[choice->way].plan[place.replicas];
	return best_plan_at(c, choice->kind, place);
}

static struct throughput_place place_of(int replicas, enum configuration_tier tier)
{
	struct throughput_place place = throughput_place_on(1, replicas);

	place.tier = tier;
	return place;
}

/* True if the run would go on on as many devices of its kind. */
static bool keeps_devices(const struct decision *d, const struct candidate *c,
			  const struct run *run, int replicas)
{
	return run->configuration.replicas == replicas &&
	       kind_named(d, run->devices[0].kind) == d->choices[c - d->candidates].kind;
}

int choose_plan(const struct decision *d, const struct candidate *c, int replicas,
		enum configuration_tier tier)
{
	const struct job_plans *p = c->plans;
	const struct run *run = run_of(c);
	int own = p && run ? job_plan_index(p, run->configuration.plan) : -1;

	if (!p)
		return -1;
	/* another plan costs a relaunch: the policy weighs that */
	if (own >= 0 && p->views[own].allowed && keeps_devices(d, c, run, replicas) &&
	    !d->choices[c - d->candidates].reconfigure)
		return own;
	if (p->trial >= 0 && !(p->views[p->trial].ran_out_on & kind_bit(d, c)))
		return plan_for(p, p->trial, replicas);
	own = p->trial < 0 ? best_plan(d, c, place_of(replicas, tier)) : -1;
	return own >= 0 ? own : plan_for(p, plan_to_try(p, kind_bit(d, c)), replicas);
}

/* --- in words --- */

/* Says why memory rules a plan out. Returns false if memory does not. */
static bool add_memory(const struct decision *d, const struct candidate *c, int plan, int replicas,
		       struct text *why)
{
	const struct plan_view *v = &c->plans->views[plan];
	const struct job_model *there = plan_model_there(d, c, plan);
	bool ran_out = v->ran_out || (v->ran_out_on & kind_bit(d, c));
	struct text needs = TEXT_INIT;

	if ((ran_out || v->on_kind[c->home].table) &&
	    job_model_lacks_memory(there, replicas, &needs))
		text_add(why, needs.data);
	else if (ran_out && v->too_large)
		text_addf(why, "ran out of memory with %lld samples on %s",
			  (long long)v->too_large->local_batch_size,
			  v->too_large->replicas > 1 ? "each device" : "a device");
	else if (v->ran_out)
		text_add(why, v->known_to_fail ? "failed" : "ran out of memory");
	else
		return false;
	text_release(&needs);
	return true;
}

static void add_comparison(const struct decision *d, const struct candidate *c, int chosen,
			   int other, struct throughput_place place, struct text *why)
{
	const struct job_plans *p = c->plans;
	const struct goodput_table *b = plan_table_there(d, c, other);
	int replicas = place.replicas, kind = d->choices[c - d->candidates].kind;
	double x = plan_goodput_at(p, chosen, kind, place);
	double y = plan_goodput_at(p, other, kind, place);

	text_addf(why, "%s%s ", why->length ? "; " : "", plan_at(p, other)->name);
	if (!p->views[other].allowed)
		text_add(why, "cannot read its checkpoints");
	else if (add_memory(d, c, other, replicas, why))
		return;
	else if (!divides(p, other, replicas))
		text_addf(why, "has %d devices for a replica", plan_at(p, other)->width);
	else if (x > 0 && y > 0) {
		text_addf(why, "would be %.0f %% %s", 100 * fabs(1 - y / x),
			  y < x ? "slower" : "faster");
		if (y > x && d->choices[c - d->candidates].way > 0)
			text_add(why, ", but the host's memory is short");
	} else {
		text_add(why, b ? "does not fit" : "was not measured");
	}
}

static void explain_plan(const struct decision *d, const struct candidate *c,
			 struct sched_choice *choice)
{
	enum configuration_tier tier = d->sizes[c - d->candidates].configuration.tier;
	int replicas = choice->replicas, chosen = choose_plan(d, c, replicas, tier);
	struct text why = TEXT_INIT, all = TEXT_INIT;

	for (int i = 0; i < c->plans->declared.count; i++)
		if (i != chosen)
			add_comparison(d, c, chosen, i,
				       place_of(replicas <= d->n_usable ? replicas : 0, tier),
				       &why);
	text_addf(&all, "plan %s", plan_at(c->plans, chosen)->name);
	if (why.length)
		text_addf(&all, " (%s)", why.data);
	put_reason_first(choice->reason, all.data);
	text_release(&why);
	text_release(&all);
}

void explain_plans(const struct snapshot *s, struct decision *d)
{
	(void)s;
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].plans && d->choices[j].replicas > 0)
			explain_plan(d, &d->candidates[j], &d->choices[j]);
}
