/* plan_memory.c - the host's memory that the plans of candidates take: see job_plans.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "pollux/mem.h"

/* A candidate on one kind of device; -1: on whichever. */
struct place {
	const struct snapshot *s;
	const struct decision *d;
	const struct candidate *c;
	int kind;
};

/* --- one plan --- */

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

	if (p->kind >= 0 && p->d->kinds[p->kind].name)
		bytes = measured_need(workloads_find(&p->s->workloads, v->workload,
						     p->d->kinds[p->kind].name), workers);
	if (!(bytes > 0))
		bytes = measured_need(v->known, workers);
	if (!(bytes > 0) && plan == (last < 0 ? 0 : last))
		bytes = (double)p->s->host_needs[c->job - p->s->jobs.items];
	return bytes;
}

/* --- the best plan, and leaner ones --- */

static const double *goodputs_of(const struct candidate *c, int plan, int kind)
{
	const struct goodput_table *t = c->plans->views[plan].on_kind[kind].table;

	return t ? t->goodput : NULL;
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
			const double *goodput = goodputs_of(p->c, i, p->kind);
			double bytes = need_of(p, i, r);

			if (goodput && goodput[r] > next->goodput && bytes > 0 &&
			    bytes < above->bytes)
				*next = (struct option){ i, goodput[r], bytes };
		}
		if (next->plan < 0)
			break;
		above = next;
	}
	return n;
}

static void new_ways(struct kind_view *v, struct sched_offers *offers)
{
	size_t n = (size_t)offers->n + 1;

	for (int way = 0; way < SCHED_WAYS; way++) {
		v->ways[way].goodput = xcalloc(n, sizeof(double));
		v->ways[way].host_bytes = xcalloc(n, sizeof(double));
		v->ways[way].plan = xcalloc(n, sizeof(int));
		if (way > 0)
			offers->goodput[way] = v->ways[way].goodput;
		offers->host_bytes[way] = v->ways[way].host_bytes;
	}
}

static void set_way(struct kind_view *v, int way, int r, const struct option *option)
{
	v->ways[way].goodput[r] = option->goodput;
	v->ways[way].host_bytes[r] = option->bytes;
	v->ways[way].plan[r] = option->plan;
}

static void set_ways(const struct snapshot *s, struct decision *d, int j, int kind)
{
	struct candidate *c = &d->candidates[j];
	struct place p = { s, d, c, kind };
	struct sched_job *job = &d->sched_jobs[j];
	struct kind_view *v = &c->on_kind[kind];

	if (!v->table || !job->offers[kind].goodput[0])
		return;
	new_ways(v, &job->offers[kind]);
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
		set_way(v, 0, r, &now);
		n_lean = c->guarantee || is_own(&p, r) ? 0 : find_lean(&p, r, &now, lean);
		for (int i = 0; i < n_lean; i++)
			set_way(v, i + 1, r, &lean[i]);
	}
}

/* --- all --- */

/* What the job's run has, or what it would have on the fewest devices. */
static double bytes_of(const struct snapshot *s, const struct decision *d,
		       const struct candidate *c)
{
	const struct run *run = c->run;
	int plan = run ? plan_index(c, run->configuration.plan) : c->plans->trial;
	struct place p = { s, d, c, -1 };
	double peak = run ? (double)run->peak_memory_bytes : 0;

	if (plan < 0)
		return fmax(peak, (double)s->host_needs[c->job - s->jobs.items]);
	if (run)
		p.kind = kind_named(d, run->devices[0].kind);
	return fmax(peak, need_of(&p, plan, run ? run->configuration.replicas
						: c->job->declared.min_replicas));
}

void weigh_plan_memory(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; s->host_needs && j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];

		if (!c->plans)
			continue;
		d->sched_jobs[j].memory_bytes = bytes_of(s, d, c);
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
