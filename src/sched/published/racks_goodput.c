/* racks_goodput.c - goodput over racks: the shortest job first, and a wait for better joined GPUs
 * where that ends the job sooner: pollux-goodput(7), Tiers, in simulation. What remains of a job is
 * the work that is left, or its effective length (lengths.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lengths.h"
#include "pollux/mem.h"
#include "pollux/racks.h"

#define RESTART_S 1.		/* a checkpoint */
#define BOUND 24

/* --- the order --- */

/* The effective lengths of the jobs, by those that have ended: lengths.h, where a job's GPUs, whose
 * number is fixed, count as one device. */
static void set_lengths(const struct rack_state *s, struct rack_job *const *jobs, int n)
{
	autofree struct sched_job *told = xcalloc((size_t)n, sizeof(*told));
	autofree struct curve *items = xcalloc((size_t)n, sizeof(*items));
	struct sched_input in = {
		.jobs = told, .n_jobs = n, .ended_device_s = s->ended_s,
		.n_ended = s->n_ended, .n_kinds = 1,
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
}

void rack_goodput_prepare(struct rack_state *s, struct rack_job *const *jobs, int n)
{
	double most_s, gpus = 0;
	size_t machines = (size_t)racks_machines(&s->cluster);

	if (!s->promised_s) {
		s->promised_s = xcalloc(machines, sizeof(*s->promised_s));
		s->reserved = xcalloc(machines, sizeof(*s->reserved));
		s->open = xcalloc(machines, sizeof(*s->open));
	}
	for (int i = 0; i < n; i++)
		gpus += jobs[i]->gpus;
	gpus /= racks_machines(&s->cluster) * s->cluster.gpus_per_machine;
	most_s = BOUND * s->lease_s * fmax(1, gpus);
	for (size_t m = 0; m < machines; m++) {
		s->promised_s[m] = s->now_s;
		s->reserved[m] = false;
	}
	set_lengths(s, jobs, n);
	for (int i = 0; i < n; i++)
		jobs[i]->overdue = s->now_s - jobs[i]->since_s > most_s;
}

double rack_goodput_key(const struct rack_job *job)
{
	return job->overdue ? -1 : job->length_s;
}

/* --- the wait --- */

/* GPUs of the machines [first, first + n) that are free at a time. */
static int free_at(const struct rack_state *s, int first, int n, double time_s)
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
static double ready_s(const struct rack_state *s, int first, int n, int gpus)
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

/* *at (result): the first of the machines, `width` of them, that are ready first. */
static double ready_within_s(const struct rack_state *s, int width, int gpus, int *at)
{
	double best_s = HUGE_VAL;

	for (int first = 0; first < racks_machines(&s->cluster); first += width) {
		double time_s = ready_s(s, first, width, gpus);

		if (time_s < best_s) {
			best_s = time_s;
			*at = first;
		}
	}
	return best_s;
}

/* True if the job waits for GPUs that are nearer than now; their machines are then promised. */
static bool waits(struct rack_state *s, const struct rack_job *j, enum distance now)
{
	for (enum distance better = IN_MACHINE; better < now; better++) {
		int at = 0, width = racks_width(&s->cluster, better);
		double time_s, later_s;

		if (j->gpus > width * s->cluster.gpus_per_machine)
			continue;
		time_s = ready_within_s(s, width, j->gpus, &at);
		/* The job's end from now on, if it waits. */
		later_s = time_s - s->now_s + RESTART_S + j->length_s / j->part[better];
		if (!(j->length_s / j->part[now] > later_s))
			continue;
		for (int m = at; m < at + width; m++)
			s->promised_s[m] = time_s + s->lease_s;
		return true;
	}
	return false;
}

/* The least distance at which the job has room. */
static enum distance least_distance(const struct rack_state *s, const struct rack_job *j)
{
	enum distance d = IN_MACHINE;

	while (d < ANYWHERE &&
	       j->gpus > racks_width(&s->cluster, d) * s->cluster.gpus_per_machine)
		d++;
	return d;
}

/* Keeps machines for a job that waited too long, of the least distance at which it has room, from
 * all jobs that are asked later: those that are free first. */
static void reserve_for(struct rack_state *s, const struct rack_job *j)
{
	int width = racks_width(&s->cluster, least_distance(s, j)), first = 0, gpus = j->gpus;

	if (!isfinite(ready_within_s(s, width, gpus, &first)))
		return;
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

bool rack_goodput_offer(struct rack_state *s, const struct rack_job *j, int *held, double *alarm_s)
{
	struct rack_cluster open = s->cluster;

	/* The machines that are reserved are left out. */
	open.free = s->open;
	for (int m = 0; m < racks_machines(&s->cluster); m++)
		s->open[m] = s->reserved[m] ? 0 : s->cluster.free[m];

	*alarm_s = HUGE_VAL;
	for (enum distance d = IN_MACHINE; d < DISTANCES; d++) {
		if (!racks_find(&open, d, j->gpus, held))
			continue;
		if (j->overdue)
			return true;
		if (!s->second_pass && racks_distance(&s->cluster, held) > least_distance(s, j))
			return false;
		return !waits(s, j, racks_distance(&s->cluster, held));
	}
	if (j->overdue && !s->second_pass)
		reserve_for(s, j);
	return false;
}
