/* tier_leases.h - the jobs of a simulation with tiers, and the leases that they have. */
#ifndef SIM_TIER_LEASES_H
#define SIM_TIER_LEASES_H

#include "pollux/sim_tiers.h"
#include "pollux/tier.h"

enum tier_run_state { COMING, WAITS, RUNS, DONE };

struct tier_run {
	const struct tier_workload_job *job;
	enum tier_run_state state;
	struct tier_job told;
	double start_s, finish_s, communication_s;
	int leases;
	/* The present lease: it computes for `part` of the time from from_s to ends_s. */
	double begun_s, from_s, lease_end_s, ends_s, part, part_most;
	bool last;		/* it ends with its work */
	bool ran, ended;	/* before this event; its lease ended at this event */
	int *held, *held_before;	/* of each machine */
};

struct tier_simulation {
	const struct sim_options *options;
	const struct sim_tiers *tiers;
	const struct sim_workload *workload;
	struct tier_state state;
	struct tier_run *runs;
	int *held;		/* memory of all runs */
	struct tier_run **waiting;	/* in the order in which they are asked */
	struct tier_job **asked;	/* the same for a policy that prepares */
	struct tier_lease *leases;
	double *ended_s;
	int n_waiting, n_machines, n_submitted, n_done;
	double alarm_s;
	double *decide_s;
};

static inline double tier_now_s(const struct tier_simulation *s)
{
	return s->state.now_s;
}

/* --- tier_leases.c --- */
/* The part of its time in which the job computes on these GPUs while nobody shares uplinks. */
double tier_part_alone(const struct tier_simulation *s, const struct tier_run *r, const int *held);
/* Begins a lease on these GPUs of each machine, now. */
void tier_lease_begin(struct tier_simulation *s, struct tier_run *r, const int *held);
/* Ends the lease, and with the last one the job. */
void tier_lease_end(struct tier_simulation *s, struct tier_run *r);
/* Sets the rates of jobs whose uplinks have got other sharers. */
void tier_lease_share_uplinks(struct tier_simulation *s);

#endif
