/* tier.h - tiers of a network: machine, rack, network; which GPUs a job is offered, how long it
 * refuses those that are badly joined, and in which order jobs are asked. Pure functions.
 *
 * After "Dally" (arXiv 2401.16492): delay scheduling with a timer for each tier. A job that waits
 * takes GPUs of one machine at once, GPUs of one rack only when it has waited for the timer of the
 * rack, and any GPUs when it has waited for the timer of the network. The timers follow the waits
 * of other jobs of the same demand:
 *
 *	stat(waits) = mean + 2 population standard deviations, 1 if there are none
 *	T_rack = min(ceil(0.8 H), max(6, ceil(stat(waits for a machine))))   in leases, H = 24
 *	T_network = min(H, max(12, ceil(stat(waits for a rack))))
 *
 * where waits count that are at least a lease long and younger than H leases. */
#ifndef POLLUX_TIER_H
#define POLLUX_TIER_H

#include <stdbool.h>

/* The farthest pair of a set of GPUs. */
enum tier { TIER_MACHINE, TIER_RACK, TIER_NETWORK, TIERS };

#define TIER_LEASE_S 3600.	/* as published */
#define TIER_HOURS 24		/* H: leases for which a wait counts; the longest timer */

/* Machines in the order of their racks. */
struct tier_cluster {
	int racks, machines_per_rack, gpus_per_machine;
	int *free;		/* GPUs that no job holds, of each machine */
};

/* Finds n free GPUs within one machine, within one rack, or anywhere, and writes their number on
 * each machine into held. Best fit: chooses the machine, or the rack, with the fewest free GPUs
 * that suffice, the first one of equals. In a rack, and anywhere, machines with the most free GPUs
 * come first. Returns false, with held all 0, if there are too few. */
bool tier_find(const struct tier_cluster *c, enum tier within, int n, int *held);
/* The tier of held, which has at least one GPU. */
enum tier tier_of(const struct tier_cluster *c, const int *held);

/* Waits of jobs until they got GPUs within a tier. */
struct tier_history {
	struct tier_wait {
		int gpus;
		double time_s, leases;
	} *waits;		/* owned; ascending by time_s */
	int n;
};

/* Adds a wait, and drops those that no longer count. */
void tier_history_add(struct tier_history *h, struct tier_wait wait, double lease_s);
void tier_history_release(struct tier_history *h);

/* The time that a job waits before it takes GPUs of one rack, and before it takes any GPUs:
 * seconds, or infinite. */
struct tier_timers {
	double rack_s, network_s;
};

struct tier_timers tier_tune(const struct tier_history *machine, const struct tier_history *rack,
			     int gpus, double now_s, double lease_s);

/* --- policies --- */

/* A job that waits. Work is in seconds on its GPUs without any communication. */
struct tier_job {
	int index;		/* breaks ties */
	int gpus;
	double since_s;		/* it was submitted, or gave its GPUs up */
	double work_s, left_s;	/* at the start; now */
	double on_s;		/* had GPUs, for this time */
	bool insensitive;	/* tiresias-net spreads it over machines */
	/* For goodput: the part of its time in which it computes within each tier; the work that is
	 * left, as left_s, NaN where it is not known. */
	double part[TIERS], remaining_s;
	/* Filled in by goodput: its effective length, on its GPUs; it waited too long. */
	double length_s;
	bool overdue;
};

/* A job that has GPUs. */
struct tier_lease {
	const int *held;	/* of each machine */
	double ends_s;		/* by then at the latest */
};

struct tier_state {
	struct tier_cluster cluster;
	double now_s, lease_s;
	bool tunes;		/* by tier_tune(); otherwise the timers are these */
	struct tier_timers timers;
	struct tier_history machine, rack;
	/* For goodput. */
	bool second_pass;	/* all jobs were asked once at this event */
	const struct tier_lease *leases;
	int n_leases;
	const double *ended_s;	/* for which the jobs that have ended had GPUs */
	int n_ended;
	/* The time until which each machine is promised to other jobs, which were asked before. */
	double *promised_s;		/* owned; of each machine */
	bool *reserved;		/* owned: for a job that waited too long */
	int *open;		/* owned: free GPUs of machines that are not reserved */
};

void tier_state_release(struct tier_state *s);

/* key: the job of the smallest key is asked first; of several, the one of the earliest since_s, and
 * then of the smallest index (tier_compare).
 * offer: true: the job takes held. False: it refuses; *alarm_s is then the time at which its answer
 * may change, infinite where only other jobs can change it. */
struct tier_policy {
	const char *name;
	double (*key)(const struct tier_job *job);
	bool (*offer)(struct tier_state *s, const struct tier_job *job, int *held, double *alarm_s);
	bool has_timers;
	/* Looks at all jobs that wait before they are asked; may be NULL. */
	void (*prepare)(struct tier_state *s, struct tier_job *const *jobs, int n);
};

/* dally: the job comes first that the network slowed most: the part of its work that is done, by
 *	the part of its ideal time for which it had GPUs.
 * tiresias-net: least GPU time first; one machine, unless the job is insensitive or larger.
 * gandiva-net: in the order of since_s; the best joined GPUs there are, at once.
 * srtf-net, las-net: least remaining time, or GPU time, first; timers as dally.
 * goodput: src/sched/tier_goodput.c. */
/* All policies; the name of the entry behind the last one is NULL. */
extern const struct tier_policy tier_policies[];
#define TIER_POLICY_NAMES " dally tiresias-net gandiva-net srtf-net las-net goodput"
const struct tier_policy *tier_policy_find(const char *name);	/* NULL: no such policy */
int tier_compare(const struct tier_policy *policy, const struct tier_job *a,
		 const struct tier_job *b);

#endif
