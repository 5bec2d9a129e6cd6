/* plan_choice.c - the execution plan in which a candidate is to run on its devices, why in no
 * other, and the host's memory that plans take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "stages.h"

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
	for (int r = 1; r <= n_devices; r++)
		if (!plan_suits(c, r))
			t->goodput[r] = (double)NAN;
}

/* --- the choice --- */

int choose_plan(const struct decision *d, const struct candidate *c, int replicas,
		enum configuration_tier tier)
{
	const struct sched_choice *choice = &d->choices[c - d->candidates];
	struct throughput_place place = { 1, replicas, tier };
	const struct job_plans *p = c->plans;
	const struct run *run = run_of(c);
	int own = p && run ? job_plan_index(p, run->configuration.plan) : -1, best = -1;
	unsigned kind = 1U << choice->kind;

	if (!p)
		return -1;
	/* on as many devices of its kind, another plan costs a relaunch: the policy weighs that */
	if (own >= 0 && p->views[own].allowed && !choice->reconfigure &&
	    run->configuration.replicas == replicas &&
	    kind_named(d, run->devices[0].kind) == choice->kind)
		return own;
	if (p->trial >= 0 && !(p->views[p->trial].ran_out_on & kind))
		return plan_for(p, p->trial, replicas);
	/* the best plan there, or the leaner one that is to leave memory of the host */
	if (p->trial < 0 && replicas <= d->n_usable)
		best = choice->way > 0 ? c->on_kind[choice->kind].ways[choice->way].plan[replicas]
			: best_plan_at(c, choice->kind, place);
	return best >= 0 ? best : plan_for(p, plan_to_try(p, kind), replicas);
}

/* --- verdicts --- */

/* True if memory rules the plan out; then says why. */
static bool lacks_memory(const struct decision *d, const struct candidate *c, int plan,
			 int replicas, struct fact *why)
{
	const struct plan_view *v = &c->plans->views[plan];
	int kind = d->choices[c - d->candidates].kind;
	bool ran_out = v->ran_out || (v->ran_out_on >> kind & 1);
	struct memory_lack lack;

	if ((ran_out || v->on_kind[c->home].table) &&
	    job_model_lacks_memory(&v->on_kind[kind].model, replicas, &lack)) {
		why->kind = FACT_PLAN_LACKS_MEMORY;
		why->bytes.needs = lack.needs_bytes;
		why->bytes.of = lack.of_bytes;
	} else if (ran_out && v->too_large) {
		why->kind = v->too_large->replicas > 1 ? FACT_PLAN_RAN_OUT_AT
						       : FACT_PLAN_RAN_OUT_AT_ONE;
		why->samples = v->too_large->local_batch_size;
	} else if (v->ran_out) {
		why->kind = v->known_to_fail ? FACT_PLAN_FAILED : FACT_PLAN_RAN_OUT;
	} else {
		return false;
	}
	return true;
}

static struct fact compare_plans(const struct decision *d, const struct candidate *c, int chosen,
				 int other, struct throughput_place place)
{
	const struct job_plans *p = c->plans;
	const struct sched_choice *choice = &d->choices[c - d->candidates];
	double x = plan_goodput_at(p, chosen, choice->kind, place);
	double y = plan_goodput_at(p, other, choice->kind, place);
	struct fact fact = { FACT_PLAN_NOT_MEASURED, .name = plan_at(p, other)->name };

	if (!p->views[other].allowed) {
		fact.kind = FACT_PLAN_CANNOT_READ;
	} else if (lacks_memory(d, c, other, place.replicas, &fact)) {
		return fact;
	} else if (!divides(p, other, place.replicas)) {
		fact.kind = FACT_PLAN_WIDTH;
		fact.n = plan_at(p, other)->width;
	} else if (x > 0 && y > 0) {
		fact.kind = y < x ? FACT_PLAN_SLOWER
			    : y > x && choice->way > 0 ? FACT_PLAN_FASTER_BUT_MEMORY
						       : FACT_PLAN_FASTER;
		fact.gain.percent = 100 * fabs(1 - y / x);
	} else if (p->views[other].on_kind[choice->kind].table) {
		fact.kind = FACT_PLAN_UNFIT;
	}
	return fact;
}

void explain_plans(const struct snapshot *s, struct decision *d)
{
	(void)s;
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];
		int replicas = d->choices[j].replicas, chosen, n = 0;
		struct throughput_place place = {
			1, replicas <= d->n_usable ? replicas : 0, d->sizes[j].configuration.tier,
		};
		struct fact *others;

		if (!c->plans || replicas == 0)
			continue;
		chosen = choose_plan(d, c, replicas, place.tier);
		others = decision_calloc(d, (size_t)c->plans->declared.count, sizeof(*others));
		for (int i = 0; i < c->plans->declared.count; i++)
			if (i != chosen)
				others[n++] = compare_plans(d, c, chosen, i, place);
		verdict_put_first(&d->choices[j].verdict, (struct fact){
			FACT_PLAN, .name = plan_at(c->plans, chosen)->name, .plans = others,
			.n = n,
		});
	}
}

/* --- the host's memory --- */

/* A candidate on one kind of device; -1: on whichever. */
struct place {
	const struct snapshot *s;
	const struct decision *d;
	const struct candidate *c;
	int kind;
};

static double measured_need(const struct workload *w, int workers)
{
	return w ? memory_host_need(w->k.host_peaks, w->k.n_host_peaks, workers) : 0;
}

/* What a plan takes on r devices: as measured on the kind, or on another. Where
 * nothing was measured by numbers of devices: what runs of the job's last plan took. 0: not
 * known. */
static double need_of(const struct place *p, int plan, int r)
{
	const struct candidate *c = p->c;
	const struct plan_view *v = &c->plans->views[plan];
	int last = plan_index(c, c->job->progress.plan);
	int workers = r / plan_at(c->plans, plan)->width;
	double bytes = 0;

	if (c->job->declared.memory_limit_bytes > 0)
		return c->job->declared.memory_limit_bytes;
	if (p->kind >= 0 && p->d->kinds[p->kind].name)
		bytes = measured_need(workloads_find(&p->s->workloads, v->workload,
						     p->d->kinds[p->kind].name), workers);
	if (!(bytes > 0))
		bytes = measured_need(v->known, workers);
	if (!(bytes > 0) && plan == (last < 0 ? 0 : last))
		bytes = (double)p->s->host_needs[c->job - p->s->jobs.items];
	return bytes;
}

/* A run in its present plan on r devices of its kind goes on there; a suspended one, too. */
static bool is_own(const struct place *p, int r)
{
	const struct run *run = run_of(p->c);

	return run && run->configuration.replicas == r &&
	       kind_named(p->d, run->devices[0].kind) == p->kind;
}

struct option {
	int plan;
	double goodput, bytes;
};

/* The leaner plans on r devices, of a job without a guarantee, in the order of their goodput, each
 * with less memory than the one before. */
static int find_lean(const struct place *p, int r, const struct option *best, struct option *lean)
{
	const struct option *above = best;
	int n = 0;

	for (; n < SCHED_WAYS - 1; n++) {
		struct option *next = &lean[n];

		*next = (struct option){ .plan = -1 };
		for (int i = 0; i < p->c->plans->declared.count; i++) {
			const struct goodput_table *t =
				p->c->plans->views[i].on_kind[p->kind].table;
			double bytes = need_of(p, i, r);

			if (t && t->goodput[r] > next->goodput && bytes > 0 && bytes < above->bytes)
				*next = (struct option){ i, t->goodput[r], bytes };
		}
		if (next->plan < 0)
			break;
		above = next;
	}
	return n;
}

static void set_ways(const struct snapshot *s, struct decision *d, int j, int kind)
{
	struct candidate *c = &d->candidates[j];
	struct place p = { s, d, c, kind };
	struct sched_job *job = &d->sched_jobs[j];
	struct kind_view *v = &c->on_kind[kind];

	if (!v->table || !job->offers[kind].goodput[0])
		return;
	for (int way = 0; way < SCHED_WAYS; way++) {
		size_t n = (size_t)job->offers[kind].n + 1;

		v->ways[way].host_bytes = xcalloc(n, sizeof(double));
		job->offers[kind].host_bytes[way] = v->ways[way].host_bytes;
		if (way == 0)
			continue;
		v->ways[way].plan = xcalloc(n, sizeof(int));
		v->ways[way].goodput = xcalloc(n, sizeof(double));
		job->offers[kind].goodput[way] = v->ways[way].goodput;
	}
	for (int r = 1; r <= job->offers[kind].n; r++) {
		struct option lean[SCHED_WAYS - 1], now = {
			.plan = job_plan_index(c->plans, v->table->best[r].configuration.plan),
			.goodput = offers_at(job, kind, 0, r).goodput,
		};
		int n_lean;

		if (!(now.goodput > 0) || now.plan < 0)
			continue;
		if (c->suspended && is_own(&p, r))
			now.plan = plan_index(c, c->suspended->configuration.plan);
		now.bytes = need_of(&p, now.plan < 0 ? 0 : now.plan, r);
		v->ways[0].host_bytes[r] = now.bytes;
		n_lean = c->guarantee || is_own(&p, r) ? 0 : find_lean(&p, r, &now, lean);
		for (int i = 0; i < n_lean; i++) {
			v->ways[i + 1].goodput[r] = lean[i].goodput;
			v->ways[i + 1].host_bytes[r] = lean[i].bytes;
			v->ways[i + 1].plan[r] = lean[i].plan;
		}
	}
}

void weigh_plan_memory(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; policy_heeds_memory(s) && j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];
		const struct run *run = c->run;
		struct place p = { s, d, c, -1 };
		int plan, r = run ? run->configuration.replicas : c->job->declared.min_replicas;

		if (!c->plans)
			continue;
		/* what its run has, or what it would have on the fewest devices */
		plan = run ? plan_index(c, run->configuration.plan) : c->plans->trial;
		if (run && plan >= 0)
			p.kind = kind_named(d, run->devices[0].kind);
		d->sched_jobs[j].memory_bytes =
			fmax(run ? (double)run->peak_memory_bytes : 0,
			     plan < 0 ? (double)s->host_needs[c->job - s->jobs.items]
				      : need_of(&p, plan, r));
		for (int k = 0; c->plans->trial < 0 && k < d->n_kinds; k++)
			set_ways(s, d, j, k);
	}
}

bool plan_ways_lower(struct decision *d, int j, int kind, struct throughput_place place)
{
	const struct candidate *c = &d->candidates[j];
	int r = place.replicas;
	bool lower = false;

	for (int way = 1; c->plans && way < SCHED_WAYS; way++) {
		double now = offers_at(&d->sched_jobs[j], kind, way, r).goodput, there;

		if (!(now > 0))
			continue;
		there = plan_goodput_at(c->plans, c->on_kind[kind].ways[way].plan[r], kind, place);
		if (there < now) {
			c->on_kind[kind].ways[way].goodput[r] = there;
			lower = true;
		}
	}
	return lower;
}
