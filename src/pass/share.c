/* share.c - jobs that run beside each other on one device.
 *
 * The policy decides on devices, not on parts of them. So of the runs on a shared device it is
 * asked about the oldest one alone, the host; the others, the guests, stay or leave with the host,
 * or leave by themselves once it is measured that they cost more than they bring. When the policy
 * has decided, jobs that are left without a device may become guests: so that the sum of what all
 * guests add is the largest there is, with at most one more on each device. The same is done again
 * for who is left, until nobody fits. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/share_pair.h"
#include "stages.h"

/* --- who may share --- */

/* True if the job's run shares its device, or would. */
static bool share_is_for(const struct snapshot *s, const struct candidate *c)
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

/* The factor of a beside b. One of the two has a run on the device. */
static struct share_factor factor_of(const struct snapshot *s, const struct candidate *a,
				     const struct candidate *b)
{
	const struct run *run = a->run ? a->run : b->run;
	const struct candidate *other = a->run ? b : a;
	int w = share_workload(s, other->job->declared.workload);
	size_t at = run ? (size_t)(run - s->runs.items) * s->share.workloads.count + (size_t)w : 0;

	if (!run || w < 0 || run->configuration.share == 0)
		return (struct share_factor){
			.relative = (double)NAN, .alone_s = (double)NAN, .beside_s = (double)NAN,
		};
	return a->run ? s->share.of_runs[at] : s->share.of_others[at];
}

static double need_of(const struct snapshot *s, const struct candidate *c)
{
	int w = share_workload(s, c->job->declared.workload);
	double measured = w < 0 ? (double)NAN : s->share.need_bytes[w];

	return isnan(measured) ? c->job->declared.gpu_memory_bytes : measured;
}

static struct share_answer judge_group(const struct snapshot *s, const struct decision *d,
				       const struct group *g)
{
	const struct job *last = d->candidates[g->members[g->n - 1]].job;
	int64_t room = s->devices.items[g->device].memory_bytes;
	struct share_group group = { .n = g->n };

	/* What suspended runs of others leave, and processes of no run. 0: the device has no memory
	 * of its own. */
	if (room > 0)
		group.room_bytes = fmax((double)(room -
			device_memory_kept(s, NULL, g->device, last) -
			device_memory_of_others(s, g->device)), 1);
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

/* --- verdicts --- */

static struct verdict verdict_on_guest(const struct snapshot *s, const struct decision *d, int j,
				       const struct share_place *p)
{
	static const enum fact_kind why[] = {
		[SHARE_TOGETHER] = FACT_TOGETHER_MORE, [SHARE_TRY] = FACT_TRIED_TOGETHER,
		[SHARE_APART] = FACT_TOGETHER_LESS, [SHARE_NO_ROOM] = FACT_NO_ROOM_BESIDE,
		[SHARE_NOT_AGAIN] = FACT_RAN_OUT_BESIDE,
	};
	enum share_verdict answer = p->answer.verdict;
	struct fact because = { .kind = why[answer] };
	struct verdict v = verdict_of((struct fact){
		answer <= SHARE_TRY ? FACT_BESIDE : p->leaves ? FACT_LEAVES : FACT_CANNOT_LEAVE,
		.job = d->candidates[p->host].job->id, .name = s->devices.items[p->device].name,
	});

	if (answer == SHARE_NO_ROOM)
		because.bytes.needs = need_of(s, &d->candidates[j]);
	else
		because.gain.times = p->answer.sum;
	verdict_add(&v, because);
	return v;
}

/* --- before the policy is asked --- */

static double launched_s(const struct run *run)
{
	return isfinite(run->launch_boot_s) ? run->launch_boot_s : HUGE_VAL;
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
		/* the host is the one that was launched first */
		for (; i > 0; i--) {
			const struct run *before = d->candidates[g.members[i - 1]].run;
			double x = launched_s(run), y = launched_s(before);

			if (x > y || (!(x < y) && run->id >= before->id))
				break;
			g.members[i] = g.members[i - 1];
		}
		g.members[i] = j;
		g.n++;
	}
	return g;
}

static bool is_guest(const struct share_place *p)
{
	return p->device >= 0 && !p->leaves;
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

/* Puts the candidates that are guests behind d->n_asked others. */
static void put_guests_last(struct decision *d)
{
	size_t n = (size_t)d->n;
	struct candidate *candidates = xcalloc(n, sizeof(*candidates));
	struct sched_job *jobs = xcalloc(n, sizeof(*jobs));
	struct share_place *places = xcalloc(n, sizeof(*places));
	int *now_at = xcalloc(n, sizeof(*now_at)), at = 0;

	for (int guests = 0; guests < 2; guests++) {
		for (int j = 0; j < d->n; j++) {
			if (is_guest(&d->places[j]) != (guests == 1))
				continue;
			candidates[at] = d->candidates[j];
			jobs[at] = d->sched_jobs[j];
			places[at] = d->places[j];
			now_at[j] = at++;
		}
		d->n_asked = guests ? d->n_asked : at;
	}
	for (int j = 0; j < d->n; j++)
		if (places[j].device >= 0)
			places[j].host = now_at[places[j].host];
	free(d->candidates);
	free(d->sched_jobs);
	free(d->places);
	free(now_at);
	d->candidates = candidates;
	d->sched_jobs = jobs;
	d->places = places;
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
		put_guests_last(d);
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
		if (is_guest(&d->places[j]) && d->places[j].device == device) {
			g.members[g.n++] = j;
			held += d->candidates[j].run == NULL;
		}
	if (held != g.n)
		g.n = 0;
	return g;
}

/* Judges candidate j as the last job to come beside those of g. False: the candidate does not go
 * there. */
static bool offer_place(const struct snapshot *s, const struct decision *d, struct group *g, int j,
			struct share_place *p)
{
	const struct candidate *c = &d->candidates[j];

	*p = (struct share_place){ .device = g->device, .host = g->members[0] };
	if (g->n == 0 || g->n >= s->config->max_share || g->n >= SHARE_MOST ||
	    s->devices.items[g->device].exclusive ||
	    (c->suspended && run_is_bound(c->suspended) &&
	     !run_has(c->suspended, &s->devices.items[g->device])) ||
	    d->sched_jobs[j].offers[d->kind_of[g->device]].barred)
		return false;
	g->members[g->n++] = j;
	p->answer = judge_group(s, d, g);
	/* A pair is tried once the host was measured alone, with a guest that can be made to
	 * leave. */
	if (p->answer.verdict == SHARE_TRY &&
	    (g->n != 2 || !can_leave(c) ||
	     s->share.alone[d->candidates[p->host].run - s->runs.items] <= 0))
		p->answer.verdict = SHARE_NO_ROOM;
	g->n--;
	return p->answer.verdict <= SHARE_TRY;
}

static bool may_be_guest(const struct snapshot *s, const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	double total = (double)s->memory.total_bytes, need = need_of(s, c);
	/* into the machine's memory, where devices have none of their own */
	bool fits = s->memory.total_bytes == 0 || isnan(need) || c->suspended ||
		    need <= (double)s->memory.available_bytes - SHARE_SPARE * total;

	return d->choices[j].replicas == 0 && !c->run && fits && share_is_for(s, c) &&
	       share_workload(s, c->job->declared.workload) >= 0;
}

/* Gives each device at most one more guest. Returns the number of guests that were placed. */
static int place_round(const struct snapshot *s, struct decision *d)
{
	int n_devices = s->devices.count, n = 0, placed = 0;
	struct group *groups = xcalloc((size_t)n_devices + 1, sizeof(*groups));
	int *jobs = xcalloc((size_t)d->n_asked + 1, sizeof(int)), *device_of;	/* by guest */
	double *gain;			/* share_pair.h */
	struct share_place p;

	for (int i = 0; i < n_devices; i++)
		groups[i] = guests_of(s, d, i);
	for (int j = 0; j < d->n_asked; j++)
		if (may_be_guest(s, d, j))
			jobs[n++] = j;
	gain = xcalloc((size_t)n * (size_t)n_devices + 1, sizeof(double));
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n_devices; i++)
			if (offer_place(s, d, &groups[i], jobs[k], &p))
				gain[k * n_devices + i] = p.answer.gain;
	device_of = xcalloc((size_t)n + 1, sizeof(int));
	share_match(gain, n, n_devices, device_of);
	for (int k = 0; k < n; k++) {
		int j = jobs[k];

		if (device_of[k] < 0)
			continue;
		placed++;
		if (!offer_place(s, d, &groups[device_of[k]], j, &p))
			continue;
		d->places[j] = p;
		d->choices[j].replicas = 1;
		d->choices[j].next_start_s = (double)NAN;
		d->choices[j].verdict = verdict_on_guest(s, d, j, &p);
	}
	free(device_of);
	free(jobs);
	free(gain);
	free(groups);
	return placed;
}

void share_place_guests(const struct snapshot *s, struct decision *d)
{
	if (s->share.workloads.count == 0)
		return;
	/* A guest leaves when its host leaves or ends; the next pass decides on the guest as on any
	 * job. */
	for (int j = d->n_asked; j < d->n; j++) {
		struct share_place *p = &d->places[j];
		bool kept = keeps(s, d, p->host, p->device);

		d->choices[j] = (struct sched_choice){
			.replicas = kept, .next_start_s = (double)NAN,
		};
		if (kept) {
			d->choices[j].verdict = verdict_on_guest(s, d, j, p);
			continue;
		}
		d->choices[j].verdict = verdict_of((struct fact){
			FACT_LEAVES_WITH, .job = d->candidates[p->host].job->id,
			.name = s->devices.items[p->device].name,
		});
		p->device = -1;
	}
	for (int j = 0; j < d->n_asked; j++)
		if (d->places[j].leaves && d->choices[j].replicas == 0)
			d->choices[j].verdict = verdict_on_guest(s, d, j, &d->places[j]);
	while (place_round(s, d) > 0)
		;
}

/* --- seats --- */

/* True if the candidate's run stays on the device. */
static bool stays(const struct decision *d, const struct run *run, int device)
{
	for (int k = 0; k < d->n; k++)
		if (d->candidates[k].run == run)
			return d->choices[k].replicas == 1 &&
			       (d->owner[device] == k || d->places[k].device == device);
	return false;
}

static bool is_taken(const struct snapshot *s, const struct decision *d, int device, int seat)
{
	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run_held(run) > 0 && run->devices[0].seat == seat && stays(d, run, device) &&
		    device_is_same(&s->devices.items[device], &run->devices[0]))
			return true;
	}
	for (int k = 0; k < d->n; k++)
		if (d->places[k].seat == seat && d->places[k].device == device)
			return true;
	return false;
}

/* A run that is to leave keeps its seat until it ends. The job that gets the same seat waits for
 * this end. */
static int seat_on(const struct snapshot *s, const struct decision *d, int device)
{
	int seat = 1;

	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run_held(run) > 0 && run->devices[0].seat > 0 && !stays(d, run, device) &&
		    device_is_same(&s->devices.items[device], &run->devices[0]) &&
		    !is_taken(s, d, device, run->devices[0].seat))
			return run->devices[0].seat;
	}
	while (is_taken(s, d, device, seat))
		seat++;
	return seat;
}

void share_give_seats(const struct snapshot *s, struct decision *d)
{
	for (int i = 0; i < s->devices.count; i++)
		for (int j = 0; j < d->n; j++)
			if (d->choices[j].replicas == 1 && share_is_for(s, &d->candidates[j]) &&
			    decision_gives(d, j, i))
				d->places[j].seat = seat_on(s, d, i);
}
