/* plan_memory.c - the host's memory that the plans of candidates take: see job_plans.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_plans.h"
#include "pollux/mem.h"

static int most_devices(const struct decision *d)
{
	return d->n_usable + d->n_elsewhere;
}

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
	const struct run *run = p->c->run ? p->c->run : p->c->suspended;

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

	for (; n < SCHED_LEAN_WAYS; n++) {
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

static void new_ways(struct plan_ways *w, struct sched_job *job, int k, size_t n)
{
	job->memory_of[k] = w->bytes[k] = xcalloc(n, sizeof(double));
	for (int way = 0; way < SCHED_LEAN_WAYS; way++) {
		job->lean[way].goodput[k] = w->lean[way].goodput[k] = xcalloc(n, sizeof(double));
		job->lean[way].memory_bytes[k] = w->lean[way].bytes[k] = xcalloc(n, sizeof(double));
		w->lean[way].plan[k] = xcalloc(n, sizeof(int));
	}
}

static void set_ways(const struct snapshot *s, struct decision *d, int j, int k)
{
	struct candidate *c = &d->candidates[j];
	struct place p = { s, d, c, k };
	struct sched_job *job = &d->sched_jobs[j];
	int n = most_devices(d);
	const struct goodput_table *best = c->on_kind[k].table;
	const double *goodput = job->goodput[k];
	struct plan_ways *w = &c->plans->ways;

	if (!best || !goodput)
		return;
	new_ways(w, job, k, (size_t)n + 1);
	for (int r = 1; r <= n && r <= job->max_replicas; r++) {
		struct option lean[SCHED_LEAN_WAYS], now = {
			.plan = job_plan_index(c->plans, best->best[r].configuration.plan),
		};
		int n_lean;

		if (!(goodput[r] > 0) || now.plan < 0)
			continue;
		if (c->suspended && is_own(&p, r))
			now.plan = plan_index(c, c->suspended->configuration.plan);
		now.bytes = w->bytes[k][r] = need_of(&p, now.plan < 0 ? 0 : now.plan, r);
		n_lean = c->guarantee || is_own(&p, r) ? 0 : find_lean(&p, r, &now, lean);
		for (int i = 0; i < n_lean; i++) {
			w->lean[i].goodput[k][r] = lean[i].goodput;
			w->lean[i].bytes[k][r] = lean[i].bytes;
			w->lean[i].plan[k][r] = lean[i].plan;
		}
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

bool plan_ways_lower(const struct candidate *c, int kind, struct throughput_place place)
{
	int r = place.replicas;
	bool lower = false;

	for (int way = 0; c->plans && way < SCHED_LEAN_WAYS; way++) {
		double *goodput = c->plans->ways.lean[way].goodput[kind], there;
		const int *plan = c->plans->ways.lean[way].plan[kind];

		if (!goodput || !(goodput[r] > 0))
			continue;
		there = plan_goodput_at(c->plans, plan[r], kind, place);
		if (there < goodput[r]) {
			goodput[r] = there;
			lower = true;
		}
	}
	return lower;
}

void plan_ways_free(struct plan_ways *w)
{
	for (int k = 0; k < SCHED_KINDS; k++) {
		free(w->bytes[k]);
		for (int way = 0; way < SCHED_LEAN_WAYS; way++) {
			free(w->lean[way].goodput[k]);
			free(w->lean[way].bytes[k]);
			free(w->lean[way].plan[k]);
		}
	}
}
