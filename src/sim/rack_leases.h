/* rack_leases.h - the jobs of a simulation with tiers, and the leases that they have. */
#ifndef SIM_RACK_LEASES_H
#define SIM_RACK_LEASES_H

#include "pollux/sim_racks.h"
#include "pollux/racks.h"

enum rack_run_state { COMING, WAITS, RUNS, DONE };

struct rack_run {
	const struct rack_workload_job *job;
	enum rack_run_state state;
	struct rack_job told;
	double start_s, finish_s, communication_s;
	int leases;
	/* The present lease: it computes for `part` of the time from from_s to ends_s. */
	double begun_s, from_s, lease_end_s, ends_s, part, part_most;
	bool last;		/* it ends with its work */
	bool ran, ended;	/* before this event; its lease ended at this event */
	int *held, *held_before;	/* of each machine */
};

struct rack_simulation {
	const struct sim_options *options;
	const struct sim_racks *tiers;
	const struct sim_workload *workload;
	struct rack_state state;
	struct rack_run *runs;
	int *held;		/* memory of all runs */
	struct rack_run **waiting;	/* in the order in which they are asked */
	struct rack_job **asked;	/* the same for a policy that prepares */
	struct rack_lease *leases;
	double *ended_s;
	int n_waiting, n_machines, n_submitted, n_done;
	double alarm_s;
	double *decide_s;
};

static inline double rack_now_s(const struct rack_simulation *s)
{
	return s->state.now_s;
}

/* --- rack_leases.c --- */
/* The part of its time in which the job computes on these GPUs while nobody shares uplinks. */
double rack_part_alone(const struct rack_simulation *s, const struct rack_run *r, const int *held);
/* Begins a lease on these GPUs of each machine, now. */
void rack_lease_begin(struct rack_simulation *s, struct rack_run *r, const int *held);
/* Ends the lease, and with the last one the job. */
void rack_lease_end(struct rack_simulation *s, struct rack_run *r);
/* Sets the rates of jobs whose uplinks have got other sharers. */
void rack_lease_share_uplinks(struct rack_simulation *s);

#endif
