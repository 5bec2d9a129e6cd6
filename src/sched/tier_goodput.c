/* tier_goodput.c - see tier_goodput.h. */
#include "tier_goodput.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"
#include "pollux/mem.h"

#define RESTART_S 1.		/* a checkpoint */
#define BOUND 24

static int n_machines(const struct tier_cluster *c)
{
	return c->racks * c->machines_per_rack;
}

/* --- the order --- */

/* The effective lengths of the jobs, by those that have ended: lengths.h, where a job's GPUs, whose
 * number is fixed, count as one device. */
static void set_lengths(const struct tier_state *s, struct tier_job *const *jobs, int n)
{
	struct sched_job *told = xcalloc((size_t)n, sizeof(*told));
	struct curve *items = xcalloc((size_t)n, sizeof(*items));
	struct sched_input in = {
		.jobs = told, .n_jobs = n, .ended_device_s = s->ended_s,
		.n_ended = s->n_ended,
	};
	struct curves curves = { .in = &in, .items = items, .slice_s = s->lease_s };
	struct lengths lengths;

	for (int i = 0; i < n; i++) {
		told[i].attained_service_device_s = jobs[i]->on_s;
		items[i] = (struct curve){
			.job = &told[i], .least = 1,
			.remaining_device_s = jobs[i]->remaining_s,
		};
	}
	lengths = lengths_of(&curves);
	for (int i = 0; i < n; i++)
		jobs[i]->length_s = lengths_effective_device_s(&lengths, &items[i], 0);
	free(items);
	free(told);
}

static double bound_s(const struct tier_state *s, struct tier_job *const *jobs, int n)
{
	double gpus = 0;

	for (int i = 0; i < n; i++)
		gpus += jobs[i]->gpus;
	return BOUND * s->lease_s
	       * fmax(1, gpus / (n_machines(&s->cluster) * s->cluster.gpus_per_machine));
}

void tier_goodput_prepare(struct tier_state *s, struct tier_job *const *jobs, int n)
{
	double most_s = bound_s(s, jobs, n);
	size_t machines = (size_t)n_machines(&s->cluster);

	if (!s->promised_s) {
		s->promised_s = xcalloc(machines, sizeof(*s->promised_s));
		s->reserved = xcalloc(machines, sizeof(*s->reserved));
		s->open = xcalloc(machines, sizeof(*s->open));
	}
	for (size_t m = 0; m < machines; m++) {
		s->promised_s[m] = s->now_s;
		s->reserved[m] = false;
	}
	set_lengths(s, jobs, n);
	for (int i = 0; i < n; i++)
		jobs[i]->overdue = s->now_s - jobs[i]->since_s > most_s;
}

double tier_goodput_key(const struct tier_job *job)
{
	return job->overdue ? -1 : job->length_s;
}

/* --- the wait --- */

bool tier_wait_pays(const struct tier_job *j, enum tier now, enum tier better, double wait_s)
{
	return j->length_s / j->part[now] > wait_s + RESTART_S + j->length_s / j->part[better];
}

/* GPUs of the machines [first, first + n) that are free at a time. */
static int free_at(const struct tier_state *s, int first, int n, double time_s)
{
	int free = 0;

	for (int m = first; m < first + n; m++) {
		if (s->promised_s[m] > time_s)
			continue;
		free += s->cluster.free[m];
		for (int i = 0; i < s->n_leases; i++)
			if (s->leases[i].ends_s <= time_s)
				free += s->leases[i].held[m];
	}
	return free;
}

/* The first time at which the machines [first, first + n) have as many free GPUs. */
static double ready_s(const struct tier_state *s, int first, int n, int gpus)
{
	double best_s = HUGE_VAL;

	for (int i = -1; i < s->n_leases; i++) {
		double time_s = i < 0 ? s->now_s : s->leases[i].ends_s;

		for (int m = first; m < first + n; m++)
			if (i < 0)
				time_s = fmax(time_s, s->promised_s[m]);
		if (time_s < best_s && free_at(s, first, n, time_s) >= gpus)
			best_s = time_s;
	}
	return best_s;
}

/* *at (result): the first of the machines of the tier that are ready first. */
static double ready_within_s(const struct tier_state *s, int width, int gpus, int *at)
{
	double best_s = HUGE_VAL;

	for (int first = 0; first < n_machines(&s->cluster); first += width) {
		double time_s = ready_s(s, first, width, gpus);

		if (time_s < best_s) {
			best_s = time_s;
			*at = first;
		}
	}
	return best_s;
}

/* True if the job waits for a tier better than that of held; the machines are then promised. */
static bool waits(struct tier_state *s, const struct tier_job *j, enum tier now)
{
	int widths[TIERS] = { 1, s->cluster.machines_per_rack, n_machines(&s->cluster) };

	for (enum tier better = TIER_MACHINE; better < now; better++) {
		int at = 0;
		double time_s;

		if (j->gpus > widths[better] * s->cluster.gpus_per_machine)
			continue;
		time_s = ready_within_s(s, widths[better], j->gpus, &at);
		if (!tier_wait_pays(j, now, better, time_s - s->now_s))
			continue;
		for (int m = at; m < at + widths[better]; m++)
			s->promised_s[m] = time_s + s->lease_s;
		return true;
	}
	return false;
}

/* The best tier that has room for the job. */
static enum tier best_tier(const struct tier_state *s, const struct tier_job *j)
{
	int gpus = s->cluster.gpus_per_machine;

	return j->gpus <= gpus ? TIER_MACHINE
		: j->gpus <= gpus * s->cluster.machines_per_rack ? TIER_RACK : TIER_NETWORK;
}

/* Keeps the machines that are free first from all jobs that are asked later. */
static void reserve_machines(struct tier_state *s, int first, int width, int gpus)
{
	while (gpus > 0) {
		int best = -1;
		double best_s = HUGE_VAL;

		for (int m = first; m < first + width; m++) {
			double time_s = ready_s(s, m, 1, s->cluster.gpus_per_machine);

			if (!s->reserved[m] && (best < 0 || time_s < best_s)) {
				best = m;
				best_s = time_s;
			}
		}
		if (best < 0)
			return;
		s->reserved[best] = true;
		gpus -= s->cluster.gpus_per_machine;
	}
}

/* A job that waited too long gets the GPUs of the best tier that has room for it. */
static void reserve_for(struct tier_state *s, const struct tier_job *j)
{
	enum tier tier = best_tier(s, j);
	int width = tier == TIER_MACHINE ? 1
		: tier == TIER_RACK ? s->cluster.machines_per_rack : n_machines(&s->cluster);
	int at = 0;

	if (isfinite(ready_within_s(s, width, j->gpus, &at)))
		reserve_machines(s, at, width, j->gpus);
}

/* The cluster without the machines that are reserved. */
static struct tier_cluster open_cluster(const struct tier_state *s)
{
	struct tier_cluster open = s->cluster;

	open.free = s->open;
	for (int m = 0; m < n_machines(&s->cluster); m++)
		s->open[m] = s->reserved[m] ? 0 : s->cluster.free[m];
	return open;
}

bool tier_goodput_offer(struct tier_state *s, const struct tier_job *j, int *held, double *alarm_s)
{
	struct tier_cluster open = open_cluster(s);

	*alarm_s = HUGE_VAL;
	for (enum tier tier = TIER_MACHINE; tier < TIERS; tier++) {
		if (!tier_find(&open, tier, j->gpus, held))
			continue;
		if (j->overdue)
			return true;
		if (!s->second_pass && tier_of(&s->cluster, held) > best_tier(s, j))
			return false;
		return !waits(s, j, tier_of(&s->cluster, held));
	}
	if (j->overdue && !s->second_pass)
		reserve_for(s, j);
	return false;
}
