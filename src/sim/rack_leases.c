/* rack_leases.c - how a lease goes: its GPUs, its rate, its end. */
#include <math.h>
#include <string.h>

#include "rack_leases.h"

/* --- who shares uplinks --- */

static bool crosses(const struct rack_run *r, int first, int n)
{
	int inside = 0;

	for (int m = first; m < first + n; m++)
		inside += r->held[m];
	return inside > 0 && inside < r->job->gpus;
}

/* The largest number of jobs that cross one of the boundaries that the run crosses, among the
 * groups of n machines. */
static int most_sharers(const struct rack_simulation *s, const struct rack_run *r, int n)
{
	int most = 1;

	for (int first = 0; first < s->n_machines; first += n) {
		int sharers = 0;

		if (!crosses(r, first, n))
			continue;
		for (int i = 0; i < s->n_submitted; i++)
			sharers += s->runs[i].state == RUNS && crosses(&s->runs[i], first, n);
		if (sharers > most)
			most = sharers;
	}
	return most;
}

static double part_now(const struct rack_simulation *s, const struct rack_run *r)
{
	int sharers[DISTANCES] = { 1, 1, 1 };

	if (s->tiers->contention && racks_distance(&s->state.cluster, r->held) != IN_MACHINE) {
		sharers[IN_RACK] = most_sharers(s, r, 1);
		sharers[ANYWHERE] = most_sharers(s, r, s->state.cluster.machines_per_rack);
	}
	return sim_racks_part(s->tiers, r->job->application, r->held, sharers);
}

double rack_part_alone(const struct rack_simulation *s, const struct rack_run *r, const int *held)
{
	static const int alone[DISTANCES] = { 1, 1, 1 };

	return sim_racks_part(s->tiers, r->job->application, held, alone);
}

/* --- leases --- */

static void count_work(struct rack_run *r, double seconds)
{
	r->told.left_s -= seconds * r->part;
	r->communication_s += seconds * (1 - r->part);
}

/* Sets the end of the lease for a job that computes for this part of the time. */
static void set_end(struct rack_run *r, double part)
{
	double needs_s = r->told.left_s / part, room_s = r->lease_end_s - r->from_s;

	r->part = part;
	r->last = needs_s <= room_s;
	r->ends_s = r->from_s + fmin(needs_s, room_s);
}

void rack_lease_begin(struct rack_simulation *s, struct rack_run *r, const int *held)
{
	memcpy(r->held, held, (size_t)s->n_machines * sizeof(*held));
	for (int m = 0; m < s->n_machines; m++)
		s->state.cluster.free[m] -= held[m];
	r->state = RUNS;
	r->begun_s = rack_now_s(s);
	r->from_s = rack_now_s(s) + (r->leases ? SIM_RACKS_CHECKPOINT_S : 0);
	r->lease_end_s = r->from_s + s->state.lease_s;
	r->part_most = rack_part_alone(s, r, held);
	set_end(r, r->part_most);
	if (r->leases++ == 0)
		r->start_s = rack_now_s(s);
}

void rack_lease_end(struct rack_simulation *s, struct rack_run *r)
{
	for (int m = 0; m < s->n_machines; m++)
		s->state.cluster.free[m] += r->held[m];
	memset(r->held, 0, (size_t)s->n_machines * sizeof(*r->held));
	count_work(r, r->ends_s - r->from_s);
	r->told.on_s += r->ends_s - r->begun_s;
	r->told.since_s = rack_now_s(s);
	r->ended = true;
	r->state = r->last ? DONE : WAITS;
	if (r->last) {
		r->finish_s = rack_now_s(s);
		s->ended_s[s->n_done++] = r->told.on_s;
		s->state.n_ended = s->n_done;
	}
}

void rack_lease_share_uplinks(struct rack_simulation *s)
{
	for (int i = 0; i < s->n_submitted && s->tiers->contention; i++) {
		struct rack_run *r = &s->runs[i];
		double part;

		if (r->state != RUNS || (part = part_now(s, r)) == r->part)
			continue;
		if (rack_now_s(s) > r->from_s) {
			count_work(r, rack_now_s(s) - r->from_s);
			r->from_s = rack_now_s(s);
		}
		set_end(r, part);
	}
}
