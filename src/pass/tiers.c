/* tiers.c - devices that are joined better and worse: the tiers of the usable devices, what
 * candidates make of them, and what is told and written of waits for better ones. Where all pairs
 * of devices are joined alike, there is one tier: nothing here changes a decision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "pollux/mem.h"
#include "stages.h"

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

static double value_of_place(const struct decision *d, int j, int kind,
			     struct throughput_place place)
{
	const struct candidate *c = &d->candidates[j];
	const struct goodput_table *table = c->on_kind ? c->on_kind[kind].table : NULL;
	const struct job_model *m = table && !table->assumed ? &c->on_kind[kind].model : NULL;
	struct goodput_choice choice;
	double best = (double)NAN;

	if (place.replicas >= d->tiers->n_best)
		return (double)NAN;
	/* the best of the plans that are compared */
	for (int i = 0; c->plans && c->plans->trial < 0 && i < c->plans->declared.count; i++)
		best = fmax(best, plan_goodput_at(c->plans, i, kind, place));
	if (!c->plans && m && m->known && job_model_best_at(m, place, &choice))
		best = choice.goodput;
	return best;
}

double tiers_value(const struct decision *d, int j, int kind, int r, enum configuration_tier tier)
{
	return value_of_place(d, j, kind, (struct throughput_place){ 1, r, tier });
}

double tiers_value_in_run(const struct decision *d, int j, enum configuration_tier tier)
{
	const struct candidate *c = &d->candidates[j];
	const struct configuration *run = &run_of(c)->configuration;
	struct throughput_place place = { 1, run->replicas, tier };
	int plan = c->plans ? job_plan_index(c->plans, run->plan) : -1;

	if (c->plans && plan >= 0 && c->plans->trial < 0 && place.replicas < d->tiers->n_best)
		return plan_goodput_at(c->plans, plan, d->choices[j].kind, place);
	return c->plans ? (double)NAN : value_of_place(d, j, d->choices[j].kind, place);
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
	pass_over(d, job, (struct fact){ FACT_NO_LINKS, .n = least, .of = (int)worst });
	return true;
}

void tiers_weigh(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; j < d->n; j++) {
		const struct run *run = d->candidates[j].run;
		const struct configuration *c = run ? &run->configuration : NULL;
		enum configuration_tier worst = d->candidates[j].job->declared.worst_tier;
		struct sched_job *job = &d->sched_jobs[j];
		double value;

		if (worst != TIER_UNKNOWN && !is_of_cluster(s)) {
			int most = most_joined(s, d, worst);

			if (most < job->max_replicas)
				job->max_replicas = most > job->min_replicas ? most
									     : job->min_replicas;
		}
		if (!(d->tiers->several || d->n_nodes > 1) || !c || c->replicas < 2 ||
		    (c->tier == TIER_UNKNOWN && c->nodes < 2))
			continue;
		value = value_of_place(d, j, job->kind,
				       (struct throughput_place){ c->nodes, c->replicas, c->tier });
		if (value > 0)
			tiers_set_value(d, j, job->kind, c->replicas, value);
	}
}

/* --- verdicts --- */

/* A copy that lives as long as the decision, of a set by device. */
static bool *keep_set(const struct snapshot *s, struct decision *d, const bool *set)
{
	bool *kept = decision_calloc(d, (size_t)s->devices.count, sizeof(*kept));

	memcpy(kept, set, (size_t)s->devices.count * sizeof(*kept));
	return kept;
}

void tiers_explain_wait(const struct snapshot *s, struct decision *d, int j,
			const struct tier_offer *o, const struct tier_answer *a)
{
	struct sched_choice *choice = &d->choices[j];
	struct fact why = {
		FACT_WAITS_FOR_LINKS, .devices = o->replicas, .n = a->tier,
		.of = (int)d->candidates[j].job->declared.worst_tier, .set.of = &s->devices,
	};

	if (isfinite(a->until_s)) {
		bool *now = decision_calloc(d, (size_t)s->devices.count, sizeof(*now));

		for (int i = 0; i < s->devices.count; i++)
			now[i] = d->owner[i] == j;
		why.kind = FACT_WAITS_FOR_SET;
		why.set.in = keep_set(s, d, a->wanted);
		why.set.other = now;
		why.wait.seconds = a->until_s - o->since_s;
		why.wait.percent = 100 * (1 - o->goodput[o->tier_now] / o->goodput[a->tier]);
		choice->next_start_s = a->until_s;
	}
	choice->verdict = verdict_of(why);
}

void tiers_explain_move(const struct snapshot *s, struct decision *d, int j, const bool *set,
			int tier, double gain)
{
	d->choices[j].verdict = verdict_of((struct fact){
		FACT_MOVES, .n = tier, .gain.percent = 100 * (gain - 1),
		.set = { .of = &s->devices, .in = keep_set(s, d, set) },
	});
}

/* --- what is written --- */

/* Times that differ by less than this are not written again. */
#define SAME_TIME_S 2.0

/* A job that takes worse devices in the end has waited for the better ones for at least as long. */
static void keep_waited(const struct snapshot *s, const struct decision *d, int j,
			struct actions *p)
{
	const struct job *job = d->candidates[j].job;
	const struct pass_tiers *t = d->tiers;
	enum configuration_tier given = tiers_given(s, d, j), best;

	if (given == TIER_UNKNOWN)
		return;
	best = t->best[d->choices[j].kind * t->n_best + d->choices[j].replicas];
	for (int i = 0; i < (best < given ? 2 : 1); i++)
		actions_add(p, ACTION_TIER_WAITED, job->id, NULL, NULL)->waited =
			(struct tier_past){
				.time_s = s->now_wall_s, .replicas = d->choices[j].replicas,
				.tier = (int)(i ? best : given) - TIER_FAST,
				.wait_s = fmax(s->now_wall_s - job->tier_wait_since_s, 0),
			};
}

void end_tier_wait(const struct job *job, struct actions *p)
{
	struct action *a;

	if (isnan(job->tier_wait_since_s))
		return;
	a = actions_add(p, ACTION_TIER_WAIT, job->id, NULL, NULL);
	a->since_s = a->until_s = (double)NAN;
}

void keep_tier_wait(const struct snapshot *s, const struct decision *d, int j, struct actions *p)
{
	const struct tier_hold *hold = d->tiers ? &d->tiers->holds[j] : NULL;
	const struct job *job = d->candidates[j].job;
	bool waited = !isnan(job->tier_wait_since_s);

	if (hold && hold->waits) {
		double to_wall_s = s->now_wall_s - s->now_boot_s;
		double until_s = isinf(hold->until_s) ? (double)NAN : hold->until_s + to_wall_s;
		struct action *a;

		if (waited && isnan(until_s) == isnan(job->tier_wait_until_s) &&
		    !(fabs(until_s - job->tier_wait_until_s) > SAME_TIME_S))
			return;
		a = actions_add(p, ACTION_TIER_WAIT, job->id, NULL, NULL);
		a->since_s = waited ? job->tier_wait_since_s : hold->since_s + to_wall_s;
		a->until_s = until_s;
	} else {
		if (waited && d->tiers && d->choices[j].replicas > 1)
			keep_waited(s, d, j, p);
		end_tier_wait(job, p);
	}
}
