/* share.c - see share.h. */
#include "share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "decision.h"
#include "pollux/mem.h"
#include "pollux/share_pair.h"

/* --- who may share --- */

bool share_is_for(const struct snapshot *s, const struct candidate *c)
{
	const struct run *run = run_of(c);
	const struct declaration *d = &c->job->declared;

	if (run && run->state != RUN_ASSIGNED)
		return run->configuration.share > 0;
	return d->share && d->min_replicas == 1 && d->max_replicas == 1 && s->config->max_share > 1;
}

/* True if the guest can be made to leave without the loss of its work. */
static bool can_leave(const struct candidate *c)
{
	return c->relaunchable || c->suspends || (c->run && c->run->state == RUN_ASSIGNED);
}

/* --- groups --- */

/* The candidates on a device; the host first. */
struct group {
	int device, n;
	int members[SHARE_MOST];
};

static struct share_factor unknown(void)
{
	return (struct share_factor){
		.relative = (double)NAN, .alone_s = (double)NAN, .beside_s = (double)NAN,
	};
}

/* The factor of a beside b. One of the two has a run on the device. */
static struct share_factor factor_of(const struct snapshot *s, const struct candidate *a,
				     const struct candidate *b)
{
	const struct run *run = a->run ? a->run : b->run;
	const struct candidate *other = a->run ? b : a;
	int w = share_workload(s, other->job->declared.workload);
	size_t at = run ? (size_t)(run - s->runs.items) * s->share.workloads.count + (size_t)w : 0;

	if (!run || w < 0 || run->configuration.share == 0)
		return unknown();
	return a->run ? s->share.of_runs[at] : s->share.of_others[at];
}

static double need_of(const struct snapshot *s, const struct candidate *c)
{
	int w = share_workload(s, c->job->declared.workload);
	double measured = w < 0 ? (double)NAN : s->share.need_bytes[w];

	return isnan(measured) ? c->job->declared.gpu_memory_bytes : measured;
}

/* The memory of the device that suspended runs of others leave, and processes of no run. 0: it has
 * none of its own. */
static double room_on(const struct snapshot *s, const struct decision *d, const struct group *g)
{
	const struct job *last = d->candidates[g->members[g->n - 1]].job;
	int64_t memory_bytes = s->devices.items[g->device].memory_bytes;

	if (memory_bytes == 0)
		return 0;
	memory_bytes -= device_memory_kept(s, g->device, last) +
			device_memory_of_others(s, g->device);
	return fmax((double)memory_bytes, 1);
}

static struct share_answer judge_group(const struct snapshot *s, const struct decision *d,
				       const struct group *g)
{
	struct share_group group = { .n = g->n, .room_bytes = room_on(s, d, g) };

	for (int i = 0; i < g->n; i++) {
		const struct candidate *c = &d->candidates[g->members[i]];

		group.need_bytes[i] = need_of(s, c);
		for (int k = 0; k < g->n; k++)
			if (k != i)
				group.factors[i][k] =
					factor_of(s, c, &d->candidates[g->members[k]]);
	}
	return share_judge(&group);
}

/* --- reasons --- */

static void describe_share(const struct snapshot *s, const struct decision *d, int j,
			   const struct share_place *p, char *reason)
{
	const char *device = s->devices.items[p->device].name;
	long long host = (long long)d->candidates[p->host].job->id;
	bool leaves = p->leaves;
	struct text t = TEXT_INIT;

	switch (p->answer.verdict) {
	case SHARE_TOGETHER:
		text_addf(&t, "beside job %lld on %s: together they do %.1f times what they did "
			  "by turns", host, device, p->answer.sum);
		break;
	case SHARE_TRY:
		text_addf(&t, "beside job %lld on %s, to measure whether that pays", host, device);
		break;
	case SHARE_APART:
		text_addf(&t, "%s job %lld on %s: together they would do %.2f times what they do "
			  "by turns, of which %.2f is needed", leaves ? "leaves" : "cannot leave",
			  host, device, p->answer.sum, SHARE_GAIN);
		break;
	case SHARE_NO_ROOM:
		text_addf(&t, "%s job %lld on %s: with %.1f GiB of its own it does not fit beside "
			  "it", leaves ? "leaves" : "cannot leave", host, device,
			  need_of(s, &d->candidates[j]) / 0x1p30);
		break;
	case SHARE_NOT_AGAIN:
		text_addf(&t, "%s job %lld on %s: the two ran out of memory beside each other",
			  leaves ? "leaves" : "cannot leave", host, device);
		break;
	}
	snprintf(reason, SCHED_REASON_SIZE, "%s", t.data);
	text_release(&t);
}

/* --- before the policy is asked --- */

static double launched_s(const struct run *run)
{
	return isfinite(run->launch_boot_s) ? run->launch_boot_s : HUGE_VAL;
}

static bool came_before(const struct decision *d, int a, int b)
{
	const struct run *first = d->candidates[a].run, *second = d->candidates[b].run;
	double x = launched_s(first), y = launched_s(second);

	return x < y || (!(y < x) && first->id < second->id);
}

static struct group group_on(const struct snapshot *s, const struct decision *d, int device)
{
	struct group g = { .device = device };

	for (int j = 0; j < d->n && g.n < SHARE_MOST; j++) {
		const struct run *run = d->candidates[j].run;
		int i = g.n;

		if (!run || run_held(run) != 1 || run->devices[0].seat == 0 ||
		    decision_find_device(s, d, &run->devices[0]) != device)
			continue;
		for (; i > 0 && came_before(d, j, g.members[i - 1]); i--)
			g.members[i] = g.members[i - 1];
		g.members[i] = j;
		g.n++;
	}
	return g;
}

static void find_guests_on(const struct snapshot *s, struct decision *d, int device)
{
	struct group all = group_on(s, d, device);
	struct group kept = { .device = device, .n = all.n > 0, .members = { all.members[0] } };

	for (int i = 1; i < all.n; i++) {
		int j = all.members[i], host = all.members[0];
		struct share_place *p = &d->places[j];

		kept.members[kept.n++] = j;
		*p = (struct share_place){ .device = device, .host = host };
		p->answer = judge_group(s, d, &kept);
		p->leaves = p->answer.verdict > SHARE_TRY && can_leave(&d->candidates[j]);
		if (p->leaves) {
			kept.n--;
			d->sched_jobs[j].replicas = 0;
		} else if (!d->sched_jobs[j].preemptible) {
			d->sched_jobs[host].preemptible = false;
		}
	}
}

void share_find_guests(const struct snapshot *s, struct decision *d)
{
	bool any = false;

	d->n_asked = d->n;
	for (int i = 0; i < s->devices.count && s->share.workloads.count > 0; i++)
		find_guests_on(s, d, i);
	for (int j = 0; j < d->n; j++)
		any |= d->places[j].device >= 0;
	if (any)
		share_put_guests_last(d);
}

/* --- after the policy has decided --- */

/* True if the job keeps the run that it has on this device. */
static bool keeps(const struct snapshot *s, const struct decision *d, int j, int device)
{
	const struct run *run = d->candidates[j].run;

	return run && run->state == RUN_RUNNING && d->owner[device] == j &&
	       d->choices[j].replicas == 1 && run->configuration.share > 0 &&
	       run_held(run) == 1 && device_is_same(&s->devices.items[device], &run->devices[0]);
}

/* A guest leaves when its host leaves or ends; the next pass decides on the guest as on any job. */
static void decide_on_guests(const struct snapshot *s, struct decision *d)
{
	for (int j = d->n_asked; j < d->n; j++) {
		struct share_place *p = &d->places[j];
		bool kept = keeps(s, d, p->host, p->device);

		d->choices[j] = (struct sched_choice){
			.replicas = kept, .next_start_s = (double)NAN,
		};
		if (kept)
			describe_share(s, d, j, p, d->choices[j].reason);
		else
			snprintf(d->choices[j].reason, SCHED_REASON_SIZE, "leaves %s with job %lld",
				 s->devices.items[p->device].name,
				 (long long)d->candidates[p->host].job->id);
		if (!kept)
			p->device = -1;
	}
}

/* The host of the device and its guests. Empty: the device has no host that could have a guest, or
 * has a run that is still to leave. */
static struct group guests_of(const struct snapshot *s, const struct decision *d, int device)
{
	int host = d->owner[device], held = 0;
	struct group g = { .device = device, .n = host >= 0 && keeps(s, d, host, device),
			   .members = { host } };

	for (int r = 0; g.n && r < s->runs.count; r++)
		held += run_held(&s->runs.items[r]) > 0 &&
			device_overlaps(&s->devices.items[device], &s->runs.items[r].devices[0]);
	for (int j = 0; g.n && j < d->n && g.n < SHARE_MOST; j++)
		if (share_is_guest(&d->places[j]) && d->places[j].device == device) {
			g.members[g.n++] = j;
			held += d->candidates[j].run == NULL;
		}
	if (held != g.n)
		g.n = 0;
	return g;
}

/* True if the jobs fit into the machine's memory, where devices have none of their own. */
static bool fits_machine(const struct snapshot *s, const struct candidate *c)
{
	double need = need_of(s, c);
	double spare = SHARE_SPARE * (double)s->memory.total_bytes;

	return s->memory.total_bytes == 0 || isnan(need) || c->suspended ||
	       need <= (double)s->memory.available_bytes - spare;
}

/* A pair is tried once the host was measured alone, with a guest that can be made to leave. */
static bool may_try(const struct snapshot *s, const struct decision *d, const struct group *g,
		    int j)
{
	const struct run *host = d->candidates[g->members[0]].run;

	return g->n == 2 && s->share.alone[host - s->runs.items] > 0 &&
	       can_leave(&d->candidates[j]);
}

/* Judges candidate j as the last job to come beside those of g. False: the candidate does not go
 * there. */
static bool offer_place(const struct snapshot *s, const struct decision *d, struct group *g, int j,
			struct share_place *p)
{
	*p = (struct share_place){ .device = g->device, .host = g->members[0] };
	if (g->n == 0 || g->n >= s->config->max_share || g->n >= SHARE_MOST ||
	    s->devices.items[g->device].exclusive ||
	    (d->candidates[j].suspended &&
	     !may_come_back_to(s, d->candidates[j].suspended, g->device)) ||
	    d->sched_jobs[j].offers[d->kind_of[g->device]].barred)
		return false;
	g->members[g->n++] = j;
	p->answer = judge_group(s, d, g);
	if (p->answer.verdict == SHARE_TRY && !may_try(s, d, g, j))
		p->answer.verdict = SHARE_NO_ROOM;
	g->n--;
	return p->answer.verdict <= SHARE_TRY;
}

static bool may_be_guest(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];

	return d->choices[j].replicas == 0 && !c->run && share_is_for(s, c) &&
	       share_workload(s, c->job->declared.workload) >= 0 && fits_machine(s, c);
}

/* The jobs that could be guests. */
struct waiting {
	int *jobs;			/* owned */
	int n;
	double *gain;			/* owned; share_pair.h */
};

static struct waiting find_waiting(const struct snapshot *s, const struct decision *d,
				   struct group *groups)
{
	int n_devices = s->devices.count;
	struct waiting w = { .jobs = xcalloc((size_t)d->n_asked + 1, sizeof(int)) };
	struct share_place p;

	for (int j = 0; j < d->n_asked; j++)
		if (may_be_guest(s, d, j))
			w.jobs[w.n++] = j;
	w.gain = xcalloc((size_t)w.n * (size_t)n_devices + 1, sizeof(double));
	for (int k = 0; k < w.n; k++)
		for (int i = 0; i < n_devices; i++)
			if (offer_place(s, d, &groups[i], w.jobs[k], &p))
				w.gain[k * n_devices + i] = p.answer.gain;
	return w;
}

static void place_guest(const struct snapshot *s, struct decision *d, int j, struct group *g)
{
	struct share_place p;

	if (!offer_place(s, d, g, j, &p))
		return;
	d->places[j] = p;
	d->choices[j].replicas = 1;
	d->choices[j].next_start_s = (double)NAN;
	describe_share(s, d, j, &p, d->choices[j].reason);
}

/* Gives each device at most one more guest. Returns the number of guests that were placed. */
static int place_round(const struct snapshot *s, struct decision *d)
{
	int n_devices = s->devices.count, placed = 0;
	struct group *groups = xcalloc((size_t)n_devices + 1, sizeof(*groups));
	struct waiting w;
	int *device_of;

	for (int i = 0; i < n_devices; i++)
		groups[i] = guests_of(s, d, i);
	w = find_waiting(s, d, groups);
	device_of = xcalloc((size_t)w.n + 1, sizeof(int));
	share_match(w.gain, w.n, n_devices, device_of);
	for (int k = 0; k < w.n; k++)
		if (device_of[k] >= 0) {
			place_guest(s, d, w.jobs[k], &groups[device_of[k]]);
			placed++;
		}
	free(device_of);
	free(w.jobs);
	free(w.gain);
	free(groups);
	return placed;
}

void share_place_guests(const struct snapshot *s, struct decision *d)
{
	if (s->share.workloads.count == 0)
		return;
	decide_on_guests(s, d);
	for (int j = 0; j < d->n_asked; j++)
		if (d->places[j].leaves && d->choices[j].replicas == 0)
			describe_share(s, d, j, &d->places[j], d->choices[j].reason);
	while (place_round(s, d) > 0)
		;
}
